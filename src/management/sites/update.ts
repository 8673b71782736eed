import { notFound } from '../../lib/index.ts'
import type { SiteRow } from '../../store/index.ts'
import { changedFields } from '../changed-fields.ts'
import type { Context } from '../context.ts'
import { lockSite } from '../locks.ts'
import { writeAudit } from '../write-audit.ts'
import { applyToSite } from './apply.ts'
import { siteRecord } from './record.ts'
import type { UpdateSite } from './schemas.ts'

/**
 * Changes the given fields. What is already so leaves no trace in the audit log.
 *
 * @throws AppError `not_found`.
 */
export async function updateSite(ctx: Context, id: string, patch: UpdateSite): Promise<SiteRow> {
  const { row, isChanged } = await ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockSite(trx, id)
    if (before === undefined) throw notFound('Site')
    const after = applyToSite(before, patch)
    const changed = changedFields(before, after)
    if (Object.keys(changed).length === 0) return { row: before, isChanged: false }
    await trx.updateTable('sites').set(changed).where('id', '=', id).execute()
    await writeAudit(trx, ctx, [
      { entity: 'site', verb: 'update', id, before: siteRecord(before, null), after: siteRecord(after, null) },
    ])
    return { row: after, isChanged: true }
  })
  if (isChanged) await ctx.store.changes.publish({ kind: 'site', id })
  return row
}
