import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { SetTagVendor, TagVendorRecord, VendorRecord } from '../../../src/analytics/index.ts'
import { reportsKey } from './analytics.ts'
import { request } from './client.ts'

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
