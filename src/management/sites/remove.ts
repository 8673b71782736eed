import { notFound } from '../../lib/index.ts'
import type { Context, DeletionHooks } from '../context.ts'
import { recordSiteRemovals } from '../site-removals.ts'

/**
 * Deletes a site. Afterwards nothing of it can be seen or written; its telemetry rows are removed behind it.
 *
 * @throws AppError `not_found`.
 */
export async function removeSite(ctx: Context, hooks: DeletionHooks, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const sites = await trx.deleteFrom('sites').where('id', '=', id).returningAll().execute()
    if (sites.length === 0) throw notFound('Site')
    await recordSiteRemovals(trx, ctx, hooks, sites)
  })
  await ctx.store.changes.publish({ kind: 'site', id })
}
