import { type Context, writeAudit } from '../../management/index.ts'
import type { MaintenanceRow, Tables, Transaction } from '../../store/index.ts'
import { maintenanceRecord } from './record.ts'

/** Writes who created, changed or deleted maintenance. */
export async function auditMaintenance(
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

/** What people set. What follows from it and the time of day is left out; lists are texts, as values are compared as they are. */
function auditFields(row: MaintenanceRow) {
  const { next_occurrence, is_under_way, weekdays, ...fields } = maintenanceRecord(row, 0)
  return { ...fields, weekdays: weekdays?.join(', ') ?? null }
}
