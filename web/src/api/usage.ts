import { queryOptions } from '@tanstack/react-query'
import type { UsageRecord } from '../../../src/management/index.ts'
import { request } from './client.ts'

export type { UsageRecord } from '../../../src/management/index.ts'

const REFRESH_MS = 60_000

/** What a client has sent this month, against its plan. */
export const usageQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['usage', clientId],
    queryFn: ({ signal }) => request<UsageRecord>(`/api/clients/${clientId}/usage`, { signal }),
    refetchInterval: REFRESH_MS,
  })
