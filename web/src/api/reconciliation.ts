import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { AddedRecord, ReconciliationAnswer, ReferenceRecord } from '../../../src/reconciliation/index.ts'
import { reportsKey } from './analytics.ts'
import { request } from './client.ts'

export type { AddedRecord, ReconciliationAnswer, ReferenceRecord } from '../../../src/reconciliation/index.ts'

/** Sources count by the hour, so refetching every 10 minutes is enough. */
const REFRESH_MS = 10 * 60_000

const referencesKey = (siteId: string) => [...reportsKey(siteId), 'references'] as const

/** What others counted of a site's events, by source and event. */
export const referencesQuery = (siteId: string) =>
  queryOptions({
    queryKey: [...referencesKey(siteId), 'list'],
    queryFn: ({ signal }) => request<ReferenceRecord[]>(`/api/sites/${siteId}/reference-counts`, { signal }),
    refetchInterval: REFRESH_MS,
  })

/** Our counts of an event compared with those of a source, by day. */
export const reconciliationQuery = (siteId: string, { source, event }: Pick<ReferenceRecord, 'source' | 'event'>) =>
  queryOptions({
    queryKey: [...referencesKey(siteId), { source, event }],
    queryFn: ({ signal }) =>
      request<ReconciliationAnswer>(`/api/sites/${siteId}/reconciliation`, { query: { source, event }, signal }),
    refetchInterval: REFRESH_MS,
  })

interface CsvFile {
  file: Blob
  /** The source of all rows when the file has no such column, else empty. */
  source: string
}

export function useUploadReferences(siteId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ file, source }: CsvFile) =>
      request<AddedRecord[]>(`/api/sites/${siteId}/reference-counts`, {
        method: 'POST',
        csv: await file.text(),
        query: { source: source === '' ? undefined : source },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: referencesKey(siteId) }),
  })
}

export function useDeleteSource(siteId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (source: string) =>
      request<undefined>(`/api/sites/${siteId}/reference-counts/${encodeURIComponent(source)}`, { method: 'DELETE' }),
    // Also refetch after an error: someone else may have deleted it.
    onSettled: () => client.invalidateQueries({ queryKey: referencesKey(siteId) }),
  })
}
