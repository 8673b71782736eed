import { type Static, Type } from 'typebox'
import { IsoTime, model, nullable, Uuid } from '../../http/index.ts'

const Count = Type.Integer({ minimum: 0 })
const Ms = nullable(Type.Number({ description: 'In ms; null if only batches are known, which have no distribution' }))
const Rate = nullable(Type.Number({ description: 'Share of the runs, 0–1; null without runs' }))

const paging = {
  client_id: Type.Optional(Type.String({ ...Uuid, description: 'Only sites of this client' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Maximum number of entries' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Number of entries to skip' }),
  ),
}

export const CatalogueQuery = Type.Object(paging, { additionalProperties: false })
export type CatalogueQuery = Static<typeof CatalogueQuery>

export const VendorSitesQuery = Type.Object(
  {
    vendor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 60,
        description: "The vendor's id in the catalogue; without it, the tags whose vendor is unknown",
      }),
    ),
    ...paging,
  },
  { additionalProperties: false },
)
export type VendorSitesQuery = Static<typeof VendorSitesQuery>

const figures = {
  runs: Type.Number({ description: 'Executions' }),
  bad: Type.Number({ description: 'Runs that failed in any way' }),
  failure_rate: Rate,
  p95_ms: Ms,
}

const Incident = nullable(
  Type.Object(
    { id: Uuid, title: Type.String() },
    { description: 'The incident that it fails on many sites at once; null if there is none' },
  ),
)

const VendorEntry = model('VendorInUse', {
  vendor: nullable(Type.String({ description: "The vendor's id; null: tags whose vendor is unknown" })),
  name: Type.String(),
  sites: Count,
  tags: Type.Integer({ minimum: 0, description: 'Number of tags on all these sites' }),
  ...figures,
  failing_sites: Type.Integer({
    minimum: 0,
    description: 'Number of sites with an unresolved alert about a tag of this vendor',
  }),
  incident: Incident,
  versions: Type.Object({
    known: Type.Integer({ minimum: 0, description: 'Number of sites whose containers report their version' }),
    mixed: Type.Integer({
      minimum: 0,
      description: 'Number of these sites on which several versions of one container sent data in the last hour',
    }),
  }),
})
export type VendorEntry = Static<typeof VendorEntry>

const window = {
  from: IsoTime,
  to: Type.String({ format: 'date-time', description: 'The end of the last hour that is settled' }),
  complete: Type.Boolean({
    description: 'False: there was not enough time for all sites; the next call continues where this one stopped',
  }),
  total: Type.Integer({ minimum: 0, description: 'Total number of entries' }),
}

export const Catalogue = model('TagCatalogue', {
  ...window,
  vendors: Type.Array(VendorEntry, { description: 'Those that fail on most sites first, then those that run most' }),
})
export type Catalogue = Static<typeof Catalogue>

const VendorSite = model('VendorSite', {
  site_id: Uuid,
  tags: Type.Array(Type.String(), { description: "The vendor's tags on the site, most runs first; at most 10" }),
  ...figures,
  failing: Type.Boolean({ description: 'Whether an alert about a tag of this vendor is unresolved' }),
  versions: Type.Array(Type.String(), { description: 'Versions of containers that sent data in the last hour' }),
  hours: Type.Object(
    { runs: Type.Array(Type.Number()), bad: Type.Array(Type.Number()) },
    { description: 'One number per hour' },
  ),
})
export type VendorSite = Static<typeof VendorSite>

export const VendorSites = model('VendorSites', {
  ...window,
  vendor: nullable(Type.String()),
  name: Type.String(),
  failing_sites: Count,
  incident: Incident,
  hours: Type.Array(IsoTime, {
    description: 'Starts of the UTC hours; the last is the current hour, which the totals leave out',
  }),
  sites: Type.Array(VendorSite, { description: 'Sites where it fails first, then by failure rate' }),
})
export type VendorSites = Static<typeof VendorSites>
