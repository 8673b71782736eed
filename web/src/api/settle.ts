import type { QueryClient, QueryKey } from '@tanstack/react-query'

/** Shows the answer to a change, and gives up a load that began before it: what that answers may be older, and comes later. */
export function settle<T>(client: QueryClient, queryKey: QueryKey, data: T): void {
  void client.cancelQueries({ queryKey, exact: true })
  client.setQueryData(queryKey, data)
}
