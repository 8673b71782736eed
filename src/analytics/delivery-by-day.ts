import { GRAIN, type TimeRange } from '../rollups/index.ts'
import type { SiteRow } from '../store/index.ts'
import { type ReportContext, readSnapshot } from './snapshot.ts'
import { sumRollups, totals } from './sums.ts'
import { windowOf } from './window.ts'

/** The events of a period, and its tag executions. */
export interface DayDelivery {
  events: number
  executions: number
  successes: number
}

/**
 * A site's delivery in each of these consecutive periods, oldest first. Read in one snapshot, from the coarsest rows that serve.
 * All zero for periods whose counts are no longer kept.
 */
export async function deliveryByDay(
  context: ReportContext,
  site: SiteRow,
  days: readonly TimeRange[],
): Promise<DayDelivery[]> {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  const { rows } = windowOf(context, site, { from: first.from, to: last.to })
  return readSnapshot(context.store, site.site_no, { from: first.from, to: last.to }, async (snapshot) => {
    const deliveries: DayDelivery[] = []
    for (const day of days) {
      const read = { siteNo: site.site_no, segments: snapshot.segments(day, rows(GRAIN.hour)), by: [] }
      const events = await sumRollups(snapshot.db, { ...read, table: 'event_rollups', measures: EVENTS })
      const tags = await sumRollups(snapshot.db, {
        ...read,
        table: 'tag_rollups',
        measures: RUNS,
      })
      deliveries.push({
        events: sumOf(events, 'total'),
        executions: sumOf(tags, 'executions'),
        successes: sumOf(tags, 'success'),
      })
    }
    return deliveries
  })
}

const EVENTS = totals(['total'])
const RUNS = totals(['executions', 'success'])

const sumOf = <K extends string>(rows: readonly Record<K, number>[], name: K): number =>
  rows.reduce((sum, row) => sum + row[name], 0)
