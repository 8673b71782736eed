import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import type { IncidentSummary } from '../../api/incidents.ts'
import { overviewQuery } from '../../api/overview.ts'
import { useMayChange } from '../../api/session.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { useMutes } from '../../ui/mute/mutes.ts'
import { NoSites } from '../../ui/NoSites.tsx'
import { useSetBreadcrumbs } from '../../ui/PageHeader.tsx'
import { ClientErrorState, EmptyState } from '../../ui/States.tsx'
import { useAcknowledgingIncidents } from '../../ui/undo.tsx'
import { SavedViews } from '../../ui/views/SavedViews.tsx'
import { InboxHeader } from '../alerts/InboxHeader.tsx'
import { InboxLines, InboxSkeleton, NothingMatches } from '../alerts/InboxList.tsx'
import { type Filter, verdict } from '../alerts/inbox.ts'
import { BulkBar, InboxFoot } from '../alerts/inbox-parts.tsx'
import { type InboxFilter, useInboxActions, useInboxFilter } from '../alerts/use-inbox.ts'
import { useLiveAlerts } from '../alerts/use-live-alerts.ts'
import { IncidentRow } from './IncidentRow.tsx'
import type { IncidentRow as Row } from './rows.ts'
import { type Incidents, useIncidents } from './use-incidents.ts'

/** The list of open, acknowledged and resolved incidents. */
export function IncidentsPage() {
  useSetBreadcrumbs('Incidents')
  useLiveAlerts()
  const filter = useInboxFilter()
  const incidents = useIncidents(filter)
  const { rows, counts, directory, error } = incidents
  return (
    <>
      <InboxHeader
        what="incidents"
        title={rows === null ? 'Incidents' : verdict(counts, 'incident')}
        counts={rows === null ? null : counts}
        directory={directory}
        filter={filter}
      >
        <TextLink to="/alerts">All alerts</TextLink>
      </InboxHeader>
      <SavedViews />
      {rows !== null ? (
        <Loaded rows={rows} incidents={incidents} filter={filter} />
      ) : error !== null ? (
        <ClientErrorState error={error} client={filter.client} onShowAll={filter.showAll} onRetry={incidents.retry} />
      ) : (
        <InboxSkeleton what="incidents" />
      )}
    </>
  )
}

const UNFOLD_KEY = [['e', 'unfolds']] as const

function Loaded({ rows, incidents, filter }: { rows: readonly Row[]; incidents: Incidents; filter: InboxFilter }) {
  const mayChangeOf = useMayChange()
  const mayActOn = ({ client_id }: IncidentSummary) => mayChangeOf(client_id)
  const mutes = useMutes()
  const navigate = useNavigate()
  const acknowledging = useAcknowledgingIncidents()
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const unfold = (id: string) => {
    const next = new Set(unfolded)
    if (!next.delete(id)) next.add(id)
    setUnfolded(next)
  }
  const shown = rows.flatMap((row) => (row.kind === 'incident' ? [row.node.incident] : []))
  const { active, setActive, silencing, setSilencing, selection } = useInboxActions(shown, {
    mayActOn,
    open: ({ id }) => void navigate({ to: '/incidents/$incidentId', params: { incidentId: id } }),
    acknowledge: acknowledging.run,
    unfold,
  })

  if (rows.length === 0) {
    return filter.isNarrowed ? (
      <>
        <NothingMatches what="incident" hasOlder={incidents.hasOlder} onShowAll={filter.showAll} />
        {incidents.hasOlder && <InboxFoot what="incident" list={incidents} />}
      </>
    ) : (
      <NoIncidents filter={filter.filter} onShowAll={filter.showAll} />
    )
  }
  return (
    <>
      <BulkBar what="incident" selection={selection} acknowledging={acknowledging} />
      <InboxLines
        label="Incidents"
        rows={rows}
        active={active}
        onActive={setActive}
        draw={(row) =>
          row.kind === 'incident' && (
            <IncidentRow
              node={row.node}
              directory={incidents.directory}
              mutes={mutes}
              isSelected={selection.selected.has(row.key)}
              isUnfolded={unfolded.has(row.key)}
              mayChange={mayActOn(row.node.incident)}
              acknowledge={({ id }) => acknowledging.run([id])}
              select={selection.toggle}
              silencing={silencing}
              setSilencing={setSilencing}
              unfold={unfold}
            />
          )
        }
      />
      <InboxFoot what="incident" list={incidents} more={UNFOLD_KEY} />
    </>
  )
}

const EMPTY: Readonly<Record<Filter, readonly [title: string, text: string]>> = {
  all: [
    'Nothing has gone wrong yet',
    'Alerts of one cause are one incident, which ends with the last of them. Without probes there are no alerts.',
  ],
  open: ['No incident is open', 'Nothing needs attention. New incidents appear here automatically.'],
  acknowledged: [
    'No incident is acknowledged',
    'Acknowledging an incident says that someone is working on it and stops reminders about all of its alerts.',
  ],
  resolved: ['No incident is resolved yet', 'Resolved incidents stay here with their full history.'],
}

function NoIncidents({ filter, onShowAll }: { filter: Filter; onShowAll: () => void }) {
  const { data: overview } = useQuery(overviewQuery)
  const [title, text] = EMPTY[filter]
  if (overview?.totals.sites === 0) {
    return (
      <NoSites title="No site is watched">An incident opens when a probe finds something wrong with a site.</NoSites>
    )
  }
  return (
    <EmptyState
      icon={CircleCheck}
      title={title}
      action={
        filter === 'all' ? (
          <Button component={Link} to="/overview" variant="default">
            Go to the overview
          </Button>
        ) : (
          <Button variant="default" onClick={onShowAll}>
            Show all incidents
          </Button>
        )
      }
    >
      {text}
    </EmptyState>
  )
}
