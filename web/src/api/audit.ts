import { infiniteQueryOptions } from '@tanstack/react-query'
import type { AuditRecord } from '../../../src/management/index.ts'
import { request } from './client.ts'

export type { AuditRecord } from '../../../src/management/index.ts'

const PAGE = 50

/** Narrows the log; an absent field does not. Times are ISO 8601. */
export interface AuditFilter {
  /** Entries about one client, site or probe. */
  entity_id?: string
  /** Entries about a client and everything that belongs to it. */
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
    // Always refetch on returning from a page where something may have been changed.
    staleTime: 0,
  })
