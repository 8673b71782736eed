import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { MarkSpecialDays, SpecialDaysRecord } from '../../../src/management/index.ts'
import { request } from './client.ts'

export type { SpecialDaysRecord } from '../../../src/management/index.ts'

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
