import { queryOptions } from '@tanstack/react-query'
import type { Overview } from '../../../src/dashboard/index.ts'
import { request } from './client.ts'

export type { ClientState, Overview, SiteState, Status } from '../../../src/dashboard/index.ts'

/**
 * Clients, sites and their states. The stream says when it changes; once a minute it is asked for all the same, also for the title and the icon of
 * a tab in the background.
 */
export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => request<Overview>('/api/dashboard/overview', { signal }),
  refetchInterval: 60_000,
  refetchIntervalInBackground: true,
})

/** Whether a client has working notifications: of the active ones the overview names those without. */
export const isReached = ({ clients_without_channel }: Overview, clientId: string): boolean =>
  !clients_without_channel.some(({ id }) => id === clientId)
