export type { AnnotationRecord, SpecialDaysRecord } from '../../../src/management/index.ts'

import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type {
  AddAnnotation,
  AnnotationRecord,
  MarkSpecialDays,
  SpecialDaysRecord,
} from '../../../src/management/index.ts'
import { keepSame } from '../lib/keep-same.ts'
import { request } from './client.ts'

/** What happened at a site in a window, oldest first. @param to exclusive; both ISO 8601 */
export const annotationsQuery = (siteId: string, from: string, to: string) =>
  queryOptions({
    queryKey: ['annotations', siteId, from, to],
    queryFn: ({ signal }) =>
      request<AnnotationRecord[]>('/api/annotations', { query: { site_id: siteId, from, to }, signal }),
    // The window, and with it the key, changes every minute.
    placeholderData: keepSame((key) => key[1] === siteId),
  })

export const useAddAnnotation = () =>
  useAnnotationsChange((body: AddAnnotation) => request<AnnotationRecord>('/api/annotations', { method: 'POST', body }))

export const useDeleteAnnotation = () =>
  useAnnotationsChange((id: string) => request<undefined>(`/api/annotations/${id}`, { method: 'DELETE' }))

function useAnnotationsChange<V, T>(mutationFn: (variables: V) => Promise<T>) {
  const client = useQueryClient()
  return useMutation({ mutationFn, onSuccess: () => client.invalidateQueries({ queryKey: ['annotations'] }) })
}

/** The special days of a site, latest first. */
export const specialDaysQuery = (siteId: string) =>
  queryOptions({
    queryKey: ['special-days', siteId],
    queryFn: ({ signal }) => request<SpecialDaysRecord[]>(`/api/sites/${siteId}/special-days`, { signal }),
  })

export const useMarkSpecialDays = (siteId: string) =>
  useSpecialDaysChange(siteId, (body: MarkSpecialDays) =>
    request<SpecialDaysRecord>(`/api/sites/${siteId}/special-days`, { method: 'POST', body }),
  )

export const useUnmarkSpecialDays = (siteId: string) =>
  useSpecialDaysChange(siteId, (id: string) =>
    request<undefined>(`/api/sites/${siteId}/special-days/${id}`, { method: 'DELETE' }),
  )

function useSpecialDaysChange<V, T>(siteId: string, mutationFn: (variables: V) => Promise<T>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn,
    onSuccess: () => client.invalidateQueries({ queryKey: ['special-days', siteId] }),
  })
}
