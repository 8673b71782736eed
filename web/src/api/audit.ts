import { infiniteQueryOptions } from '@tanstack/react-query'
import type { AuditRecord } from '../../../src/management/index.ts'
import { request } from './client.ts'

export type { AuditRecord } from '../../../src/management/index.ts'

const PAGE = 50

/** What of the log is shown; without a field, of all. Times are ISO. */
export interface AuditFilter {
  /** Of one client, site or probe. */
  entity_id?: string
  /** Of all that is of a client. */
  client_id?: string
  actor?: string
  from?: string
}

/** The same entries as a file. */
export const auditCsvUrl = (filter: AuditFilter): string =>
  `/api/audit/export.csv?${new URLSearchParams(Object.entries(filter))}`

/** Who changed what, newest first, page after page. */
export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    queryFn: ({ signal, pageParam }) =>
      request<AuditRecord[]>('/api/audit', { query: { ...filter, before: pageParam, limit: PAGE }, signal }),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => (page.length < PAGE ? null : (page.at(-1)?.id ?? null)),
    // What happened on another page is to be seen on the way back.
    staleTime: 0,
  })
