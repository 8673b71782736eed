import { floorTo, HOUR } from '../../lib/index.ts'
import type { Context } from '../../management/index.ts'
import { writeReferenceCounts } from '../../reconciliation/index.ts'
import { GRAIN, type TimeRange } from '../../rollups/index.ts'
import { totalOf } from '../../store/index.ts'
import type { DemoSite } from './sites.ts'
import { FURNITURE } from './world.ts'

const SOURCE = 'shop'
const EVENT = 'purchase'
/** Of the shop's orders so many arrive: blockers take the rest. */
const CAPTURED = 0.94

/** What the furniture shop itself counted of the history, hour by hour: more than its tag server saw. */
export async function writeDemoReferences(
  ctx: Context,
  sites: readonly DemoSite[],
  { from, to }: TimeRange,
): Promise<void> {
  const site = sites.find(({ profile }) => profile === FURNITURE)
  if (site === undefined) return
  const rows = await ctx.store.read
    .selectFrom('event_rollups')
    .select(['bucket', totalOf('events').as('events')])
    .where('site_no', '=', site.row.site_no)
    .where('grain', '=', GRAIN.hour)
    .where('bucket', '>=', from)
    .where('bucket', '<', floorTo(to, HOUR))
    .where('event_name', '=', EVENT)
    .groupBy('bucket')
    .orderBy('bucket')
    .execute()
  // Orders are whole: what rounding takes from one hour the next ones get, so that the sums keep the share.
  let ordered = 0
  let counted = 0
  const counts = rows.map(({ bucket, events }) => {
    counted += events
    const count = Math.max(events, Math.round(counted / CAPTURED) - ordered)
    ordered += count
    return { source: SOURCE, event: EVENT, hour: bucket, count }
  })
  if (counts.length > 0) await writeReferenceCounts(ctx, site.row.id, counts)
}
