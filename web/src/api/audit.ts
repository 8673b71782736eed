import { infiniteQueryOptions } from '@tanstack/react-query'
import type { AuditRecord } from '../../../src/management/index.ts'
import { request } from './client.ts'

export type { AuditRecord } from '../../../src/management/index.ts'

const PAGE = 50

/** Who changed what, newest first, page after page; of one client, site or probe, or of all. */
export const auditQuery = (entity_id: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['audit', { entity_id }],
    queryFn: ({ signal, pageParam }) =>
      request<AuditRecord[]>('/api/audit', { query: { entity_id, before: pageParam, limit: PAGE }, signal }),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => (page.length < PAGE ? null : (page.at(-1)?.id ?? null)),
    // What happened on another page is to be seen on the way back.
    staleTime: 0,
  })
