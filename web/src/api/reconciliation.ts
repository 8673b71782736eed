import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { AddedRecord, ReconciliationAnswer, ReferenceRecord } from '../../../src/reconciliation/index.ts'
import { reportsKey } from './analytics.ts'
import { request } from './client.ts'

export type { AddedRecord, ReconciliationAnswer, ReferenceRecord } from '../../../src/reconciliation/index.ts'

/** A source counts by the hour. */
const REFRESH_MS = 10 * 60_000

const referencesKey = (siteId: string) => [...reportsKey(siteId), 'references'] as const

/** What others counted of a site's events, by source and event. */
export const referencesQuery = (siteId: string) =>
  queryOptions({
    queryKey: [...referencesKey(siteId), 'list'],
    queryFn: ({ signal }) => request<ReferenceRecord[]>(`/api/sites/${siteId}/reference-counts`, { signal }),
    refetchInterval: REFRESH_MS,
  })

/** Our counts of an event against those of a source, by day. */
export const reconciliationQuery = (siteId: string, { source, event }: Pick<ReferenceRecord, 'source' | 'event'>) =>
  queryOptions({
    queryKey: [...referencesKey(siteId), { source, event }],
    queryFn: ({ signal }) =>
      request<ReconciliationAnswer>(`/api/sites/${siteId}/reconciliation`, { query: { source, event }, signal }),
    refetchInterval: REFRESH_MS,
  })

interface CsvFile {
  file: Blob
  /** Of all its rows, where it is no column; empty where it is. */
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
    // Also after a refusal: someone else may have deleted it.
    onSettled: () => client.invalidateQueries({ queryKey: referencesKey(siteId) }),
  })
}
