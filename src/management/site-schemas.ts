import { type Static, Type } from 'typebox'
import { IsoTime, ListPages, model, nullable, Uuid } from '../http/index.ts'
import { invalidRequest, isoTime, isoTimeOrNull, maskedQuery } from '../lib/index.ts'
import type { SiteRow } from '../store/index.ts'
import { ActiveOnly, ForeignName, HttpUrl, Name, Patterned } from './client-schemas.ts'
import { CreateQuery } from './context.ts'
import { hasNoKey } from './key-validity.ts'

const ContainerId = Patterned('^GTM-[A-Z0-9]{4,10}$', 'a container id like GTM-ABC1234')

/** Optional fields that describe a site's tracking; the docs name the probes that use each. */
const infrastructure = {
  tag_server_url: nullable(HttpUrl),
  tag_manager_web_container_id: nullable(ContainerId),
  tag_manager_server_container_id: nullable(ContainerId),
  analytics_property_id: nullable(Patterned('^[0-9]{1,20}$', 'up to 20 digits')),
  analytics_measurement_id: nullable(Patterned('^G-[A-Z0-9]{4,14}$', 'a measurement id like G-ABCD123456')),
  warehouse_project: nullable(ForeignName),
  warehouse_dataset: nullable(ForeignName),
  hosting_a_container_id: nullable(ForeignName),
  hosting_b_container_id: nullable(ForeignName),
  cmp_provider: nullable(ForeignName),
}

const settable = {
  name: Name,
  url: HttpUrl,
  is_active: Type.Boolean({ description: 'False while it is paused: ingest refuses its requests' }),
  timezone: Type.String({
    format: 'time-zone',
    description: 'IANA name of the time zone that days and hours of reports follow',
  }),
  ...infrastructure,
  average_order_value: nullable(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000_000,
      description: 'Average value of an order, used to estimate the cost of incidents; requires `currency`',
    }),
  ),
  currency: nullable(Type.String({ format: 'currency', description: 'Of `average_order_value`, ISO 4217' })),
  slo_target: nullable(
    Type.Number({
      minimum: 50,
      maximum: 99.99,
      description:
        'Percentage of the time that should be free of critical problems; the remaining share of 30 days is the error budget. null: no target',
    }),
  ),
}

export const SiteRecord = model('Site', {
  id: Uuid,
  client_id: Uuid,
  ...settable,
  ingest_key: nullable(
    Type.String({
      description:
        'Ingest key that the tag sends: the newest valid key, or else the one that ended last; null for viewers',
    }),
  ),
  key_revoked_at: nullable({ ...IsoTime, description: 'When the last valid key ended; null: a key is valid' }),
  last_event_at: nullable(IsoTime),
  created_at: IsoTime,
})
export type SiteRecord = Static<typeof SiteRecord>

export const UpdateSite = Type.Partial(Type.Object(settable), { additionalProperties: false })
export type UpdateSite = Static<typeof UpdateSite>

export const CreateSite = Type.Object(
  { client_id: Uuid, ...UpdateSite.properties, name: Name, url: HttpUrl },
  { additionalProperties: false },
)
export type CreateSite = Static<typeof CreateSite>

export const CreateSiteQuery = Type.Object(
  {
    ...CreateQuery.properties,
    auto_probes: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether to create the probes that fit the site' }),
    ),
  },
  { additionalProperties: false },
)

export const SiteParams = Type.Object({ site_id: Uuid })

export const SiteQuery = Type.Object(
  {
    client_id: Type.Optional(Type.String({ ...Uuid, description: 'Only sites of this client' })),
    active_only: Type.Optional(ActiveOnly),
    ...ListPages,
  },
  { additionalProperties: false },
)
export type SiteQuery = Static<typeof SiteQuery>

/** A site's record in the API. The arguments' times are epoch ms. */
export function siteRecord(row: SiteRow, lastEventAt: number | null, now: number): SiteRecord {
  const { site_no: _internal, is_active, key_revoked_at, created_at, ...shown } = row
  return {
    ...shown,
    is_active: is_active === 1,
    key_revoked_at: isoTimeOrNull(hasNoKey(row, now) ? key_revoked_at : null),
    last_event_at: isoTimeOrNull(lastEventAt),
    created_at: isoTime(created_at),
  }
}

/** The record for viewers: queries of addresses may contain keys. */
export const withoutSecrets = (record: SiteRecord): SiteRecord => ({
  ...record,
  ingest_key: null,
  url: maskedQuery(record.url),
  tag_server_url: record.tag_server_url === null ? null : maskedQuery(record.tag_server_url),
})

/** @throws AppError `invalid_request` for an order value without a currency: a number alone is not an amount */
export function checkSite({ average_order_value, currency }: Pick<SiteRow, 'average_order_value' | 'currency'>): void {
  if (average_order_value !== null && currency === null)
    throw invalidRequest('/currency', 'is required with an average order value')
}
