import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { ClientRecord, CreateClient, UpdateClient, UsageRecord } from '../../../src/management/index.ts'
import { request } from './client.ts'
import { overviewQuery } from './overview.ts'

export type { ClientRecord, CreateClient, UpdateClient, UsageRecord } from '../../../src/management/index.ts'

export const clientsQuery = queryOptions({
  queryKey: ['clients'],
  queryFn: ({ signal }) => request<ClientRecord[]>('/api/clients', { signal }),
})

export const clientQuery = (id: string) =>
  queryOptions({
    queryKey: ['clients', id],
    queryFn: ({ signal }) => request<ClientRecord>(`/api/clients/${id}`, { signal }),
  })

export const useCreateClient = () =>
  useClientChange((body: CreateClient) => request<ClientRecord>('/api/clients', { method: 'POST', body }))

export const useUpdateClient = (id: string) =>
  useClientChange((body: UpdateClient) => request<ClientRecord>(`/api/clients/${id}`, { method: 'PATCH', body }))

export const useDeleteClient = (id: string) =>
  useClientChange(() => request<undefined>(`/api/clients/${id}`, { method: 'DELETE' }), id)

/**
 * A client's plan and address change usage and channels as well, and its sites go with it.
 *
 * @param goneId what cannot be asked for any more
 */
function useClientChange<V, T>(mutationFn: (variables: V) => Promise<T>, goneId?: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn,
    onSuccess: () =>
      Promise.all(
        [
          clientsQuery.queryKey,
          overviewQuery.queryKey,
          ['sites'],
          ['probes'],
          ['usage'],
          ['channels'],
          ['own-channels'],
        ].map((queryKey) =>
          client.invalidateQueries({ queryKey, predicate: (query) => !query.queryKey.includes(goneId) }),
        ),
      ),
  })
}

const REFRESH_MS = 60_000

/** What a client has sent this month, against its plan. */
export const usageQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['usage', clientId],
    queryFn: ({ signal }) => request<UsageRecord>(`/api/clients/${clientId}/usage`, { signal }),
    refetchInterval: REFRESH_MS,
  })
