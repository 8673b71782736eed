import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo } from 'react'
import { alertsQuery } from '../../api/alerts.ts'
import {
  type IncidentFilter,
  resolvedIncidentsQuery,
  UNRESOLVED_MOST,
  unresolvedIncidentsQuery,
} from '../../api/incidents.ts'
import { keepSame } from '../../lib/keep-same.ts'
import { useDirectoryWith } from '../../lib/paused-sites.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { type Counts, countsOf } from '../alerts/inbox.ts'
import { type InboxFilter, isSamePlace } from '../alerts/use-inbox.ts'
import { POLL_MS } from '../alerts/use-live-alerts.ts'
import { type IncidentRow, incidentNodes, incidentRows } from './rows.ts'

const RESOLVED_PAGE = 50
/** Maximum number of alerts in all incidents; no one reads more one by one. */
const ALERTS_MOST = 1_000

export interface Incidents {
  /** Null while loading. */
  rows: IncidentRow[] | null
  counts: Counts
  /** More resolved incidents than were read. */
  hasOlder: boolean
  showOlder: () => void
  isShowingOlder: boolean
  error: Error | null
  retry: () => void
  directory: Directory
}

export function useIncidents({ filter, client, site, severity, text }: InboxFilter): Incidents {
  const sought = useDeferredValue(text)
  const where = {
    ...(client === '' ? {} : { client_id: client }),
    ...(site === '' ? {} : { site_id: site }),
  }
  const asked: IncidentFilter = { ...where, ...(severity === 'all' ? {} : { severity }) }
  const live = { refetchInterval: POLL_MS, placeholderData: keepSame(isSamePlace(client, site)) }
  const unresolved = useQuery({ ...unresolvedIncidentsQuery(asked), ...live })
  const resolved = useInfiniteQuery({ ...resolvedIncidentsQuery(asked, RESOLVED_PAGE), ...live })
  // Alerts of any severity, because a critical incident has warnings, too.
  const alerts = useQuery({ ...alertsQuery({ ...where, resolved: false, limit: ALERTS_MOST }), ...live })
  const nodes = useMemo(() => {
    if (unresolved.data === undefined || resolved.data === undefined || alerts.data === undefined) return null
    return incidentNodes([...unresolved.data, ...resolved.data.pages.flat()], alerts.data)
  }, [unresolved.data, resolved.data, alerts.data])
  const directory = useDirectoryWith((nodes ?? []).map(({ incident }) => incident.site_id))
  const rows = useMemo(
    () => (nodes === null ? null : incidentRows(nodes, directory, { filter, text: sought })),
    [nodes, directory, filter, sought],
  )
  return {
    rows,
    counts: countsOf(
      (nodes ?? []).map(({ incident }) => incident),
      (unresolved.data?.length ?? 0) < UNRESOLVED_MOST,
    ),
    hasOlder: resolved.hasNextPage && (filter === 'all' || filter === 'resolved'),
    showOlder: () => void resolved.fetchNextPage(),
    isShowingOlder: resolved.isFetchingNextPage,
    error: unresolved.error ?? resolved.error ?? alerts.error,
    retry: () => {
      void unresolved.refetch()
      void resolved.refetch()
      void alerts.refetch()
    },
    directory,
  }
}
