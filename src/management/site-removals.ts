import type { SiteRow, Tables, Transaction } from '../store/index.ts'
import { insertChunks } from './chunks.ts'
import type { Context } from './context.ts'
import { siteRecord } from './sites/record.ts'
import { writeAudit } from './write-audit.ts'

/**
 * Notes, in the transaction that deleted these sites, that their telemetry rows are still to be removed (a loop does it
 * later, in chunks, whatever their number) and who deleted them.
 */
export async function recordSiteRemovals(
  trx: Transaction<Tables>,
  ctx: Context,
  sites: readonly SiteRow[],
): Promise<void> {
  const requestedAt = ctx.clock.now()
  const removals = sites.map(({ site_no }) => ({ site_no, requested_at: requestedAt, emptied_at: null }))
  for (const chunk of insertChunks(removals)) await trx.insertInto('site_removals').values(chunk).execute()
  await writeAudit(
    trx,
    ctx,
    sites.map((site) => ({
      entity: 'site',
      verb: 'delete',
      id: site.id,
      before: siteRecord(site, null),
      after: null,
    })),
  )
}
