import { queryOptions } from '@tanstack/react-query'
import type { NodeRecord, ServiceSettings } from '../../../src/operations/index.ts'
import { request } from './client.ts'

export type { NodeRecord, ServiceSettings } from '../../../src/operations/index.ts'

const REFRESH_MS = 15_000

/** The settings of the service; of secrets only whether they are set. */
export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => request<ServiceSettings>('/api/settings', { signal }),
})

/** The processes that share the database. */
export const nodesQuery = queryOptions({
  queryKey: ['nodes'],
  queryFn: ({ signal }) => request<NodeRecord[]>('/api/nodes', { signal }),
  refetchInterval: REFRESH_MS,
})
