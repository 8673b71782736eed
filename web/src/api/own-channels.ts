import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type {
  CreateOwnChannel,
  OwnChannelRecord,
  TestResult,
  UpdateOwnChannel,
} from '../../../src/notifications/index.ts'
import { request } from './client.ts'

export type { CreateOwnChannel, OwnChannelRecord, UpdateOwnChannel } from '../../../src/notifications/index.ts'

/** The channels of a client: its chat webhook and e-mail address, then the others, oldest first. */
export const ownChannelsQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['own-channels', clientId],
    queryFn: ({ signal }) => request<OwnChannelRecord[]>(`/api/clients/${clientId}/channels`, { signal }),
  })

/** Adds a channel, or changes the one with this id. */
export const useSaveOwnChannel = (clientId: string) =>
  useOwnChannelChange(clientId, ({ id, body }: { id: string | null; body: CreateOwnChannel | UpdateOwnChannel }) =>
    id === null
      ? request<OwnChannelRecord>(`/api/clients/${clientId}/channels`, { method: 'POST', body })
      : request<OwnChannelRecord>(`/api/clients/${clientId}/channels/${id}`, { method: 'PATCH', body }),
  )

export const useDeleteOwnChannel = (clientId: string) =>
  useOwnChannelChange(clientId, (id: string) =>
    request<undefined>(`/api/clients/${clientId}/channels/${id}`, { method: 'DELETE' }),
  )

/** Sends a test message over one channel. */
export const useTestOwnChannel = (clientId: string) =>
  useOwnChannelChange(clientId, (id: string) =>
    request<TestResult[]>(`/api/clients/${clientId}/channels/${id}/test`, { method: 'POST' }),
  )

function useOwnChannelChange<V, T>(clientId: string, mutationFn: (variables: V) => Promise<T>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn,
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['own-channels', clientId] }),
        client.invalidateQueries({ queryKey: ['channels'] }),
        // Two of the channels are fields of the client.
        client.invalidateQueries({ queryKey: ['clients'] }),
      ]),
  })
}
