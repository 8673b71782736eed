import { AppError, invalidRequest, newId, notFound } from '../../lib/index.ts'
import { type Context, lockSite, requireNewName, writeAudit } from '../../management/index.ts'
import { chunksOf, type ProbeRow, type SiteRow, type Tables, type Transaction } from '../../store/index.ts'
import { firstRunAt, nextRunAt } from '../claims.ts'
import type { JsonObject, ProbeType } from '../probe-type.ts'
import { isAutomatic, isMet, mergedConfig, needsInWords, requireConfig, secretNames } from '../probe-type.ts'
import { makeAddress } from '../push/address.ts'
import type { Registry } from '../registry.ts'
import { NO_STREAK } from '../result.ts'
import { requireRoomFor } from './probe-room.ts'
import { givenConfig, minIntervalSeconds } from './record.ts'
import type { CreateProbe, UpdateProbe } from './schemas.ts'

/** Columns of a probe that has never run. */
export const NEVER_RUN = {
  claimed_by: null,
  claimed_at: null,
  due_at: null,
  lost_runs: 0,
  last_status: null,
  last_reason: null,
  last_message: null,
  last_response_time_ms: null,
  last_result_at: null,
  ...NO_STREAK,
  memory: '{}',
  results_thinned_to: 0,
} as const satisfies Partial<ProbeRow>

/**
 * Adds a probe.
 *
 * @param most how many probes the sites of its client may have, including this one
 * @throws AppError `invalid_request` for an unknown site or type, a site without the fields that the type needs, too short an interval, or settings
 *   that do not fit the schema. `conflict` when the client has too many probes, or the site one
 *   of the name and only a new one is wanted
 */
export async function createProbe(
  ctx: Context,
  registry: Registry,
  input: CreateProbe,
  most = Number.POSITIVE_INFINITY,
): Promise<ProbeRow> {
  const type = registry.get(input.probe_type)
  if (type === undefined) throw invalidRequest('/probe_type', `must be one of ${[...registry.keys()].join(', ')}`)
  return ctx.store.write.transaction().execute(async (trx) => {
    // Deleting the site takes the same lock, so no probe is added to a site that is being deleted.
    const site = await lockSite(trx, input.site_id)
    if (site === undefined) throw invalidRequest('/site_id', 'is not the id of a site')
    const name = nameOf(type, input)
    await requireNewName(
      ctx,
      trx.selectFrom('probes').select('id').where('site_id', '=', site.id).where('name', '=', name),
    )
    await requireRoomFor(trx, ctx.store, site, most)
    return insertProbe(trx, ctx, registry, type, site, input)
  })
}

/**
 * Adds the probes that the fields of a new site allow, with default settings. The same transaction added the site.
 *
 * @throws AppError `conflict` when the client has no room for all of them
 */
export async function addAutomaticProbes(
  trx: Transaction<Tables>,
  ctx: Context,
  registry: Registry,
  site: SiteRow,
  most: number,
): Promise<void> {
  const types = [...registry.values()].filter((type) => isAutomatic(type, site))
  if (types.length > 0) await requireRoomFor(trx, ctx.store, site, most, types.length)
  for (const type of types) await insertProbe(trx, ctx, registry, type, site, {})
}

const nameOf = ({ title }: ProbeType, { name }: Pick<CreateProbe, 'name'>): string => name?.trim() ?? title

async function insertProbe(
  trx: Transaction<Tables>,
  ctx: Context,
  registry: Registry,
  type: ProbeType,
  site: SiteRow,
  input: Omit<CreateProbe, 'site_id' | 'probe_type'>,
): Promise<ProbeRow> {
  if (!isMet(type.needs, site)) throw lacksFields(type)
  const config = mergedConfig({}, input.config ?? {})
  requireConfig(type, config)
  const interval = input.interval_seconds ?? type.defaultIntervalSeconds
  requireInterval(type, interval)
  const now = ctx.clock.now()
  const id = newId()
  const row: ProbeRow = {
    id,
    site_id: site.id,
    probe_type: type.name,
    name: nameOf(type, input),
    config: JSON.stringify(config),
    interval_seconds: interval,
    timeout_ms: input.timeout_ms ?? 10_000,
    failure_threshold: input.failure_threshold ?? 1,
    recovery_threshold: input.recovery_threshold ?? 1,
    is_active: Number(input.is_active ?? true),
    created_at: now,
    next_run_at: firstRunAt(id, interval, now),
    ...NEVER_RUN,
  }
  await trx.insertInto('probes').values(row).execute()
  if (type.isCalled === true) await makeAddress(trx, id, now)
  await auditProbe(trx, ctx, registry, 'create', null, row)
  return row
}

/** @throws AppError `invalid_request` when the interval is too short for the type */
export function requireInterval(type: ProbeType, seconds: number): void {
  const least = minIntervalSeconds(type)
  if (seconds < least) throw invalidRequest('/interval_seconds', `must be at least ${least} for ${type.name}`)
}

function lacksFields(type: ProbeType): AppError {
  const message = `is the id of a site without ${needsInWords(type.needs)}, which ${type.name} needs`
  return new AppError('invalid_request', `/site_id ${message}`, [{ path: '/site_id', message }])
}

/**
 * Changes the given fields; of `config`, only the named settings. Values that stay the same leave no trace in the audit log.
 *
 * @throws AppError `not_found`, or `invalid_request` when the settings or the interval do not fit the type
 */
export async function updateProbe(ctx: Context, registry: Registry, id: string, patch: UpdateProbe): Promise<ProbeRow> {
  return ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockProbe(trx, id)
    if (before === undefined) throw notFound('Probe')
    const after = applyToProbe(registry, before, patch, ctx.clock.now())
    const changed = changedSettings(before, after)
    if (Object.keys(changed).length === 0) return before
    await trx.updateTable('probes').set(changed).where('id', '=', id).execute()
    await auditProbe(trx, ctx, registry, 'update', before, after)
    return after
  })
}

/** Reads a probe and locks it until the transaction ends; undefined when it does not exist. */
export async function lockProbe(trx: Transaction<Tables>, id: string): Promise<ProbeRow | undefined> {
  return trx
    .updateTable('probes')
    .set(({ ref }) => ({ name: ref('name') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

function applyToProbe(registry: Registry, row: ProbeRow, patch: UpdateProbe, now: number): ProbeRow {
  const { name, config, is_active, ...numbers } = patch
  const type = registry.get(row.probe_type)
  const after: ProbeRow = {
    ...row,
    ...numbers,
    name: name === undefined ? row.name : name.trim(),
    is_active: is_active === undefined ? row.is_active : Number(is_active),
  }
  if (config !== undefined) {
    if (type === undefined) throw invalidRequest('/config', `of type ${row.probe_type} is not known to this version`)
    const before = givenConfig(row)
    const merged = mergedConfig(before, config)
    requireConfig(type, merged)
    requireSameHosts(type, before, merged, config)
    after.config = JSON.stringify(merged)
  }
  if (type !== undefined && patch.interval_seconds !== undefined) requireInterval(type, after.interval_seconds)
  // A new interval or the end of a pause starts a new schedule: missed runs are not made up for.
  if (after.interval_seconds !== row.interval_seconds || after.is_active > row.is_active) {
    after.next_run_at = nextRunAt(row.id, after.interval_seconds, now)
  }
  return after.is_active > row.is_active ? { ...after, ...NO_STREAK } : after
}

/**
 * Someone who may change where a secret is sent must not be able to read it, so for another host it has to be given again.
 *
 * @throws AppError `invalid_request` with the name of a secret that was given for another host and is not given again
 */
export function requireSameHosts(type: ProbeType, before: JsonObject, after: JsonObject, patch: JsonObject): void {
  const originIn = (config: JsonObject, name: string) => URL.parse(String(config[name]))?.origin
  for (const [secret, address] of Object.entries(type.secretsSentTo ?? {})) {
    if (!(secret in before) || secret in patch || originIn(before, address) === originIn(after, address)) continue
    throw invalidRequest(`/config/${secret}`, 'was set for another address: give it again, or null')
  }
}

const SETTABLE = [
  'name',
  'config',
  'interval_seconds',
  'timeout_ms',
  'failure_threshold',
  'recovery_threshold',
  'is_active',
  'next_run_at',
  'consecutive_failures',
  'recent_statuses',
  'subject_statuses',
] as const

const changedSettings = (before: ProbeRow, after: ProbeRow): Partial<ProbeRow> =>
  Object.fromEntries(SETTABLE.filter((field) => before[field] !== after[field]).map((field) => [field, after[field]]))

/**
 * Deletes a probe. Its results are kept for some days, as the days of its site still need them; nothing else of it can be read or written.
 *
 * @throws AppError `not_found`
 */
export async function removeProbe(ctx: Context, registry: Registry, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx.deleteFrom('probes').where('id', '=', id).returningAll().executeTakeFirst()
    if (row === undefined) throw notFound('Probe')
    const { site_id, probe_type, interval_seconds } = row
    await trx
      .insertInto('removed_probes')
      .values({ id, site_id, probe_type, interval_seconds, removed_at: ctx.clock.now() })
      .execute()
    await trx.deleteFrom('pushes').where('probe_id', '=', id).execute()
    await auditProbe(trx, ctx, registry, 'delete', row, null)
  })
}

/** Deletes the probes of deleted sites and what belongs to them; `clearResults` removes their results later. */
export async function removeOfSites(trx: Transaction<Tables>, sites: readonly { id: string }[]): Promise<void> {
  for (const ids of chunksOf(sites.map(({ id }) => id))) {
    const probes = trx.selectFrom('probes').select('id').where('site_id', 'in', ids)
    await trx.deleteFrom('pushes').where('probe_id', 'in', probes).execute()
    for (const table of ['probes', 'removed_probes', 'deploy_markers'] as const)
      await trx.deleteFrom(table).where('site_id', 'in', ids).execute()
  }
}

type Verb = 'create' | 'update' | 'delete'
type Fields = Readonly<Record<string, unknown>>

/** Records who created, changed or deleted a probe, with each setting separately and without secrets. */
async function auditProbe(
  trx: Transaction<Tables>,
  ctx: Context,
  registry: Registry,
  verb: Verb,
  before: ProbeRow | null,
  after: ProbeRow | null,
): Promise<void> {
  const id = (after ?? before)?.id
  if (id === undefined) return
  await writeAudit(trx, ctx, [
    {
      entity: 'probe',
      verb,
      id,
      before: before && auditFields(registry, before, null),
      after: after && auditFields(registry, after, before),
    },
  ])
}

function auditFields(registry: Registry, row: ProbeRow, before: ProbeRow | null): Fields {
  const type = registry.get(row.probe_type)
  const secrets = type === undefined ? [] : secretNames(type)
  const earlier = before === null ? {} : givenConfig(before)
  const config = Object.entries(givenConfig(row)).map(([name, value]) => {
    const isNew = name in earlier && earlier[name] !== value
    return [`config.${name}`, secrets.includes(name) ? (isNew ? '… (another)' : '…') : auditValue(value)]
  })
  return {
    site_id: row.site_id,
    probe_type: row.probe_type,
    name: row.name,
    interval_seconds: row.interval_seconds,
    timeout_ms: row.timeout_ms,
    failure_threshold: row.failure_threshold,
    recovery_threshold: row.recovery_threshold,
    is_active: row.is_active === 1,
    ...Object.fromEntries(config),
  }
}

/** The audit log compares values with `===`, so lists become text. */
const auditValue = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value
