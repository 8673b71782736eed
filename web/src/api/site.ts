import { queryOptions } from '@tanstack/react-query'
import type { SiteRecord } from '../../../src/management/index.ts'
import { request } from './client.ts'

export type { SiteRecord } from '../../../src/management/index.ts'

const REFRESH_MS = 60_000

export const siteQuery = (id: string) =>
  queryOptions({
    queryKey: ['site', id],
    queryFn: ({ signal }) => request<SiteRecord>(`/api/sites/${id}`, { signal }),
    refetchInterval: REFRESH_MS,
  })
