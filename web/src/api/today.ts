import { queryOptions } from '@tanstack/react-query'
import type { Today } from '../../../src/today/index.ts'
import { request } from './client.ts'

export type { ChangeRecord, Today } from '../../../src/today/index.ts'

/** What a morning wants to know, of one client or of all. @param timezone whose evening it was */
export const todayQuery = (client: string, timezone: string) =>
  queryOptions({
    queryKey: ['today', client, timezone],
    queryFn: ({ signal }) =>
      request<Today>('/api/today', { query: { client_id: client === '' ? null : client, timezone }, signal }),
    // While there was no time to compare all sites, it goes on.
    refetchInterval: ({ state }) => (state.data?.changes.complete === false ? 5_000 : 60_000),
  })
