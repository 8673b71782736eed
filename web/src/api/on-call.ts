import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { AddOverride, OnCallRecord, OverrideRecord, SetOnCall } from '../../../src/notifications/index.ts'
import { request } from './client.ts'

export type { OnCallRecord, SetOnCall } from '../../../src/notifications/index.ts'

/** Refetch regularly, because handovers happen automatically. */
const REFRESH_MS = 60_000

/** A client's rotation, and who is on call. */
export const onCallQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['on-call', clientId],
    queryFn: ({ signal }) => request<OnCallRecord>(`/api/clients/${clientId}/on-call`, { signal }),
    refetchInterval: REFRESH_MS,
  })

export const useSetOnCall = (clientId: string) =>
  useOnCallChange(clientId, (body: SetOnCall) =>
    request<OnCallRecord>(`/api/clients/${clientId}/on-call`, { method: 'POST', body }),
  )

export const useRemoveOnCall = (clientId: string) =>
  useOnCallChange(clientId, () => request<undefined>(`/api/clients/${clientId}/on-call`, { method: 'DELETE' }))

export const useAddOverride = (clientId: string) =>
  useOnCallChange(clientId, (body: AddOverride) =>
    request<OverrideRecord>(`/api/clients/${clientId}/on-call/overrides`, { method: 'POST', body }),
  )

export const useDeleteOverride = (clientId: string) =>
  useOnCallChange(clientId, (id: string) =>
    request<undefined>(`/api/clients/${clientId}/on-call/overrides/${id}`, { method: 'DELETE' }),
  )

function useOnCallChange<V, T>(clientId: string, mutationFn: (variables: V) => Promise<T>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn,
    // Also refetch after an error: someone else may have deleted it.
    onSettled: () => client.invalidateQueries({ queryKey: ['on-call', clientId] }),
  })
}
