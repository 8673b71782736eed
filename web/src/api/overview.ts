import { queryOptions } from '@tanstack/react-query'
import type { Overview } from '../../../src/dashboard/index.ts'
import { request } from './client.ts'

export type { ClientState, Overview, SiteState, Status } from '../../../src/dashboard/index.ts'

/**
 * Clients, sites and their states. The stream reports changes; it is refetched every minute all the same, also in the background, for
 * the tab's title and icon.
 */
export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => request<Overview>('/api/dashboard/overview', { signal }),
  refetchInterval: 60_000,
  refetchIntervalInBackground: true,
})

/** Whether a client has working notifications: the overview lists the active clients without. */
export const isReached = ({ clients_without_channel }: Overview, clientId: string): boolean =>
  !clients_without_channel.some(({ id }) => id === clientId)
