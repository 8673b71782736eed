import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { AlertRecord } from '../../api/alerts.ts'
import { useMayChange, useSession } from '../../api/session.ts'
import { useSetUrlState } from '../../lib/use-url-state.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { useMutes } from '../../ui/mute/mutes.ts'
import { useSetBreadcrumbs } from '../../ui/PageHeader.tsx'
import { ErrorState } from '../../ui/States.tsx'
import { useAcknowledging } from '../../ui/undo.tsx'
import { SavedViews } from '../../ui/views/SavedViews.tsx'
import classes from './alerts.module.css'
import { InboxHeader } from './InboxHeader.tsx'
import { InboxList, InboxSkeleton, NoAlerts, NothingMatches } from './InboxList.tsx'
import { type InboxRow, verdict } from './inbox.ts'
import { BulkBar, KeyHelp } from './inbox-parts.tsx'
import { type Inbox, type InboxFilter, useInbox, useInboxFilter, useInboxKeys, useSelection } from './use-inbox.ts'
import { useLiveAlerts } from './use-live-alerts.ts'

/** The page above this one. */
const INCIDENTS = [{ label: 'Incidents', to: '/incidents' }]

/** What is wrong, what someone takes care of, and what is over. */
export function AlertsPage() {
  useSetBreadcrumbs('Alerts', INCIDENTS)
  useLiveAlerts()
  const filter = useInboxFilter()
  const inbox = useInbox(filter)
  return (
    <>
      <InboxHeader
        what="alerts"
        title={inbox.rows === null ? 'Alerts' : verdict(inbox.counts, 'alert')}
        counts={inbox.counts}
        directory={inbox.directory}
        filter={filter}
      >
        <TextLink to="/incidents">Incidents</TextLink>
      </InboxHeader>
      <SavedViews />
      {inbox.rows !== null ? (
        <Loaded rows={inbox.rows} inbox={inbox} filter={filter} />
      ) : inbox.error !== null ? (
        <ErrorState error={inbox.error} onRetry={inbox.retry} />
      ) : (
        <InboxSkeleton what="alerts" />
      )}
    </>
  )
}

function Loaded({ rows, inbox, filter }: { rows: readonly InboxRow[]; inbox: Inbox; filter: InboxFilter }) {
  const { mayChange } = useSession()
  const mayChangeOf = useMayChange()
  const mayActOn = ({ site_id }: AlertRecord) => mayChangeOf(inbox.directory.sites[site_id]?.client_id)
  const mutes = useMutes()
  const navigate = useNavigate()
  const acknowledging = useAcknowledging()
  const [active, setActive] = useState<string | null>(null)
  const [silencing, setSilencing] = useState<string | null>(null)
  const set = useSetUrlState()

  const alerts = rows.flatMap((row) => (row.kind === 'alert' ? [row.alert] : []))
  const selection = useSelection(alerts.filter(mayActOn))
  const index = alerts.findIndex(({ id }) => id === active)
  const current = alerts[index]
  const move = (step: number) => setActive(alerts[Math.max(0, Math.min(alerts.length - 1, index + step))]?.id ?? null)
  const change = (act: (alert: AlertRecord) => void) => () => {
    if (current !== undefined && mayActOn(current)) act(current)
  }
  useInboxKeys(
    {
      down: () => move(1),
      up: () => move(index === -1 ? 1 : -1),
      open: () => {
        if (current !== undefined) void navigate({ to: '/alerts/$alertId', params: { alertId: current.id } })
      },
      acknowledge: change((alert) => {
        if (alert.state === 'open') acknowledging.run([alert.id])
      }),
      silence: change((alert) => {
        if (alert.state !== 'resolved') setSilencing(alert.id)
      }),
      select: change(selection.toggle),
    },
    () => document.activeElement?.closest('[data-index]') != null,
  )

  if (rows.length === 0) {
    const isNarrowed = filter.text !== '' || filter.client !== '' || filter.site !== '' || filter.severity !== 'all'
    const showAll = () =>
      set({ state: undefined, q: undefined, client: undefined, site: undefined, severity: undefined })
    return isNarrowed ? (
      <NothingMatches what="alert" onShowAll={showAll} />
    ) : (
      <NoAlerts filter={filter.filter} onShowAll={showAll} />
    )
  }
  return (
    <>
      <BulkBar
        what="alert"
        selected={selection.selected.size}
        open={selection.openCount}
        isBusy={acknowledging.isBusy}
        onAcknowledge={() => acknowledging.run([...selection.selected])}
        onAll={selection.all}
        onClear={selection.clear}
      />
      <InboxList
        rows={rows}
        directory={inbox.directory}
        mutes={mutes}
        selected={selection.selected}
        active={active}
        onActive={setActive}
        acknowledge={({ id }) => acknowledging.run([id])}
        select={selection.toggle}
        silencing={silencing}
        setSilencing={setSilencing}
      />
      <footer className={classes.foot}>
        {inbox.hasOlder && (
          <Button variant="default" loading={inbox.isShowingOlder} onClick={inbox.showOlder}>
            Show older alerts
          </Button>
        )}
        <KeyHelp mayChange={mayChange} />
      </footer>
    </>
  )
}
