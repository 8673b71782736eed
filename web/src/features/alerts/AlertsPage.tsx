import { useNavigate } from '@tanstack/react-router'
import { useMayChange } from '../../api/session.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { useMutes } from '../../ui/mute/mutes.ts'
import { useSetBreadcrumbs } from '../../ui/PageHeader.tsx'
import { ClientErrorState } from '../../ui/States.tsx'
import { useAcknowledging } from '../../ui/undo.tsx'
import { SavedViews } from '../../ui/views/SavedViews.tsx'
import { InboxHeader } from './InboxHeader.tsx'
import { InboxList, InboxSkeleton, NoAlerts, NothingMatches } from './InboxList.tsx'
import { type InboxRow, verdict } from './inbox.ts'
import { BulkBar, InboxFoot } from './inbox-parts.tsx'
import { type Inbox, type InboxFilter, useInbox, useInboxActions, useInboxFilter } from './use-inbox.ts'
import { useLiveAlerts } from './use-live-alerts.ts'

/** The page above this one. */
const INCIDENTS = [{ label: 'Incidents', to: '/incidents' }]

/** The list of open, acknowledged and resolved alerts. */
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
        counts={inbox.rows === null ? null : inbox.counts}
        directory={inbox.directory}
        filter={filter}
      >
        <TextLink to="/incidents">Incidents</TextLink>
      </InboxHeader>
      <SavedViews />
      {inbox.rows !== null ? (
        <Loaded rows={inbox.rows} inbox={inbox} filter={filter} />
      ) : inbox.error !== null ? (
        <ClientErrorState error={inbox.error} client={filter.client} onShowAll={filter.showAll} onRetry={inbox.retry} />
      ) : (
        <InboxSkeleton what="alerts" />
      )}
    </>
  )
}

function Loaded({ rows, inbox, filter }: { rows: readonly InboxRow[]; inbox: Inbox; filter: InboxFilter }) {
  const mayChangeOf = useMayChange()
  const mutes = useMutes()
  const navigate = useNavigate()
  const acknowledging = useAcknowledging()
  const alerts = rows.flatMap((row) => (row.kind === 'alert' ? [row.alert] : []))
  const { active, setActive, silencing, setSilencing, selection } = useInboxActions(alerts, {
    mayActOn: ({ client_id }) => mayChangeOf(client_id),
    open: ({ id }) => void navigate({ to: '/alerts/$alertId', params: { alertId: id } }),
    acknowledge: acknowledging.run,
  })

  if (rows.length === 0) {
    return filter.isNarrowed ? (
      <>
        <NothingMatches what="alert" hasOlder={inbox.hasOlder} onShowAll={filter.showAll} />
        {inbox.hasOlder && <InboxFoot what="alert" list={inbox} />}
      </>
    ) : (
      <NoAlerts filter={filter.filter} onShowAll={filter.showAll} />
    )
  }
  return (
    <>
      <BulkBar what="alert" selection={selection} acknowledging={acknowledging} />
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
      <InboxFoot what="alert" list={inbox} />
    </>
  )
}
