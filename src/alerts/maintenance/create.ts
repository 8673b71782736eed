import { invalidRequest, newOrderedId } from '../../lib/index.ts'
import type { Context } from '../../management/index.ts'
import type { MaintenanceRow } from '../../store/index.ts'
import { lockScope } from '../scope.ts'
import { applyToMaintenance } from './apply.ts'
import { auditMaintenance } from './audit.ts'
import { type CreateMaintenance, DEFAULT_TITLE } from './schemas.ts'

/**
 * @throws AppError `invalid_request` naming the fault: not exactly one scope, an unknown one, fields that the kind lacks or does
 * not have, an end that cannot be.
 */
export async function createMaintenance(ctx: Context, input: CreateMaintenance): Promise<MaintenanceRow> {
  const now = ctx.clock.now()
  const { client_id, site_id, probe_id, kind, ...fields } = input
  return ctx.store.write.transaction().execute(async (trx) => {
    const { scope, timezone } = await lockScope(trx, { client_id, site_id, probe_id })
    const blank: MaintenanceRow = {
      id: newOrderedId(now),
      ...scope,
      title: fields.title ?? DEFAULT_TITLE,
      kind,
      is_active: 1,
      starts_at: null,
      ends_at: null,
      weekdays: null,
      start: null,
      duration_minutes: null,
      timezone: kind === 'weekly' ? timezone : null,
      created_at: now,
      created_by: ctx.actor,
    }
    const row = applyToMaintenance(blank, fields)
    if (row.ends_at !== null && row.ends_at <= now) throw invalidRequest('/ends_at', 'must be in the future')
    await trx.insertInto('maintenance').values(row).execute()
    await auditMaintenance(trx, ctx, 'create', null, row)
    return row
  })
}
