import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Catalogue, VendorSites } from '../../../src/dashboard/index.ts'
import { request } from './client.ts'

export type { Catalogue, VendorEntry, VendorSite, VendorSites } from '../../../src/dashboard/index.ts'

/** Entries on one page. */
export const PAGE = 50

/** While there was no time to read all sites, it goes on. */
const refetchInterval = ({ state }: { state: { data?: { complete: boolean } | undefined } }) =>
  state.data?.complete === false ? 5_000 : 60_000

/** Tags by vendor over all sites. */
export const catalogueQuery = (client: string, page: number) =>
  queryOptions({
    queryKey: ['tags', client, page],
    queryFn: ({ signal }) => request<Catalogue>('/api/tags', { query: pageOf(client, page), signal }),
    refetchInterval,
    placeholderData: keepPreviousData,
  })

/** A vendor's sites over time; without a vendor, of the tags that have none. */
export const vendorSitesQuery = (vendor: string | null, client: string, page: number) =>
  queryOptions({
    queryKey: ['tags', 'sites', vendor, client, page],
    queryFn: ({ signal }) =>
      request<VendorSites>('/api/tags/sites', { query: { vendor, ...pageOf(client, page) }, signal }),
    refetchInterval,
    placeholderData: keepPreviousData,
  })

const pageOf = (client: string, page: number) => ({
  client_id: client === '' ? null : client,
  limit: PAGE,
  offset: PAGE * page,
})
