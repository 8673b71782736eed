import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { ChannelList, DeliveryRecord, TestResult } from '../../../src/notifications/index.ts'
import { request } from './client.ts'

export type { ChannelRecord, DeliveryRecord, TestResult } from '../../../src/notifications/index.ts'

const REFRESH_MS = 15_000

/** All channels with their state. */
export const channelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: ({ signal }) => request<ChannelList>('/api/channels', { signal }),
  refetchInterval: REFRESH_MS,
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
    refetchInterval: REFRESH_MS,
  })

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
