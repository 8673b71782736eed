import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { StatusLinkRecord } from '../../../src/management/index.ts'
import type { StatusPage } from '../../../src/sharing/index.ts'
import { ApiError, request } from './client.ts'

export type { StatusLinkRecord } from '../../../src/management/index.ts'
export type { SharedSite, StatusPage } from '../../../src/sharing/index.ts'

export const STATUS_PAGE_REFRESH_MS = 30_000

/** A shared status page; its token is all that is needed. There is no stream for those who are not signed in. */
export const statusPageQuery = (token: string) =>
  queryOptions({
    queryKey: ['status-page', token],
    queryFn: ({ signal }) => request<StatusPage>(`/api/status/${encodeURIComponent(token)}`, { signal }),
    // A link that was revoked stays so.
    refetchInterval: ({ state: { error } }) =>
      error instanceof ApiError && error.code === 'not_found' ? false : STATUS_PAGE_REFRESH_MS,
    // Such a page hangs on walls and lies behind other windows.
    refetchIntervalInBackground: true,
  })

const linkPath = (clientId: string) => `/api/clients/${clientId}/status-link`

/** Whether a client's status page is shared, and where. */
export const statusLinkQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['status-link', clientId],
    queryFn: ({ signal }) => request<StatusLinkRecord>(linkPath(clientId), { signal }),
  })

export function useCreateStatusLink(clientId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => request<StatusLinkRecord>(linkPath(clientId), { method: 'POST' }),
    onSuccess: (record) => client.setQueryData(statusLinkQuery(clientId).queryKey, record),
  })
}

export function useRevokeStatusLink(clientId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => request<undefined>(linkPath(clientId), { method: 'DELETE' }),
    // Also after a refusal: someone else may have revoked it.
    onSettled: () => client.invalidateQueries({ queryKey: statusLinkQuery(clientId).queryKey }),
  })
}
