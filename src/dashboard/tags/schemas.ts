import { type Static, Type } from 'typebox'
import { IsoTime, nullable, Uuid } from '../../http/index.ts'

const Count = Type.Integer({ minimum: 0 })
const Ms = nullable(Type.Number({ description: 'ms; null where only batches are known, which have no distribution' }))
const Rate = nullable(Type.Number({ description: 'Of the runs, 0–1; null without any' }))

const paging = {
  client_id: Type.Optional(Type.String({ ...Uuid, description: 'Only sites of this client' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Maximum number of entries' }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Entries to skip' })),
}

export const CatalogueQuery = Type.Object(paging, { additionalProperties: false })
export type CatalogueQuery = Static<typeof CatalogueQuery>

export const VendorSitesQuery = Type.Object(
  {
    vendor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 60,
        description: 'Its id, as the catalogue has it; without it the tags whose vendor no one knows',
      }),
    ),
    ...paging,
  },
  { additionalProperties: false },
)
export type VendorSitesQuery = Static<typeof VendorSitesQuery>

const figures = {
  runs: Type.Number({ description: 'Executions' }),
  bad: Type.Number({ description: 'Those of them that failed in any way' }),
  failure_rate: Rate,
  p95_ms: Ms,
}

const Incident = nullable(
  Type.Object(
    { id: Uuid, title: Type.String() },
    { description: 'That it fails on many sites at once; null while that is not found' },
  ),
)

const VendorEntry = Type.Object({
  vendor: nullable(Type.String({ description: 'Its id; null: tags whose vendor no one knows' })),
  name: Type.String(),
  sites: Count,
  tags: Type.Integer({ minimum: 0, description: 'Tags of all these sites together' }),
  ...figures,
  failing_sites: Type.Integer({ minimum: 0, description: 'With an unresolved alert about a tag of it' }),
  incident: Incident,
  versions: Type.Object({
    known: Type.Integer({ minimum: 0, description: 'Sites whose containers say their version' }),
    mixed: Type.Integer({
      minimum: 0,
      description: 'Of these, sites on which several versions of one container sent something in the last hour',
    }),
  }),
})
export type VendorEntry = Static<typeof VendorEntry>

const window = {
  from: IsoTime,
  to: Type.String({ format: 'date-time', description: 'The end of the last hour that is settled' }),
  complete: Type.Boolean({ description: 'False: there was no time for all sites; the next call continues from there' }),
  total: Type.Integer({ minimum: 0, description: 'Entries that there are' }),
}

export const Catalogue = Type.Object({
  ...window,
  vendors: Type.Array(VendorEntry, { description: 'What fails on most sites first, then what runs most' }),
})
export type Catalogue = Static<typeof Catalogue>

const VendorSite = Type.Object({
  site_id: Uuid,
  tags: Type.Array(Type.String(), { description: 'Its tags there, those that run most first; at most 10' }),
  ...figures,
  failing: Type.Boolean({ description: 'An alert about a tag of it is unresolved' }),
  versions: Type.Array(Type.String(), { description: 'Of containers that sent something in the last hour' }),
  hours: Type.Object(
    { runs: Type.Array(Type.Number()), bad: Type.Array(Type.Number()) },
    { description: 'One number for each hour' },
  ),
})
export type VendorSite = Static<typeof VendorSite>

export const VendorSites = Type.Object({
  ...window,
  vendor: nullable(Type.String()),
  name: Type.String(),
  failing_sites: Count,
  incident: Incident,
  hours: Type.Array(IsoTime, { description: 'Starts of the UTC hours; the last is under way and not in the totals' }),
  sites: Type.Array(VendorSite, { description: 'Those where it fails first, then by failure rate' }),
})
export type VendorSites = Static<typeof VendorSites>
