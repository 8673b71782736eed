import { chunksOf, type SiteRow, type Tables, type Transaction } from '../store/index.ts'
import type { Context, DeletionHooks } from './context.ts'
import { siteRecord } from './sites/record.ts'
import { writeAudit } from './write-audit.ts'

/**
 * Does what belongs into the transaction that deleted these sites: what is theirs elsewhere goes, their telemetry rows are noted
 * to be removed (a loop does it later, in chunks, whatever their number), and so is who deleted them.
 */
export async function recordSiteRemovals(
  trx: Transaction<Tables>,
  ctx: Context,
  hooks: DeletionHooks,
  sites: readonly SiteRow[],
): Promise<void> {
  await hooks.removeOfSites(
    trx,
    sites.map(({ id }) => id),
  )
  const requestedAt = ctx.clock.now()
  const removals = sites.map(({ site_no }) => ({ site_no, requested_at: requestedAt, emptied_at: null }))
  for (const chunk of chunksOf(removals)) await trx.insertInto('site_removals').values(chunk).execute()
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
