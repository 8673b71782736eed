import { sql } from 'kysely'
import { UNJUDGED_REASONS, type UnjudgedReason } from '../../detection/index.ts'
import { DEFAULT_PAGE, idBefore, type Page, pageOf, pageOfIds, unknownAfter, type Visible } from '../../http/index.ts'
import { fingerprintOf, isoTime, isoTimeOrNull, maskedIfAddress, notFound } from '../../lib/index.ts'
import type { Kysely, ProbeResultRow, ProbeRow, Store, Tables } from '../../store/index.ts'
import { type JsonObject, type ProbeType, RESULT_STATUSES, type ResultStatus, shownConfig } from '../probe-type.ts'
import type { Registry } from '../registry.ts'
import type { ProbeQuery, ProbeRecord, ProbeTypeRecord, ResultQuery, ResultRecord } from './schemas.ts'

const MIN_INTERVAL_SECONDS = 30

/** A probe, and whether its site and client are active. */
interface PlacedProbe extends ProbeRow {
  site_is_active: number
  client_is_active: number
}

function pausedBy({ is_active, site_is_active, client_is_active }: PlacedProbe): ProbeRecord['paused_by'] {
  if (is_active === 0) return 'probe'
  if (site_is_active === 0) return 'site'
  return client_is_active === 0 ? 'client' : null
}

/**
 * Returns a probe in the form of the API; without settings when this version does not know its type.
 *
 * @param seesSecrets whether to include fingerprints of secrets and the queries of addresses, which may contain keys
 */
export function probeRecord(registry: Registry, row: PlacedProbe, seesSecrets: boolean): ProbeRecord {
  const paused_by = pausedBy(row)
  const type = registry.get(row.probe_type)
  const given = givenConfig(row)
  const { config, secretsSet } = type === undefined ? { config: {}, secretsSet: [] } : shownConfig(type, given)
  const fingerprints = secretsSet.map((name) => [name, fingerprintOf(row.id, String(given[name]))])
  return {
    id: row.id,
    site_id: row.site_id,
    probe_type: row.probe_type,
    name: row.name,
    config: seesSecrets ? config : withoutQueries(config),
    secrets_set: secretsSet,
    secret_fingerprints: seesSecrets ? Object.fromEntries(fingerprints) : {},
    interval_seconds: row.interval_seconds,
    timeout_ms: row.timeout_ms,
    failure_threshold: row.failure_threshold,
    recovery_threshold: row.recovery_threshold,
    is_active: row.is_active === 1,
    created_at: isoTime(row.created_at),
    next_run_at: paused_by === null ? isoTime(row.next_run_at) : null,
    paused_by,
    last_status: row.last_status === null ? null : statusOf(row.last_status),
    judged: isJudged(row.last_status, row.last_reason),
    reason: reasonOf(row.last_reason),
    last_message: row.last_message,
    last_response_time_ms: row.last_response_time_ms,
    last_result_at: isoTimeOrNull(row.last_result_at),
    consecutive_failures: row.consecutive_failures,
  }
}

const withoutQueries = (config: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(config).map(([name, value]) => [name, maskedIfAddress(value)]))

export const resultRecord = (row: ProbeResultRow): ResultRecord => ({
  id: row.id,
  probe_id: row.probe_id,
  status: statusOf(row.status),
  judged: isJudged(row.status, row.reason),
  reason: reasonOf(row.reason),
  message: row.message,
  response_time_ms: row.response_time_ms,
  details: JSON.parse(row.details) as JsonObject,
  attempts: row.attempts,
  executed_at: isoTime(row.executed_at),
  maintenance_id: row.maintenance_id,
})

export const probeTypeRecord = (type: ProbeType): ProbeTypeRecord => ({
  probe_type: type.name,
  title: type.title,
  description: type.description,
  kind: type.kind,
  site_fields: [...type.siteFields],
  needs: type.needs.map((fields) => [...fields]),
  default_interval_seconds: type.defaultIntervalSeconds,
  min_interval_seconds: minIntervalSeconds(type),
  config_schema: configSchema(type),
})

/** The schema for callers: settings with a default are not required. */
function configSchema({ config }: ProbeType): JsonObject {
  const { required = [], properties, ...schema } = config
  const needed = required.filter((name) => !('default' in (properties[name] ?? {})))
  const described = { ...schema, ...(needed.length === 0 ? {} : { required: needed }), properties }
  return JSON.parse(JSON.stringify(described)) as JsonObject
}

export const minIntervalSeconds = ({ minIntervalSeconds: own = MIN_INTERVAL_SECONDS }: ProbeType): number => own

/** The settings as given, including secrets. */
export const givenConfig = ({ config }: Pick<ProbeRow, 'config'>): JsonObject => JSON.parse(config) as JsonObject

/** Whether there is a last result that is not an unjudged `ok`. */
const isJudged = (status: string | null, reason: string | null): boolean => status !== null && reason === null

/**
 * Null when something was judged.
 *
 * @throws Error for a reason that this version does not know
 */
export function reasonOf(text: string | null): UnjudgedReason | null {
  if (text === null) return null
  const known = UNJUDGED_REASONS.find((reason) => reason === text)
  if (known === undefined) throw new Error(`the store holds an unknown reason: ${text}`)
  return known
}

/** @throws Error for a status that this version does not know */
export function statusOf(text: string): ResultStatus {
  const known = RESULT_STATUSES.find((status) => status === text)
  if (known === undefined) throw new Error(`the store holds an unknown status: ${text}`)
  return known
}

type Reader = Pick<Store, 'read'>

/**
 * Returns the ids of probes, oldest first. `active_only` keeps active probes of active sites of active clients.
 *
 * @throws AppError `invalid_request` when `after` is not the id of one of them
 */
export async function probeIds(
  { read }: Reader,
  visible: Visible,
  { client_id, site_id, active_only = false, after, limit }: ProbeQuery,
): Promise<Page<string>> {
  let query = read
    .selectFrom('probes')
    .innerJoin('sites', 'sites.id', 'probes.site_id')
    .orderBy('probes.created_at')
    .orderBy('probes.id')
  if (visible !== null) query = query.where('sites.client_id', 'in', [...visible])
  if (after !== undefined) {
    const last = await query
      .select(['probes.created_at', 'probes.id'])
      .where('probes.id', '=', after)
      .executeTakeFirst()
    if (last === undefined) throw unknownAfter('a probe')
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('probes.created_at', 'probes.id'), '>', tuple(last.created_at, last.id)),
    )
  }
  if (client_id !== undefined) query = query.where('sites.client_id', '=', client_id)
  if (site_id !== undefined) query = query.where('probes.site_id', '=', site_id)
  if (active_only) {
    query = query
      .innerJoin('clients', 'clients.id', 'sites.client_id')
      .where('probes.is_active', '=', 1)
      .where('sites.is_active', '=', 1)
      .where('clients.is_active', '=', 1)
  }
  if (limit !== undefined) query = query.limit(limit + 1)
  const rows = await query.select('probes.id').execute()
  return pageOfIds(rows, limit)
}

/** Returns these probes with the ids of their clients, oldest first. */
export const probesOf = ({ read }: Reader, ids: readonly string[]): Promise<(PlacedProbe & { client_id: string })[]> =>
  read
    .selectFrom('probes')
    .innerJoin('sites', 'sites.id', 'probes.site_id')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .selectAll('probes')
    .select(['sites.client_id', 'sites.is_active as site_is_active', 'clients.is_active as client_is_active'])
    .where('probes.id', 'in', ids)
    .orderBy('probes.created_at')
    .orderBy('probes.id')
    .execute()

/**
 * Returns a probe that was just read or written, with whether its site and client are active.
 *
 * @throws AppError `not_found` when they were deleted meanwhile
 */
export async function placed(db: Kysely<Tables>, row: ProbeRow): Promise<PlacedProbe> {
  const place = await db
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .select(['sites.is_active as site_is_active', 'clients.is_active as client_is_active'])
    .where('sites.id', '=', row.site_id)
    .executeTakeFirst()
  if (place === undefined) throw notFound('Probe')
  return { ...row, ...place }
}

/** @throws AppError `not_found` */
export async function getProbe({ read }: Reader, id: string): Promise<ProbeRow> {
  const row = await read.selectFrom('probes').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('Probe')
  return row
}

/**
 * Returns a page of a probe's results, newest first.
 *
 * @throws AppError `not_found`, or `invalid_request` when `before` is neither an id nor a time
 */
export async function listResults(
  store: Reader,
  id: string,
  { before, changes = false, limit = DEFAULT_PAGE }: ResultQuery,
): Promise<Page<ResultRecord>> {
  await getProbe(store, id)
  let query = store.read
    .selectFrom('probe_results')
    .selectAll()
    .where('probe_id', '=', id)
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (before !== undefined) query = query.where('id', '<', idBefore(before, 'a result'))
  if (changes) query = query.where('id', 'in', changedIn(store, id))
  const rows = await query.execute()
  return pageOf(rows.map(resultRecord), limit, (result) => result.id)
}

/** The ids of results that differ from the one before them, and of the oldest. Reads all of a probe's results, at most some thousand. */
const changedIn = ({ read }: Reader, probeId: string) =>
  read
    .selectFrom((db) =>
      db
        .selectFrom('probe_results')
        .where('probe_id', '=', probeId)
        .select([
          'id',
          sql<string>`status || coalesce(reason, '')`.as('found'),
          sql<string | null>`lag(status || coalesce(reason, '')) over (order by id)`.as('before'),
        ])
        .as('results'),
    )
    .where((eb) => eb.or([eb('before', 'is', null), eb('before', '<>', eb.ref('found'))]))
    .select('id')
