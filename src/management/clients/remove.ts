import { notFound } from '../../lib/index.ts'
import type { Context, DeletionHooks } from '../context.ts'
import { lockClient } from '../locks.ts'
import { recordSiteRemovals } from '../site-removals.ts'
import { writeAudit } from '../write-audit.ts'
import { clientRecord } from './record.ts'

/**
 * Deletes a client with its sites and usage. Afterwards nothing of it can be seen or written; the sites' telemetry rows
 * are removed behind it.
 *
 * @throws AppError `not_found`.
 */
export async function removeClient(ctx: Context, hooks: DeletionHooks, id: string): Promise<void> {
  const siteIds = await ctx.store.write.transaction().execute(async (trx) => {
    const client = await lockClient(trx, id)
    if (client === undefined) throw notFound('Client')
    const sites = await trx.deleteFrom('sites').where('client_id', '=', id).returningAll().execute()
    await recordSiteRemovals(trx, ctx, hooks, sites)
    await hooks.removeOfClient(trx, id)
    await trx.deleteFrom('status_links').where('client_id', '=', id).execute()
    await trx.deleteFrom('client_usage').where('client_id', '=', id).execute()
    await trx.deleteFrom('clients').where('id', '=', id).execute()
    await writeAudit(trx, ctx, [{ entity: 'client', verb: 'delete', id, before: clientRecord(client), after: null }])
    return sites.map((site) => site.id)
  })
  await ctx.store.changes.publish({ kind: 'client', id })
  for (const siteId of siteIds) await ctx.store.changes.publish({ kind: 'site', id: siteId })
}
