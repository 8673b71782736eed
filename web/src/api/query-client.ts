import { MutationCache, notifyManager, QueryCache, QueryClient, type QueryFilters } from '@tanstack/react-query'
import { ApiError, UnreachableError } from './client.ts'
import { signedOut } from './session.ts'

/** Retries while the service cannot be reached or reports a temporary failure. */
const RETRIES = 2
/** Pause before a query without an answer is tried again, ms. */
const PAUSE_MS = 10_000

/** Loads that a change has overtaken: their answer may be older than it. Invalidating restarts a refetch, but not a first load. */
const overtaken = new WeakSet<object>()

/**
 * Refetches what a message reports as changed, after a refetch that is running: with a message every two seconds, a slow answer would be
 * given up each time and never arrive.
 */
export function refresh(client: QueryClient, filters: QueryFilters): void {
  for (const query of client.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' })) overtaken.add(query)
  void client.invalidateQueries(filters, { cancelRefetch: false })
}

/**
 * Keeps showing old data while a refetch runs and after one fails, unless it answers that the thing no longer exists, or that the
 * user has lost the role to see it. A 401 to any call means that the session has ended.
 */
export function createQueryClient(): QueryClient {
  // The default scheduler notifies after a timer, so a double click would send two calls before the button is disabled.
  notifyManager.setScheduler(queueMicrotask)
  const onError = (error: Error) => {
    if (error instanceof ApiError && error.code === 'unauthorized') signedOut(client, error)
  }
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onSuccess(_data, query) {
        if (overtaken.delete(query)) void client.invalidateQueries({ queryKey: query.queryKey, exact: true })
      },
      onError(error, query) {
        onError(error)
        if (!isGone(error) && !isForbidden(error)) return
        query.setState({ data: undefined })
        // Lists that still have it are loaded again when they are shown.
        void client.invalidateQueries({ refetchType: 'none' })
      },
    }),
    mutationCache: new MutationCache({
      onError(error) {
        onError(error)
        // The change may have been made, or what it is about was deleted.
        if (error instanceof UnreachableError || isGone(error)) void client.invalidateQueries()
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        gcTime: 10 * 60_000,
        retry: (failures, error) => failures < RETRIES && mayPass(error),
        // Keep trying queries that have no data yet, because their error message says that the page recovers.
        refetchInterval: ({ state: { data, error } }) =>
          data === undefined && error !== null && mayPass(error) && PAUSE_MS,
        // Send requests even when the browser believes to be offline: only the service shows whether it can be reached.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
  client.getQueryCache().subscribe((event) => {
    const { state } = event.query
    if (event.type !== 'updated' || event.action.type !== 'invalidate') return
    if (state.fetchStatus === 'fetching' && state.data === undefined) overtaken.add(event.query)
  })
  return client
}

const isGone = (error: Error): boolean => error instanceof ApiError && error.code === 'not_found'

const isForbidden = (error: Error): boolean => error instanceof ApiError && error.code === 'forbidden'

const mayPass = (error: Error): boolean =>
  error instanceof UnreachableError || (error instanceof ApiError && error.code === 'unavailable')
