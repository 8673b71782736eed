import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { Type } from 'typebox'
import { nullable, Uuid, type Visible } from '../http/index.ts'
import { AppError, invalidRequest } from '../lib/index.ts'
import { lockClient, lockSite } from '../management/index.ts'
import { lockProbe } from '../probes/index.ts'
import type { Tables, Transaction } from '../store/index.ts'

/** What a silence or maintenance applies to: exactly one id is set. */
export interface Scope {
  client_id: string | null
  site_id: string | null
  probe_id: string | null
}

const FIELDS = ['client_id', 'site_id', 'probe_id'] as const
type ScopeInput = { [F in (typeof FIELDS)[number]]?: string | null | undefined }

export const ScopeFields = {
  client_id: nullable(Type.String({ format: 'uuid', description: 'All probes of all sites of the client' })),
  site_id: nullable(Type.String({ format: 'uuid', description: 'All probes of the site' })),
  probe_id: nullable(Type.String({ format: 'uuid', description: 'This probe alone' })),
}

/** Query parameters of a list. */
export const ScopeFilter = {
  client_id: Type.Optional(Type.String({ ...Uuid, description: 'Those of the client, its sites and their probes' })),
  site_id: Type.Optional(Type.String({ ...Uuid, description: 'Those of the site and its probes' })),
  probe_id: Type.Optional(Type.String({ ...Uuid, description: 'Those of the probe' })),
}

/**
 * Returns the requested scope and the time zone of its site (UTC for a client). What it names cannot be deleted until the
 * transaction ends, because deleting takes the same lock.
 *
 * @param others fields that could be given instead, for the message
 * @throws AppError `invalid_request` naming the fields when not exactly one is given, or when what it names does not exist
 */
export async function lockScope(
  trx: Transaction<Tables>,
  input: ScopeInput,
  others: readonly string[] = [],
): Promise<{ scope: Scope; timezone: string }> {
  const { client_id = null, site_id = null, probe_id = null } = input
  const scope = { client_id, site_id, probe_id }
  const given = FIELDS.filter((field) => scope[field] !== null)
  if (given.length !== 1) throw notOne(given, [...FIELDS, ...others])
  if (client_id !== null) {
    if ((await lockClient(trx, client_id)) === undefined) throw unknown('client')
    return { scope, timezone: 'UTC' }
  }
  const site = site_id === null ? await lockSiteOfProbe(trx, probe_id ?? '') : await lockSite(trx, site_id)
  if (site === undefined) throw unknown(site_id === null ? 'probe' : 'site')
  return { scope, timezone: site.timezone }
}

function notOne(given: readonly string[], possible: readonly string[]): AppError {
  const message = `exactly one of ${possible.slice(0, -1).join(', ')} and ${possible.at(-1)} must be given`
  const fields = given.length === 0 ? possible : given
  return new AppError(
    'invalid_request',
    message,
    fields.map((field) => ({ path: `/${field}`, message })),
  )
}

const unknown = (what: string): AppError => invalidRequest(`/${what}_id`, `is not the id of a ${what}`)

/** Returns the site of a probe and locks the probe; undefined when there is no such probe. */
async function lockSiteOfProbe(trx: Transaction<Tables>, id: string): Promise<{ timezone: string } | undefined> {
  const probe = await lockProbe(trx, id)
  if (probe === undefined) return undefined
  return trx.selectFrom('sites').select('timezone').where('id', '=', probe.site_id).executeTakeFirst()
}

/**
 * Returns the conditions that restrict rows with a scope to these clients; none for null, which means all clients.
 *
 * @param ofIncidents whether the rows have an `incident_id`
 */
export function withinClients(visible: Visible, ofIncidents = false): RawBuilder<SqlBool>[] {
  if (visible === null) return []
  const ids = sql.join([...visible])
  return [
    sql<SqlBool>`(client_id in (${ids})
      or site_id in (select sites.id from sites where sites.client_id in (${ids}))
      or probe_id in (select probes.id from probes join sites on sites.id = probes.site_id
        where sites.client_id in (${ids}))
      ${ofIncidents ? sql`or incident_id in (select incidents.id from incidents where incidents.client_id in (${ids}))` : sql``})`,
  ]
}

/**
 * Returns the conditions that restrict rows with a scope to what a list was filtered by.
 *
 * @param ofIncidents whether the rows have an `incident_id`
 */
export function withinScope({ client_id, site_id, probe_id }: ScopeInput, ofIncidents = false): RawBuilder<SqlBool>[] {
  const conditions = typeof client_id === 'string' ? withinClients([client_id], ofIncidents) : []
  if (typeof site_id === 'string') {
    conditions.push(sql<SqlBool>`(site_id = ${site_id}
      or probe_id in (select probes.id from probes where probes.site_id = ${site_id})
      ${ofIncidents ? sql`or incident_id in (select incidents.id from incidents where incidents.site_id = ${site_id})` : sql``})`)
  }
  if (typeof probe_id === 'string') conditions.push(sql<SqlBool>`probe_id = ${probe_id}`)
  return conditions
}
