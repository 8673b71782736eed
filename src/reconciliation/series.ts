import { isOneOf, type Snapshot, sumStretches, totals } from '../analytics/index.ts'
import { readOutages } from '../cluster/index.ts'
import { ceilTo, floorTo, HOUR } from '../lib/index.ts'
import { GRAIN, type TimeRange } from '../rollups/index.ts'
import { countOf, type SiteRow } from '../store/index.ts'
import type { HourlySeries } from './compare.ts'
import { MOST_SHIFT_HOURS } from './time-shift.ts'

/** What is counted of one event, and by whom. */
export interface Pair {
  source: string
  event: string
}

/** What has to be read around a range: a reference may be shifted by so much. */
export const withShifts = ({ from, to }: TimeRange): TimeRange => ({
  from: floorTo(from, HOUR) - MOST_SHIFT_HOURS * HOUR,
  to: ceilTo(to, HOUR) + MOST_SHIFT_HOURS * HOUR,
})

/**
 * Reads the reference of a range, and our counts in and around it.
 *
 * @param snapshot of at least `withShifts(range)`, up to `until`
 * @param until a whole UTC hour: later ones are not counted yet
 */
export async function readSeries(
  snapshot: Snapshot,
  { created_at }: Pick<SiteRow, 'created_at'>,
  { source, event }: Pair,
  range: TimeRange,
  until: number,
): Promise<HourlySeries> {
  const reach = withShifts(range)
  const to = Math.min(reach.to, until)
  const references = await snapshot.db
    .selectFrom('reference_counts')
    .select(['bucket', countOf('total').as('total')])
    .where('site_no', '=', snapshot.siteNo)
    .where('source', '=', source)
    .where('event_name', '=', event)
    .where('bucket', '>=', range.from)
    .where('bucket', '<', range.to)
    .execute()
  const rows = await sumStretches<never, 'events'>(snapshot, {
    table: 'event_rollups',
    stretches: [{ from: reach.from, to, coarsest: GRAIN.hour }],
    by: [],
    measures: totals(['events']),
    where: isOneOf('event_name', [event]),
    slots: { length: HOUR, end: to },
  })
  const counted = new Map<number, number>()
  for (const { at, events } of rows) {
    const hour = floorTo(at, HOUR)
    counted.set(hour, (counted.get(hour) ?? 0) + events)
  }
  const outages = await readOutages(snapshot.db, reach.from, to)
  return {
    reference: new Map(references.map(({ bucket, total }) => [bucket, total])),
    counted,
    isUnknown: (hour) => hour < created_at || outages.some((outage) => outage.from < hour + HOUR && outage.to > hour),
    from: reach.from,
  }
}
