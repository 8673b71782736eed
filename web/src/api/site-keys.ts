import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { AddKey, ChangeKey, RotateKey, SiteKeyRecord } from '../../../src/management/index.ts'
import { request } from './client.ts'

export type { SiteKeyRecord } from '../../../src/management/index.ts'

/** Maximum number of valid keys of a site; the API refuses more. */
export const MOST_VALID_KEYS = 3

/** The service writes last uses once a minute. */
const REFRESH_MS = 30_000

/** A site's ingest keys, the newest first. */
export const siteKeysQuery = (siteId: string) =>
  queryOptions({
    queryKey: ['site-keys', siteId],
    queryFn: ({ signal }) => request<SiteKeyRecord[]>(`/api/sites/${siteId}/keys`, { signal }),
    refetchInterval: REFRESH_MS,
  })

export const useAddKey = (siteId: string) =>
  useKeyChange(siteId, (body: AddKey) => request<SiteKeyRecord>(`/api/sites/${siteId}/keys`, { method: 'POST', body }))

export const useRotateKey = (siteId: string, keyId: string) =>
  useKeyChange(siteId, (body: RotateKey) =>
    request<SiteKeyRecord>(`/api/sites/${siteId}/keys/${keyId}/rotate`, { method: 'POST', body }),
  )

export const useChangeKey = (siteId: string, keyId: string) =>
  useKeyChange(siteId, (body: ChangeKey) =>
    request<SiteKeyRecord>(`/api/sites/${siteId}/keys/${keyId}`, { method: 'PATCH', body }),
  )

export const useRevokeKey = (siteId: string, keyId: string) =>
  useKeyChange(siteId, () => request<SiteKeyRecord>(`/api/sites/${siteId}/keys/${keyId}/revoke`, { method: 'POST' }))

function useKeyChange<V>(siteId: string, mutationFn: (variables: V) => Promise<SiteKeyRecord>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn,
    onSuccess: () =>
      // The site's record contains its newest key.
      Promise.all(
        [['site-keys', siteId], ['site', siteId], ['sites']].map((queryKey) => client.invalidateQueries({ queryKey })),
      ),
  })
}
