import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { ChannelList, TestResult } from '../../../src/notifications/index.ts'
import { request } from './client.ts'
import { DELIVERIES_KEY } from './deliveries.ts'

export type { ChannelRecord, TestResult } from '../../../src/notifications/index.ts'

const REFRESH_MS = 15_000

/** Every way to reach people, and how each does. */
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
