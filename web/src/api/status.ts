import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { StatusLinkRecord, StatusLooks, UpdateStatusLooks } from '../../../src/management/index.ts'
import type { SharedIncident, StatusPage, SubscriberRecord, Subscription } from '../../../src/sharing/index.ts'
import { ApiError, request } from './client.ts'
import { settle } from './settle.ts'

export type { StatusLinkRecord } from '../../../src/management/index.ts'
export type { SharedIncident, SharedSite, StatusPage } from '../../../src/sharing/index.ts'

export const STATUS_PAGE_REFRESH_MS = 30_000
/** Rarely, because a revoked link stays revoked. But that of a paused client works again when the client does. */
const GONE_REFRESH_MS = 5 * 60_000

const REFRESHED = {
  refetchInterval: ({ state: { data } }: { state: { data: unknown } }) =>
    data === null ? GONE_REFRESH_MS : STATUS_PAGE_REFRESH_MS,
  // Status pages are shown on walls and behind other windows.
  refetchIntervalInBackground: true,
}

/** Null for what is gone: an answer like any other, so that what was shown before goes and later answers replace it. */
const unlessGone = (thrown: unknown): null => {
  if (thrown instanceof ApiError && thrown.code === 'not_found') return null
  throw thrown
}

/** A shared status page by its token; null when the link does not work. Polled, because there is no stream without signing in. */
export const statusPageQuery = (token: string) =>
  queryOptions({
    queryKey: ['status-page', token],
    queryFn: ({ signal }) =>
      request<StatusPage>(`/api/status/${encodeURIComponent(token)}`, { signal }).catch(unlessGone),
    ...REFRESHED,
  })

/** An incident of a client, by the token of its status page; null when the link does not work. */
export const sharedIncidentQuery = (token: string, id: string) =>
  queryOptions({
    queryKey: ['shared-incident', token, id],
    queryFn: ({ signal }) =>
      request<SharedIncident>(`/api/status/${encodeURIComponent(token)}/incidents/${encodeURIComponent(id)}`, {
        signal,
      }).catch(unlessGone),
    ...REFRESHED,
  })

const subscribersPath = (token: string) => `/api/status/${encodeURIComponent(token)}/subscribers`

export const useSubscribe = (token: string) =>
  useMutation({
    mutationFn: (email: string) =>
      request<{ email: string }>(subscribersPath(token), { method: 'POST', body: { email } }),
  })

/** A subscription to a status page, by the secret in its e-mails. */
export const subscriptionQuery = (token: string, secret: string) =>
  queryOptions({
    queryKey: ['subscription', token, secret],
    queryFn: ({ signal }) =>
      request<Subscription>(`${subscribersPath(token)}/${encodeURIComponent(secret)}`, { signal }),
  })

export function useConfirmSubscription(token: string, secret: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () =>
      request<undefined>(`${subscribersPath(token)}/${encodeURIComponent(secret)}/confirm`, { method: 'POST' }),
    onSuccess: () => client.invalidateQueries({ queryKey: subscriptionQuery(token, secret).queryKey }),
  })
}

export const useUnsubscribe = (token: string, secret: string) =>
  useMutation({
    mutationFn: () =>
      request<undefined>(`${subscribersPath(token)}/${encodeURIComponent(secret)}`, { method: 'DELETE' }),
  })

const clientSubscribersPath = (clientId: string) => `/api/clients/${clientId}/subscribers`

/** The subscribers of a client's status page. */
export const subscribersQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['subscribers', clientId],
    queryFn: ({ signal }) => request<SubscriberRecord[]>(clientSubscribersPath(clientId), { signal }),
  })

export function useRemoveSubscriber(clientId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => request<undefined>(`${clientSubscribersPath(clientId)}/${id}`, { method: 'DELETE' }),
    // Also refetch after an error: they may have unsubscribed.
    onSettled: () => client.invalidateQueries({ queryKey: subscribersQuery(clientId).queryKey }),
  })
}

const looksPath = (clientId: string) => `/api/clients/${clientId}/status-page`

/** How a client's status page looks. */
export const statusLooksQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['status-looks', clientId],
    queryFn: ({ signal }) => request<StatusLooks>(looksPath(clientId), { signal }),
  })

export function useUpdateStatusLooks(clientId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: UpdateStatusLooks) => request<StatusLooks>(looksPath(clientId), { method: 'PATCH', body }),
    onSuccess: (looks) => settle(client, statusLooksQuery(clientId).queryKey, looks),
  })
}

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
    onSuccess: (record) => settle(client, statusLinkQuery(clientId).queryKey, record),
  })
}

export function useRevokeStatusLink(clientId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => request<undefined>(linkPath(clientId), { method: 'DELETE' }),
    // Also refetch after an error: someone else may have revoked it.
    onSettled: () => client.invalidateQueries({ queryKey: statusLinkQuery(clientId).queryKey }),
  })
}
