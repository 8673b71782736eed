import { queryOptions } from '@tanstack/react-query'
import type { UptimeAnswer } from '../../../src/uptime/index.ts'
import { reportsKey } from './analytics.ts'
import { request } from './client.ts'

export type { UptimeAnswer } from '../../../src/uptime/index.ts'

/** Rarely, because the current day is computed from thousands of results and changes slowly. */
const REFRESH_MS = 5 * 60_000

/** The last 90 days of a site. */
export const uptimeQuery = (siteId: string) =>
  queryOptions({
    queryKey: [...reportsKey(siteId), 'uptime'],
    queryFn: ({ signal }) => request<UptimeAnswer>(`/api/sites/${siteId}/uptime`, { signal }),
    refetchInterval: REFRESH_MS,
  })
