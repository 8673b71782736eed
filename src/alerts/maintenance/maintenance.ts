import { DEFAULT_PAGE, idBefore, type Page, pageOf, type Visible } from '../../http/index.ts'
import { AppError, DAY, invalidRequest, newOrderedId, notFound } from '../../lib/index.ts'
import { type Context, requireNewName, writeAudit } from '../../management/index.ts'
import type { MaintenanceRow, Store, Tables, Transaction } from '../../store/index.ts'
import { requireMuteRoom } from '../mute-room.ts'
import { lockScope, withinClients, withinScope } from '../scope.ts'
import { moveEnds } from './move-ends.ts'
import {
  type CreateMaintenance,
  DEFAULT_TITLE,
  type MaintenanceQuery,
  type MaintenanceRecord,
  maintenanceRecord,
  type UpdateMaintenance,
} from './schemas.ts'

/**
 * Creates maintenance.
 *
 * @throws AppError `invalid_request` naming the fault: not exactly one scope, an unknown one, fields that its kind lacks or does
 * not have, an impossible end; `conflict` when the client has no room for more, or there is one of the title and only a new one is
 * wanted
 */
export async function createMaintenance(ctx: Context, input: CreateMaintenance): Promise<MaintenanceRow> {
  const now = ctx.clock.now()
  const { client_id, site_id, probe_id, kind, ...fields } = input
  return ctx.store.write.transaction().execute(async (trx) => {
    const { scope, timezone } = await lockScope(trx, { client_id, site_id, probe_id })
    const blank = {
      ...blankOf(kind, timezone),
      ...scope,
      id: newOrderedId(now),
      created_at: now,
      created_by: ctx.actor,
    }
    const row = applyToMaintenance(blank, fields)
    // What is over is history and may have the same title.
    const ofOwner = trx
      .selectFrom('maintenance')
      .select('id')
      .where(({ and }) => and(Object.fromEntries(Object.entries(scope).filter(([, owner]) => owner !== null))))
      .where(({ eb, or }) => or([eb('ends_at', 'is', null), eb('ends_at', '>', now)]))
    await requireNewName(ctx, ofOwner.where('title', '=', row.title), 'title')
    if (row.ends_at !== null && row.ends_at <= now) throw invalidRequest('/ends_at', 'must be in the future')
    await requireMuteRoom(trx, 'maintenance', scope, now)
    await trx.insertInto('maintenance').values(row).execute()
    await auditMaintenance(trx, ctx, 'create', null, row)
    return row
  })
}

/**
 * Changes the given fields; scope and kind stay. Unchanged values leave no trace in the audit log. An end may be set to the past,
 * because work may finish early.
 *
 * @throws AppError `not_found`; `conflict` when one that has ended is reopened and there is no room; `invalid_request` naming
 * fields that its kind does not have or an impossible end
 */
export async function updateMaintenance(ctx: Context, id: string, patch: UpdateMaintenance): Promise<MaintenanceRow> {
  return ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockMaintenance(trx, id)
    if (before === undefined) throw notFound('Maintenance')
    const after = applyToMaintenance(before, patch)
    const changed = changedColumns(before, after)
    if (Object.keys(changed).length === 0) return before
    const now = ctx.clock.now()
    if (before.ends_at !== null && before.ends_at <= now) await requireMuteRoom(trx, 'maintenance', before, now)
    await trx.updateTable('maintenance').set(changed).where('id', '=', id).execute()
    await moveEnds(trx, before, now)
    await auditMaintenance(trx, ctx, 'update', before, after)
    return after
  })
}

/** An update that changes nothing locks the row on both engines. */
async function lockMaintenance(trx: Transaction<Tables>, id: string): Promise<MaintenanceRow | undefined> {
  return trx
    .updateTable('maintenance')
    .set(({ ref }) => ({ title: ref('title') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

const SETTABLE = [
  'title',
  'is_active',
  'starts_at',
  'ends_at',
  'weekdays',
  'start',
  'duration_minutes',
  'timezone',
] as const

const changedColumns = (before: MaintenanceRow, after: MaintenanceRow): Partial<MaintenanceRow> =>
  Object.fromEntries(SETTABLE.filter((field) => before[field] !== after[field]).map((field) => [field, after[field]]))

/**
 * Deletes maintenance, which ends it. Results and alerts that name it keep its id, and the audit log keeps its fields.
 *
 * @throws AppError `not_found`
 */
export async function removeMaintenance(ctx: Context, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx.deleteFrom('maintenance').where('id', '=', id).returningAll().executeTakeFirst()
    if (row === undefined) throw notFound('Maintenance')
    await moveEnds(trx, row, ctx.clock.now())
    await auditMaintenance(trx, ctx, 'delete', row, null)
  })
}

/**
 * Returns a page of maintenance, the last created first.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time
 */
export async function listMaintenance(
  { read }: Pick<Store, 'read'>,
  visible: Visible,
  { active_only = false, before, limit = DEFAULT_PAGE, ...scope }: MaintenanceQuery,
  now: number,
): Promise<Page<MaintenanceRecord>> {
  let query = read
    .selectFrom('maintenance')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  for (const condition of [...withinClients(visible), ...withinScope(scope)]) query = query.where(condition)
  if (active_only) {
    query = query
      .where('is_active', '=', 1)
      .where(({ eb, or }) => or([eb('kind', '=', 'weekly'), eb('ends_at', '>', now)]))
  }
  if (before !== undefined) query = query.where('id', '<', idBefore(before, 'maintenance'))
  const rows = await query.execute()
  return pageOf(
    rows.map((row) => maintenanceRecord(row, now)),
    limit,
    ({ id }) => id,
  )
}

const blankOf = (kind: CreateMaintenance['kind'], timezone: string): MaintenanceRow => ({
  ...{ id: '', client_id: null, site_id: null, probe_id: null },
  ...{ title: DEFAULT_TITLE, kind, is_active: 1, starts_at: null, ends_at: null },
  ...{ weekdays: null, start: null, duration_minutes: null, timezone: kind === 'weekly' ? timezone : null },
  ...{ created_at: 0, created_by: '' },
})

/**
 * Checks all fields of new or changed maintenance.
 *
 * @throws AppError `invalid_request` naming fields that its kind lacks or does not have, or an impossible end
 */
export function checkMaintenance(kind: CreateMaintenance['kind'], fields: UpdateMaintenance): void {
  applyToMaintenance(blankOf(kind, 'UTC'), fields)
}

/** A leap year. */
const MOST_DAYS = 366

const FIELDS = {
  once: ['starts_at', 'ends_at'],
  weekly: ['weekdays', 'start', 'duration_minutes', 'timezone'],
} as const

/**
 * Returns the row, stored or new, with `input` applied to it.
 *
 * @throws AppError `invalid_request` naming fields that its kind lacks or does not have, or an impossible end
 */
function applyToMaintenance(row: MaintenanceRow, input: UpdateMaintenance): MaintenanceRow {
  const { title, is_active, starts_at, ends_at, weekdays, ...others } = input
  const isOnce = row.kind === 'once'
  const foreign = FIELDS[isOnce ? 'weekly' : 'once'].filter((field) => input[field] !== undefined)
  if (foreign.length > 0) {
    throw refused(foreign, `is a field of ${isOnce ? 'weekly maintenance' : 'one-time maintenance'}`)
  }
  const after: MaintenanceRow = {
    ...row,
    ...others,
    title: title === undefined ? row.title : title.trim(),
    is_active: is_active === undefined ? row.is_active : Number(is_active),
    starts_at: starts_at === undefined ? row.starts_at : Date.parse(starts_at),
    ends_at: ends_at === undefined ? row.ends_at : Date.parse(ends_at),
    weekdays: weekdays === undefined ? row.weekdays : JSON.stringify([...new Set(weekdays)].sort()),
  }
  const missing = FIELDS[isOnce ? 'once' : 'weekly'].filter((field) => after[field] === null)
  if (missing.length > 0) throw refused(missing, `is required for kind ${row.kind}`)
  if (after.starts_at !== null && after.ends_at !== null) requireOrder(after.starts_at, after.ends_at)
  return after
}

function requireOrder(startsAt: number, endsAt: number): void {
  if (endsAt <= startsAt) throw invalidRequest('/ends_at', 'must be after the start')
  if (endsAt > startsAt + MOST_DAYS * DAY) {
    throw invalidRequest('/ends_at', `must be at most ${MOST_DAYS} days after starts_at`)
  }
}

function refused(fields: readonly string[], message: string): AppError {
  const details = fields.map((field) => ({ path: `/${field}`, message }))
  return new AppError('invalid_request', details.map(({ path }) => `${path} ${message}`).join('; '), details)
}

/** Writes to the audit log who created, changed or deleted maintenance. */
async function auditMaintenance(
  trx: Transaction<Tables>,
  ctx: Context,
  verb: 'create' | 'update' | 'delete',
  before: MaintenanceRow | null,
  after: MaintenanceRow | null,
): Promise<void> {
  const id = (after ?? before)?.id
  if (id === undefined) return
  await writeAudit(trx, ctx, [
    { entity: 'maintenance', verb, id, before: before && auditFields(before), after: after && auditFields(after) },
  ])
}

/**
 * Returns the fields that people set, without those derived from the time. A list becomes text, because the audit log compares
 * values with `===`.
 */
function auditFields(row: MaintenanceRow) {
  const { next_occurrence, is_under_way, weekdays, ...fields } = maintenanceRecord(row, 0)
  return { ...fields, weekdays: weekdays?.join(', ') ?? null }
}
