import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError, UnreachableError } from './client.ts'
import { signedOut } from './session.ts'

/** Tries after the first, while the service cannot be reached or says that it passes. */
const RETRIES = 2
/** How long what has no answer after those tries waits for the next ones, ms. */
const PAUSE_MS = 10_000

/**
 * What was shown stays shown: a refetch runs behind it, and a failing one leaves it, unless it says that there is no such thing any more. A call
 * that is answered 401 means that the session has ended, whichever call found it.
 */
export function createQueryClient(): QueryClient {
  // By default a button hears after a timer that its call is on its way: the second click of a double one would make another.
  notifyManager.setScheduler(queueMicrotask)
  const onError = (error: Error) => {
    if (error instanceof ApiError && error.code === 'unauthorized') signedOut(client)
  }
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError(error, query) {
        onError(error)
        if (error instanceof ApiError && error.code === 'not_found') query.setState({ data: undefined })
      },
    }),
    mutationCache: new MutationCache({
      onError(error) {
        onError(error)
        // It may have been done.
        if (error instanceof UnreachableError) void client.invalidateQueries()
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        gcTime: 10 * 60_000,
        retry: (failures, error) => failures < RETRIES && mayPass(error),
        // For what is asked for once: a page that says that it recovers does so.
        refetchInterval: ({ state: { data, error } }) =>
          data === undefined && error !== null && mayPass(error) && PAUSE_MS,
        // Whether the service can be reached says the service, not the browser's idea of the network.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
  return client
}

const mayPass = (error: Error): boolean =>
  error instanceof UnreachableError || (error instanceof ApiError && error.code === 'unavailable')
