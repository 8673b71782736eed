import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { SavedViewRecord, SaveView } from '../../../src/management/index.ts'
import { request } from './client.ts'

export type { SavedViewRecord } from '../../../src/management/index.ts'

/** Saved views, shared by everyone. */
export const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: ({ signal }) => request<SavedViewRecord[]>('/api/views', { signal }),
})

export function useSaveView() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: SaveView) => request<SavedViewRecord>('/api/views', { method: 'POST', body }),
    onSuccess: () => client.invalidateQueries({ queryKey: viewsQuery.queryKey }),
  })
}

export function useDeleteView() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => request<undefined>(`/api/views/${id}`, { method: 'DELETE' }),
    // Also refetch after an error: someone else may have deleted it.
    onSettled: () => client.invalidateQueries({ queryKey: viewsQuery.queryKey }),
  })
}
