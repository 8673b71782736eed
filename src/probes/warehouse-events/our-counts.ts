import { readSnapshot, sumStretches } from '../../analytics/index.ts'
import { readOutages } from '../../cluster/index.ts'
import { readPauses } from '../../management/index.ts'
import { GRAIN, type TimeRange } from '../../rollups/index.ts'
import type { SiteRow, Store } from '../../store/index.ts'
import { lengthOf, within } from '../../uptime/index.ts'

/** A day of which this service missed more is not compared: what the warehouse has in addition would look like a fault. */
export const LEFT_OUT_SHARE = 0.01

/** How much of `range` this service was down, or the site was paused, ms. */
export async function uncountedIn({ read }: Pick<Store, 'read'>, site: SiteRow, range: TimeRange): Promise<number> {
  const { from, to } = range
  const gaps = [...(await readOutages(read, from, to)), ...(await readPauses(read, site, from, to))]
  return lengthOf(within([range], gaps))
}

/** Counts all events of a site in `range`, whole minutes of the last days. Uses hour rows as far as they are up to date. */
export function eventsIn(store: Pick<Store, 'reports'>, siteNo: number, range: TimeRange): Promise<number> {
  return readSnapshot(store, siteNo, range, async (snapshot) => {
    const rows = await sumStretches<never, 'total'>(snapshot, {
      table: 'event_rollups',
      stretches: [{ ...range, coarsest: GRAIN.hour }],
      by: [],
      columns: ['total'],
    })
    return rows.reduce((sum, { total }) => sum + total, 0)
  })
}
