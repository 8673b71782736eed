import { Button, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { BellOff, CalendarPlus } from 'lucide-react'
import { useMemo } from 'react'
import { silencesQuery } from '../../api/alerts.ts'
import { maintenanceQuery } from '../../api/maintenance.ts'
import { useMayChange, useSession } from '../../api/session.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { useStaysOpen } from '../../lib/use-may-open.ts'
import { useUrlDialog } from '../../lib/use-url-dialog.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { ownZone } from '../../lib/zone.ts'
import type { Scope } from '../../ui/mute/mutes.ts'
import { SilenceDialog } from '../../ui/mute/SilenceMenu.tsx'
import { aboveOf } from '../../ui/mute/scope.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { SiteSelect } from '../../ui/SiteSelect.tsx'
import { ErrorState } from '../../ui/States.tsx'
import { Calendar } from './Calendar.tsx'
import { EntryList } from './EntryList.tsx'
import { concerns, type Entry, entriesOf, stateOf } from './entries.ts'
import { MaintenanceDialog } from './MaintenanceDialog.tsx'
import classes from './maintenance.module.css'

const NOWHERE: Scope = { client_id: null, site_id: null, probe_id: null }

/** Silences and maintenance: current, planned and past, and who planned them. */
export function MaintenancePage() {
  const silences = useQuery(silencesQuery(false))
  const maintenance = useQuery(maintenanceQuery(false))
  const entries = useMemo(
    () =>
      silences.data === undefined || maintenance.data === undefined ? null : entriesOf(silences.data, maintenance.data),
    [silences.data, maintenance.data],
  )
  const { mayChange } = useSession()
  const [, openDialog] = useUrlDialog()
  const error = silences.error ?? maintenance.error
  return (
    <>
      <PageHeader
        title="Maintenance"
        actions={
          mayChange && (
            <>
              <Button
                variant="default"
                leftSection={<BellOff size={16} aria-hidden />}
                onClick={() => openDialog('silence')}
              >
                Silence
              </Button>
              <Button leftSection={<CalendarPlus size={16} aria-hidden />} onClick={() => openDialog('new')}>
                Plan maintenance
              </Button>
            </>
          )
        }
      >
        Probes keep running and alerts still open, but no notifications are sent. At the end you are notified of what
        still fails and, after maintenance, also of what you knew about that has been resolved.
      </PageHeader>
      {entries !== null ? (
        <Loaded entries={entries} mayChange={mayChange} />
      ) : error !== null ? (
        <ErrorState
          error={error}
          onRetry={() => {
            void silences.refetch()
            void maintenance.refetch()
          }}
        />
      ) : (
        <Stack gap="lg" aria-busy="true">
          <Skeleton height={130} radius="md" />
          <Skeleton height={200} radius="md" />
          <Skeleton height={160} radius="md" />
        </Stack>
      )}
    </>
  )
}

function Loaded({ entries: all, mayChange }: { entries: readonly Entry[]; mayChange: boolean }) {
  const directory = useDirectory()
  const [client] = useUrlState('client', '')
  const [site] = useUrlState('site', '')
  const [past, setPast] = useUrlState('past', 'hidden', ['hidden', 'shown'])
  const [dialog, openDialog, close] = useUrlDialog()
  const entries = all.filter((entry) => concerns(entry, directory, client, site))
  const inState = (state: string) => entries.filter((entry) => stateOf(entry) === state)
  const over = inState('over')
  const mayChangeOf = useMayChange()
  const maySet = (scope: Scope) => mayChangeOf(aboveOf(scope, directory).clientId ?? undefined)
  const list = { directory, mayChange: ({ record }: Entry) => maySet(record), onEdit: openDialog }
  const looked = {
    client_id: site === '' && client !== '' ? client : null,
    site_id: site === '' ? null : site,
    probe_id: null,
  }
  const scope = maySet(looked) ? looked : NOWHERE
  const edited = all.find(({ kind, record }) => kind === 'maintenance' && record.id === dialog)
  const record = edited?.kind === 'maintenance' ? edited.record : null
  const isOpen = useStaysOpen(dialog, dialog === '' || (record === null ? mayChange : maySet(record)))
  return (
    <Stack gap="lg">
      <SiteSelect directory={directory} client={client} site={site} className={classes.place} />
      <EntryList title="Muted now" entries={inState('now')} {...list}>
        No silence and no maintenance is in effect.
      </EntryList>
      <Calendar entries={entries} directory={directory} zone={directory.sites[site]?.timezone ?? ownZone()} />
      <EntryList title="Planned" entries={inState('planned')} {...list}>
        Nothing is planned.{mayChange && ' Plan maintenance here, and a release or a move wakes no one.'}
      </EntryList>
      {past === 'shown' ? (
        <EntryList title="Over or suspended" entries={over} {...list}>
          Nothing is over yet.
        </EntryList>
      ) : (
        over.length > 0 && (
          <Button variant="default" className={classes.more} onClick={() => setPast('shown')}>
            Show {over.length} over or suspended
          </Button>
        )
      )}
      <SilenceDialog opened={isOpen && dialog === 'silence'} onClose={close} scope={scope} />
      <MaintenanceDialog
        opened={isOpen && (dialog === 'new' || record !== null)}
        onClose={close}
        record={record}
        scope={scope}
      />
    </Stack>
  )
}
