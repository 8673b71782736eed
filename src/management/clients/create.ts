import { newId } from '../../lib/index.ts'
import type { ClientRow } from '../../store/index.ts'
import type { Context } from '../context.ts'
import type { Plan } from '../plans.ts'
import { writeAudit } from '../write-audit.ts'
import { applyToClient } from './apply.ts'
import { clientRecord } from './record.ts'
import type { CreateClient } from './schemas.ts'

/** @throws AppError `invalid_request` when limits are given that the plan does not allow. */
export async function createClient(ctx: Context, defaultPlan: Plan, input: CreateClient): Promise<ClientRow> {
  const blank: ClientRow = {
    id: newId(),
    name: input.name,
    email: null,
    chat_webhook: null,
    is_active: 1,
    plan: defaultPlan,
    requests_per_second: null,
    events_per_month: null,
    reminder_minutes: null,
    notify_resolved: 1,
    notify_escalated: 1,
    digest: 'off',
    created_at: ctx.clock.now(),
  }
  const row = applyToClient(blank, input)
  await ctx.store.write.transaction().execute(async (trx) => {
    await trx.insertInto('clients').values(row).execute()
    await writeAudit(trx, ctx, [
      { entity: 'client', verb: 'create', id: row.id, before: null, after: clientRecord(row) },
    ])
  })
  await ctx.store.changes.publish({ kind: 'client', id: row.id })
  return row
}
