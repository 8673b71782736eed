import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo } from 'react'
import { type AlertFilter, alertsQuery, resolvedAlertsQuery } from '../../api/alerts.ts'
import { type Directory, useDirectory } from '../../lib/use-directory.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { type Counts, countsOf, FILTERS, type Filter, type InboxRow, inboxRows } from './inbox.ts'
import { POLL_MS } from './use-live-alerts.ts'

/** As many as one answer holds; more open alerts than that no one reads one by one. */
const UNRESOLVED_MOST = 1_000
const RESOLVED_PAGE = 50
const SEVERITIES = ['all', 'critical', 'warning'] as const

/** What the address asks for. */
export function useInboxFilter() {
  const [filter, setFilter] = useUrlState<Filter>('state', 'all', FILTERS, { push: true })
  const [client] = useUrlState('client', '')
  const [site] = useUrlState('site', '')
  const [severity, setSeverity] = useUrlState<(typeof SEVERITIES)[number]>('severity', 'all', SEVERITIES)
  const [text, setText] = useUrlState('q', '')
  return { filter, setFilter, client, site, severity, setSeverity, text, setText }
}
export type InboxFilter = ReturnType<typeof useInboxFilter>

export interface Inbox {
  /** Null while loading. */
  rows: InboxRow[] | null
  counts: Counts
  /** More resolved alerts than were read. */
  hasOlder: boolean
  showOlder: () => void
  isShowingOlder: boolean
  error: Error | null
  retry: () => void
  directory: Directory
}

export function useInbox({ filter, client, site, severity, text }: InboxFilter): Inbox {
  const directory = useDirectory()
  const sought = useDeferredValue(text)
  const asked: AlertFilter = {
    ...(client === '' ? {} : { client_id: client }),
    ...(site === '' ? {} : { site_id: site }),
    ...(severity === 'all' ? {} : { severity }),
  }
  const live = { refetchInterval: POLL_MS, placeholderData: keepPreviousData }
  const unresolved = useQuery({ ...alertsQuery({ ...asked, resolved: false, limit: UNRESOLVED_MOST }), ...live })
  const resolved = useInfiniteQuery({ ...resolvedAlertsQuery(asked, RESOLVED_PAGE), ...live })
  const rows = useMemo(() => {
    if (unresolved.data === undefined || resolved.data === undefined) return null
    return inboxRows([...unresolved.data, ...resolved.data.pages.flat()], directory, { filter, text: sought })
  }, [unresolved.data, resolved.data, directory, filter, sought])
  return {
    rows,
    counts: countsOf(unresolved.data ?? []),
    hasOlder: resolved.hasNextPage && (filter === 'all' || filter === 'resolved'),
    showOlder: () => void resolved.fetchNextPage(),
    isShowingOlder: resolved.isFetchingNextPage,
    error: unresolved.error ?? resolved.error,
    retry: () => {
      void unresolved.refetch()
      void resolved.refetch()
    },
    directory,
  }
}
