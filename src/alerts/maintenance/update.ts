import { notFound } from '../../lib/index.ts'
import type { Context } from '../../management/index.ts'
import type { MaintenanceRow, Tables, Transaction } from '../../store/index.ts'
import { applyToMaintenance } from './apply.ts'
import { auditMaintenance } from './audit.ts'
import type { UpdateMaintenance } from './schemas.ts'

/**
 * Changes the given fields; what it applies to and its kind stay. What is already so leaves no trace in the audit log. An end
 * may be set to the past: work that is done early is over.
 *
 * @throws AppError `not_found`, or `invalid_request` naming fields that its kind does not have or an end that cannot be.
 */
export async function updateMaintenance(ctx: Context, id: string, patch: UpdateMaintenance): Promise<MaintenanceRow> {
  return ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockMaintenance(trx, id)
    if (before === undefined) throw notFound('Maintenance')
    const after = applyToMaintenance(before, patch)
    const changed = changedColumns(before, after)
    if (Object.keys(changed).length === 0) return before
    await trx.updateTable('maintenance').set(changed).where('id', '=', id).execute()
    await auditMaintenance(trx, ctx, 'update', before, after)
    return after
  })
}

/** The update that changes nothing is the row lock that both engines understand. */
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
