import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { CreateSite, SiteRecord, UpdateSite } from '../../../src/management/index.ts'
import { request } from './client.ts'
import { overviewQuery } from './overview.ts'
import { settle } from './settle.ts'

export type { SiteRecord, UpdateSite } from '../../../src/management/index.ts'

/** The sites of one client, or all. */
export const sitesQuery = (client_id?: string) =>
  queryOptions({
    queryKey: ['sites', { client_id }],
    queryFn: ({ signal }) => request<SiteRecord[]>('/api/sites', { query: { client_id }, signal }),
  })

/** @param auto_probes also creates the probes that the site's fields allow */
export const useCreateSite = () =>
  useSiteChange(({ auto_probes, ...body }: CreateSite & { auto_probes: boolean }) =>
    request<SiteRecord>('/api/sites', { method: 'POST', query: { auto_probes }, body }),
  )

export const useUpdateSite = (id: string) =>
  useSiteChange((body: UpdateSite) => request<SiteRecord>(`/api/sites/${id}`, { method: 'PATCH', body }))

export const useDeleteSite = (id: string) =>
  useSiteChange(() => request<undefined>(`/api/sites/${id}`, { method: 'DELETE' }), id)

/** The download address of a site's template, with endpoint and key filled in. */
export const templateUrl = (id: string): string => `/api/sites/${id}/template.tpl`

/** @param goneId id of the deleted site, whose queries are removed */
function useSiteChange<V, T extends SiteRecord | undefined>(mutationFn: (variables: V) => Promise<T>, goneId?: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn,
    onSuccess: (site) => {
      if (site !== undefined) settle(client, ['site', site.id], site)
      return Promise.all(
        [['sites'], ['probes'], overviewQuery.queryKey].map((queryKey) =>
          client.invalidateQueries({ queryKey, predicate: (query) => !query.queryKey.includes(goneId) }),
        ),
      )
    },
  })
}

const REFRESH_MS = 60_000

export const siteQuery = (id: string) =>
  queryOptions({
    queryKey: ['site', id],
    queryFn: ({ signal }) => request<SiteRecord>(`/api/sites/${id}`, { signal }),
    refetchInterval: REFRESH_MS,
  })
