export type {
  ChannelRecord,
  CreateOwnChannel,
  DeliveryRecord,
  OwnChannelRecord,
  TestResult,
  UpdateOwnChannel,
} from '../../../src/notifications/index.ts'

import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type {
  ChannelList,
  CreateOwnChannel,
  DeliveryRecord,
  OwnChannelRecord,
  TestResult,
  UpdateOwnChannel,
} from '../../../src/notifications/index.ts'
import { request } from './client.ts'

const REFRESH_MS = 15_000

/** All channels with their state. */
export const channelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: ({ signal }) => request<ChannelList>('/api/channels', { signal }),
  refetchInterval: REFRESH_MS,
  // A message may have been sent since the page was last open, and the list of messages says so sooner.
  staleTime: 0,
})

/** Sends a test message over all channels of a client, and returns the outcome of each. */
export function useTestChannels() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (clientId: string) =>
      request<TestResult[]>(`/api/clients/${clientId}/test-notification`, { method: 'POST' }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: channelsQuery.queryKey }),
        client.invalidateQueries({ queryKey: DELIVERIES_KEY }),
      ]),
  })
}

const PAGE = 100

const DELIVERIES_KEY = ['deliveries'] as const

/** The query parameters, named as in the API. */
interface DeliveryFilter {
  client_id?: string
  state?: DeliveryRecord['state']
}

/** What was sent, what was not and why, newest first, page after page. */
export const deliveriesQuery = (filter: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: [...DELIVERIES_KEY, filter],
    queryFn: ({ signal, pageParam }) =>
      request<DeliveryRecord[]>('/api/deliveries', { query: { ...filter, before: pageParam, limit: PAGE }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page.length < PAGE ? null : (page.at(-1)?.id ?? null)),
    refetchInterval: ({ state: { data } }) => refreshAfter(data?.pages.flat() ?? [], Date.now()),
  })

/** How long a message that is due is watched, ms: one of a channel that is off stays due for good. */
const WATCHED_MS = 20_000
const SOON_MS = 2_000

/** How soon messages are read again, ms: sooner while one is on its way, as after "Send now". */
export function refreshAfter(messages: readonly Pick<DeliveryRecord, 'state' | 'not_before'>[], now: number): number {
  const isOnItsWay = messages.some(
    ({ state, not_before }) => state === 'pending' && Math.abs(now - Date.parse(not_before)) < WATCHED_MS,
  )
  return isOnItsWay ? SOON_MS : REFRESH_MS
}

/** Sends a failed or waiting message now. */
export function useRetryDelivery() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => request<DeliveryRecord>(`/api/deliveries/${id}/retry`, { method: 'POST' }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: DELIVERIES_KEY }),
        client.invalidateQueries({ queryKey: ['channels'] }),
      ]),
  })
}

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
