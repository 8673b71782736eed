import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { DigestOptOut, DigestSubscription } from '../../../src/notifications/index.ts'
import { request } from './client.ts'

const readerPath = (secret: string) => `/api/digests/${encodeURIComponent(secret)}`

/** Whether an address gets digests, by the secret in them. */
export const digestQuery = (secret: string) =>
  queryOptions({
    queryKey: ['digest', secret],
    queryFn: ({ signal }) => request<DigestSubscription>(readerPath(secret), { signal }),
  })

export function useChangeDigest(secret: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: 'stop' | 'resume') =>
      request<undefined>(`${readerPath(secret)}/${change}`, { method: 'POST' }),
    onSuccess: () => client.invalidateQueries({ queryKey: digestQuery(secret).queryKey }),
  })
}

const optOutsPath = (clientId: string) => `/api/clients/${clientId}/digest-opt-outs`

/** The addresses that have unsubscribed from a client's digests. */
export const optOutsQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['digest-opt-outs', clientId],
    queryFn: ({ signal }) => request<DigestOptOut[]>(optOutsPath(clientId), { signal }),
  })

export function useResumeDigests(clientId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => request<undefined>(`${optOutsPath(clientId)}/${id}`, { method: 'DELETE' }),
    // Also refetch after an error: the reader may have resumed them.
    onSettled: () => client.invalidateQueries({ queryKey: optOutsQuery(clientId).queryKey }),
  })
}
