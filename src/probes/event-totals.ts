import { readSnapshot, sumStretches, totals } from '../analytics/index.ts'
import { GRAIN, type TimeRange } from '../rollups/index.ts'
import type { Store } from '../store/index.ts'

/** All events that a site sent in `range`, whole minutes of the last days: by hour rows where they are up to date. */
export function eventsIn(store: Pick<Store, 'reports'>, siteNo: number, range: TimeRange): Promise<number> {
  return readSnapshot(store, siteNo, range, async (snapshot) => {
    const rows = await sumStretches<never, 'total'>(snapshot, {
      table: 'event_rollups',
      stretches: [{ ...range, coarsest: GRAIN.hour }],
      by: [],
      measures: totals(['total']),
    })
    return rows.reduce((sum, { total }) => sum + total, 0)
  })
}
