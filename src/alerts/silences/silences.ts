import { type ExpressionBuilder, sql } from 'kysely'
import { DEFAULT_PAGE, idBefore, type Page, pageOf, type Visible } from '../../http/index.ts'
import { DAY, invalidRequest, isoTime, newOrderedId, notFound } from '../../lib/index.ts'
import { type Context, writeAudit } from '../../management/index.ts'
import type { Kysely, SilenceRow, Store, Tables, Transaction } from '../../store/index.ts'
import { requireMuteRoom } from '../mute-room.ts'
import { lockScope, withinClients, withinScope } from '../scope.ts'
import { type CreateSilence, type SilenceQuery, type SilenceRecord, silenceRecord } from './schemas.ts'

/** A leap year. A forgotten silence must not hide outages for years. */
const MOST_DAYS = 366

/**
 * Creates a silence, and notes it in the timelines of the unresolved alerts in it.
 *
 * @throws AppError `invalid_request` naming the fault: not exactly one scope, an unknown one, an impossible end; `conflict` when
 * the client has no room for more
 */
export async function createSilence(ctx: Context, input: CreateSilence): Promise<SilenceRow> {
  const now = ctx.clock.now()
  const { subject_key = null, until_resolved = false } = input
  const times = timesOf(input, now)
  return ctx.store.write.transaction().execute(async (trx) => {
    const scope = await scopeOf(trx, input)
    if (subject_key !== null && scope.probe_id === null) throw invalidRequest('/subject_key', 'requires a probe_id')
    if (until_resolved && (await unresolvedWithin(trx, { ...scope, subject_key })) === 0) {
      throw invalidRequest('/until_resolved', 'no alert is open there: give an end (ends_at)')
    }
    await requireMuteRoom(trx, 'silences', scope, now)
    const row: SilenceRow = {
      id: newOrderedId(now),
      ...scope,
      subject_key,
      subject_label: await labelOf(trx, scope, subject_key),
      ...times,
      until_resolved: Number(until_resolved),
      comment: input.comment?.trim() || null,
      created_at: now,
      created_by: ctx.actor,
    }
    await trx.insertInto('silences').values(row).execute()
    await noteInTimelines(trx, row, 'silenced', ctx.actor, now)
    await writeAudit(trx, ctx, [
      { entity: 'silence', verb: 'create', id: row.id, before: null, after: silenceRecord(row, now) },
    ])
    return row
  })
}

type SilenceScope = Pick<SilenceRow, 'client_id' | 'site_id' | 'probe_id' | 'incident_id'>

/**
 * Locks and returns the requested scope.
 *
 * @throws AppError `invalid_request` naming the fault
 */
async function scopeOf(trx: Transaction<Tables>, input: CreateSilence): Promise<SilenceScope> {
  const { incident_id = null, client_id = null, site_id = null, probe_id = null } = input
  if (incident_id === null) return { ...(await lockScope(trx, input, ['incident_id'])).scope, incident_id }
  if ((client_id ?? site_id ?? probe_id) !== null) {
    throw invalidRequest('/incident_id', 'cannot be combined with client_id, site_id or probe_id')
  }
  // An update that changes nothing locks the incident, so that it cannot be deleted meanwhile.
  const { numUpdatedRows } = await trx
    .updateTable('incidents')
    .set(({ ref }) => ({ title: ref('title') }))
    .where('id', '=', incident_id)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw invalidRequest('/incident_id', 'is not the id of an incident')
  return { client_id, site_id, probe_id, incident_id }
}

function timesOf(input: CreateSilence, now: number): { starts_at: number; ends_at: number } {
  const starts_at = input.starts_at === undefined ? now : Date.parse(input.starts_at)
  const latest = now + MOST_DAYS * DAY
  if (input.ends_at === undefined && input.until_resolved !== true) {
    throw invalidRequest('/ends_at', 'is required, unless until_resolved is true')
  }
  const ends_at = input.ends_at === undefined ? latest : Date.parse(input.ends_at)
  if (ends_at <= starts_at) throw invalidRequest('/ends_at', 'must be after the start')
  if (ends_at <= now) throw invalidRequest('/ends_at', 'must be in the future')
  if (ends_at > latest) throw invalidRequest('/ends_at', `must be at most ${MOST_DAYS} days from now`)
  return { starts_at, ends_at }
}

/** Returns the subject's label in its last alert, or the incident's title. */
async function labelOf(
  trx: Transaction<Tables>,
  { probe_id, incident_id }: SilenceScope,
  key: string | null,
): Promise<string | null> {
  if (incident_id !== null) {
    const of = await trx.selectFrom('incidents').select('title').where('id', '=', incident_id).executeTakeFirst()
    return of?.title ?? null
  }
  if (probe_id === null || key === null) return null
  const row = await trx
    .selectFrom('alerts')
    .select('subject_label')
    .where('probe_id', '=', probe_id)
    .where('subject', '=', key)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.subject_label ?? null
}

/**
 * Deletes a silence, which ends it. Alerts that it muted keep its id, and the audit log keeps its fields.
 *
 * @throws AppError `not_found`
 */
export async function removeSilence(ctx: Context, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx.deleteFrom('silences').where('id', '=', id).returningAll().executeTakeFirst()
    if (row === undefined) throw notFound('Silence')
    const now = ctx.clock.now()
    if (row.ends_at > now) await noteInTimelines(trx, row, 'unsilenced', ctx.actor, now)
    const before = silenceRecord(row, now)
    await writeAudit(trx, ctx, [{ entity: 'silence', verb: 'delete', id, before, after: null }])
  })
}

/**
 * Returns a page of silences, the last created first.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time
 */
export async function listSilences(
  { read }: Pick<Store, 'read'>,
  visible: Visible,
  { active_only = false, before, limit = DEFAULT_PAGE, ...scope }: SilenceQuery,
  now: number,
): Promise<Page<SilenceRecord>> {
  let query = read
    .selectFrom('silences')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  for (const condition of [...withinClients(visible, true), ...withinScope(scope, true)]) query = query.where(condition)
  if (active_only) query = query.where('starts_at', '<=', now).where('ends_at', '>', now)
  if (before !== undefined) query = query.where('id', '<', idBefore(before, 'a silence'))
  const rows = await query.execute()
  return pageOf(
    rows.map((row) => silenceRecord(row, now)),
    limit,
    ({ id }) => id,
  )
}

/** The condition for unresolved alerts in a silence. */
const isWithin =
  ({ client_id, site_id, probe_id, subject_key, incident_id }: SilenceScope & Pick<SilenceRow, 'subject_key'>) =>
  (eb: ExpressionBuilder<Tables, 'alerts'>) =>
    eb.and([
      eb('state', '<>', 'resolved'),
      ...(incident_id === null ? [] : [eb('incident_id', 'in', withParts(eb, incident_id))]),
      ...(client_id === null ? [] : [eb('client_id', '=', client_id)]),
      ...(site_id === null ? [] : [eb('site_id', '=', site_id)]),
      ...(probe_id === null ? [] : [eb('probe_id', '=', probe_id)]),
      ...(subject_key === null ? [] : [eb('subject', '=', subject_key)]),
    ])

/** Selects an incident and those that it explains. */
const withParts = (eb: ExpressionBuilder<Tables, 'alerts'>, incidentId: string) =>
  eb
    .selectFrom('incidents')
    .select('incidents.id')
    .where((of) => of.or([of('incidents.id', '=', incidentId), of('incidents.parent_id', '=', incidentId)]))

async function unresolvedWithin(
  db: Kysely<Tables>,
  scope: SilenceScope & Pick<SilenceRow, 'subject_key'>,
): Promise<number> {
  const { count } = await db
    .selectFrom('alerts')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(isWithin(scope))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Ends silences with `until_resolved` whose alerts are all resolved. Call it after alerts were resolved, and from time to time: they
 * may also have been deleted, have left the incident, or have been resolved by two transactions neither of which saw the other.
 */
export async function endResolvedSilences(trx: Transaction<Tables>, now: number): Promise<void> {
  for (const { id, starts_at } of await resolvedSilences(trx, now)) {
    // Never before its start, as its end must come after it.
    const ends_at = Math.max(now, starts_at + 1)
    await trx.updateTable('silences').set({ ends_at }).where('id', '=', id).execute()
  }
}

/** Returns silences with `until_resolved` that have not ended although all their alerts are resolved. */
export async function resolvedSilences(db: Kysely<Tables>, now: number): Promise<SilenceRow[]> {
  const silences = await db
    .selectFrom('silences')
    .selectAll()
    .where('until_resolved', '=', 1)
    .where('ends_at', '>', now)
    // Not those that were ended before their start.
    .where('ends_at', '>', sql<number>`starts_at + 1`)
    .execute()
  const resolved: SilenceRow[] = []
  for (const silence of silences) if ((await unresolvedWithin(db, silence)) === 0) resolved.push(silence)
  return resolved
}

/** Notes in the timelines of the unresolved alerts in a silence that it began or was deleted. */
async function noteInTimelines(
  trx: Transaction<Tables>,
  silence: SilenceRow,
  kind: 'silenced' | 'unsilenced',
  actor: string,
  now: number,
): Promise<void> {
  const text = kind === 'silenced' ? noteText(silence) : 'The silence was ended'
  await trx
    .insertInto('alert_events')
    .columns(['alert_id', 'id', 'at', 'kind', 'actor', 'text'])
    .expression((eb) =>
      eb
        .selectFrom('alerts')
        .select('alerts.id as alert_id')
        // In a select list PostgreSQL treats untyped parameters as text, so the number needs a cast.
        .select([
          sql<string>`${newOrderedId(now)}`.as('id'),
          sql<number>`cast(${now} as bigint)`.as('at'),
          sql<string>`${kind}`.as('kind'),
          sql<string>`${actor}`.as('actor'),
          sql<string>`${text}`.as('text'),
        ])
        .where(isWithin(silence)),
    )
    .execute()
}

function noteText({ until_resolved, starts_at, ends_at, created_at, comment }: SilenceRow): string {
  const from = starts_at > created_at ? ` from ${isoTime(starts_at)}` : ''
  const until = until_resolved === 1 ? 'until it is resolved' : `until ${isoTime(ends_at)}`
  return `Silenced${from} ${until}${comment === null ? '' : `: ${comment}`}`
}
