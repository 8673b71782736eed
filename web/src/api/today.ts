import { queryOptions } from '@tanstack/react-query'
import type { Today } from '../../../src/today/index.ts'
import { request } from './client.ts'

export type { ChangeRecord, Today } from '../../../src/today/index.ts'

/** What happened overnight, for one client or all. @param timezone in which the night is meant */
export const todayQuery = (client: string, timezone: string) =>
  queryOptions({
    queryKey: ['today', client, timezone],
    queryFn: ({ signal }) =>
      request<Today>('/api/today', { query: { client_id: client === '' ? null : client, timezone }, signal }),
    // Refetch sooner while the service has not had time to compare all sites.
    refetchInterval: ({ state }) => (state.data?.changes.complete === false ? 5_000 : 60_000),
  })
