export type { Catalogue, VendorEntry, VendorSite, VendorSites } from '../../../src/dashboard/index.ts'

import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { SetTagVendor, TagVendorRecord, VendorRecord } from '../../../src/analytics/index.ts'
import type { Catalogue, VendorSites } from '../../../src/dashboard/index.ts'
import { keepSame } from '../lib/keep-same.ts'
import { reportsKey } from './analytics.ts'
import { request } from './client.ts'

/** Entries per page. */
export const PAGE = 50

/** Refetches sooner while the service has not had time to read all sites. */
const refetchInterval = ({ state }: { state: { data?: { complete: boolean } | undefined } }) =>
  state.data?.complete === false ? 5_000 : 60_000

/** Tags by vendor over all sites. */
export const catalogueQuery = (client: string, page: number) =>
  queryOptions({
    queryKey: ['tags', client, page],
    queryFn: ({ signal }) => request<Catalogue>('/api/tags', { query: pageOf(client, page), signal }),
    refetchInterval,
    placeholderData: keepSame((key) => key[1] === client),
  })

/** A vendor's sites over time; null for the tags without a vendor. */
export const vendorSitesQuery = (vendor: string | null, client: string, page: number) =>
  queryOptions({
    queryKey: ['tags', 'sites', vendor, client, page],
    queryFn: ({ signal }) =>
      request<VendorSites>('/api/tags/sites', { query: { vendor, ...pageOf(client, page) }, signal }),
    refetchInterval,
    placeholderData: keepSame((key) => key[2] === vendor && key[3] === client),
  })

const pageOf = (client: string, page: number) => ({
  client_id: client === '' ? null : client,
  limit: PAGE,
  offset: PAGE * page,
})

/** The vendors recognised by their tags' names; the list changes only with releases. */
export const vendorsQuery = queryOptions({
  queryKey: ['vendors'],
  queryFn: ({ signal }) => request<VendorRecord[]>('/api/vendors', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** Sets the vendor of a tag; null goes back to the one recognised by its name. */
export function useSetTagVendor(siteId: string, tagKey: string) {
  const client = useQueryClient()
  const path = `/api/sites/${siteId}/tag-vendors/${encodeURIComponent(tagKey)}`
  return useMutation({
    mutationFn: async (vendor: string | null) => {
      if (vendor === null) await request<undefined>(path, { method: 'DELETE' })
      else await request<TagVendorRecord>(path, { method: 'POST', body: { vendor } satisfies SetTagVendor })
    },
    onSuccess: () => client.invalidateQueries({ queryKey: reportsKey(siteId) }),
  })
}
