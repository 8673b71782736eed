import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { ClientRecord, CreateClient, UpdateClient, UsageRecord } from '../../../src/management/index.ts'
import { request } from './client.ts'
import { overviewQuery } from './overview.ts'

export type { ClientRecord, CreateClient, UsageRecord } from '../../../src/management/index.ts'

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
 * Changes a client. Its plan and address affect usage and channels, and deleting it deletes its sites.
 *
 * @param goneId id of the deleted client, whose queries are removed
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
