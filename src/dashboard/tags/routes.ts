import type { ReportContext } from '../../analytics/index.ts'
import { errorResponses, type HttpApp, visibleTo } from '../../http/index.ts'
import { catalogue } from './catalogue.ts'
import { Catalogue, CatalogueQuery, VendorSites, VendorSitesQuery } from './schemas.ts'
import { vendorSites } from './vendor-sites.ts'
import { VendorReads } from './vendor-sums.ts'

const tags = ['Dashboard']
/** Once an hour they read a day of all sites. */
const config = { work: 'report', scope: 'visible' } as const

/** Adds the routes of the catalogue of tags over all sites. */
export function tagCatalogueRoutes(app: HttpApp, context: ReportContext): void {
  const reads = new VendorReads(context)

  app.get(
    '/api/tags',
    {
      config,
      schema: {
        tags,
        summary: 'List tags by vendor',
        description:
          'For all active sites and the last 24 whole hours: how often the tags of each vendor ran and failed. Counts are updated once an hour; what ' +
          'fails now comes from alerts. Use `limit` and `offset` to page. What fails comes first, so an entry may move to another page between two calls.',
        querystring: CatalogueQuery,
        response: { 200: Catalogue, ...errorResponses(404) },
      },
    },
    ({ query, access }) => catalogue(context, reads, visibleTo(access), query),
  )

  app.get(
    '/api/tags/sites',
    {
      config: { ...config, counts: 'all' },
      schema: {
        tags,
        summary: "List a vendor's sites over time",
        description:
          'Shows whether it fails for everyone: each site with runs and failures by the hour, the last hour up to now. Use `limit` and `offset` to page. What fails comes first, so a site may move to another page between two calls.',
        querystring: VendorSitesQuery,
        response: { 200: VendorSites, ...errorResponses(404) },
      },
    },
    ({ query, access }) => vendorSites(context, reads, visibleTo(access), query),
  )
}
