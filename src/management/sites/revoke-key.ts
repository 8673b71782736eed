import { notFound } from '../../lib/index.ts'
import type { SiteRow } from '../../store/index.ts'
import type { Context } from '../context.ts'
import { lockSite } from '../locks.ts'
import { writeAudit } from '../write-audit.ts'
import { siteRecord } from './record.ts'

/**
 * Revokes a site's ingest key for good. A key already revoked keeps its first time.
 *
 * @throws AppError `not_found`.
 */
export async function revokeKey(ctx: Context, id: string): Promise<SiteRow> {
  const { row, isChanged } = await ctx.store.write.transaction().execute(async (trx) => {
    const before = await lockSite(trx, id)
    if (before === undefined) throw notFound('Site')
    if (before.key_revoked_at !== null) return { row: before, isChanged: false }
    const after: SiteRow = { ...before, key_revoked_at: ctx.clock.now() }
    await trx.updateTable('sites').set({ key_revoked_at: after.key_revoked_at }).where('id', '=', id).execute()
    await writeAudit(trx, ctx, [
      { entity: 'site', verb: 'revoke_key', id, before: siteRecord(before, null), after: siteRecord(after, null) },
    ])
    return { row: after, isChanged: true }
  })
  if (isChanged) await ctx.store.changes.publish({ kind: 'site', id })
  return row
}
