import { notFound } from '../../lib/index.ts'
import type { ClientRow } from '../../store/index.ts'
import { changedFields } from '../changed-fields.ts'
import type { Context } from '../context.ts'
import { lockClient } from '../locks.ts'
import { writeAudit } from '../write-audit.ts'
import { applyToClient } from './apply.ts'
import { clientRecord } from './record.ts'
import type { UpdateClient } from './schemas.ts'

/**
 * Changes the given fields. What is already so leaves no trace in the audit log.
 *
 * @throws AppError `not_found`, or `invalid_request` when limits are given that the plan does not allow.
 */
export async function updateClient(ctx: Context, id: string, patch: UpdateClient): Promise<ClientRow> {
  const { row, isChanged } = await ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockClient(trx, id)
    if (before === undefined) throw notFound('Client')
    const after = applyToClient(before, patch)
    const changed = changedFields(before, after)
    if (Object.keys(changed).length === 0) return { row: before, isChanged: false }
    await trx.updateTable('clients').set(changed).where('id', '=', id).execute()
    await writeAudit(trx, ctx, [
      { entity: 'client', verb: 'update', id, before: clientRecord(before), after: clientRecord(after) },
    ])
    return { row: after, isChanged: true }
  })
  if (isChanged) await ctx.store.changes.publish({ kind: 'client', id })
  return row
}
