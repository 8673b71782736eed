import { isOneOf, type ReportContext, readSnapshot, type Snapshot, sumStretches } from '../analytics/index.ts'
import { readOutages } from '../cluster/index.ts'
import { ceilTo, floorTo, HOUR } from '../lib/index.ts'
import { readPauses } from '../management/index.ts'
import { GRAIN, hourRowsFrom, type TimeRange } from '../rollups/index.ts'
import { countOf, type SiteRow } from '../store/index.ts'
import { localDays } from '../uptime/index.ts'
import { type ComparedDay, type Comparison, compareDays, type HourlySeries, together } from './compare.ts'
import { fitTimeShift, MOST_SHIFT_HOURS, shiftInWords, type TimeShift } from './time-shift.ts'

/** An event, and the source that counts it. */
export interface Pair {
  source: string
  event: string
}

/** A range widened to whole hours and by the largest shift a reference may have: what comparing it has to read. */
export const withShifts = ({ from, to }: TimeRange): TimeRange => ({
  from: floorTo(from, HOUR) - MOST_SHIFT_HOURS * HOUR,
  to: ceilTo(to, HOUR) + MOST_SHIFT_HOURS * HOUR,
})

/**
 * Reads the reference of a range, and our counts in it and around it.
 *
 * @param snapshot covers at least `withShifts(range)`, up to `until`
 * @param until start of a UTC hour: from there on nothing is counted yet
 */
export async function readSeries(
  snapshot: Snapshot,
  site: Pick<SiteRow, 'id' | 'client_id' | 'created_at'>,
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
    columns: ['events'],
    where: isOneOf('event_name', [event]),
    slots: { length: HOUR, end: to },
  })
  const counted = new Map<number, number>()
  for (const { at, events } of rows) {
    const hour = floorTo(at, HOUR)
    counted.set(hour, (counted.get(hour) ?? 0) + events)
  }
  const outages = await readOutages(snapshot.db, reach.from, to)
  const pauses = await readPauses(snapshot.db, site, reach.from, to)
  const gaps = [...outages, ...pauses]
  return {
    reference: new Map(references.map(({ bucket, total }) => [bucket, total])),
    counted,
    isUnknown: (hour) => hour < site.created_at || gaps.some((gap) => gap.from < hour + HOUR && gap.to > hour),
    from: reach.from,
  }
}

/** Our counts compared with those of a source. */
export interface Reconciliation {
  /** Calendar days of the site's time zone, oldest first, today up to its last completed hour. */
  days: ComparedDay[]
  whole: Comparison
  shift: TimeShift | null
  /** What to tell people about the shift; null for nothing. */
  shiftWords: string | null
}

/** @param count how many days to compare, today included */
export async function reconcile(
  context: ReportContext,
  site: Pick<SiteRow, 'site_no' | 'id' | 'client_id' | 'timezone' | 'created_at'>,
  pair: Pair,
  count: number,
): Promise<Reconciliation> {
  const now = context.clock.now()
  const until = floorTo(now, HOUR)
  const days = localDays(site.timezone, now, count)
  const range = { from: days[0]?.from ?? until, to: days.at(-1)?.to ?? until }
  const kept = hourRowsFrom(now, context.retention)
  const reach = withShifts(range)
  const series = await readSnapshot(
    context.store,
    site.site_no,
    { from: Math.max(reach.from, kept), to: reach.to },
    (snapshot) => readSeries(snapshot, site, pair, range, until),
    context.limits,
  )
  // Counts of both sides are deleted together: a source did not fail to report an hour of before.
  const isUnknown = (hour: number) => hour < kept || series.isUnknown(hour)
  const compared = compareDays(days, { ...series, isUnknown }, until)
  const shift = fitTimeShift({ ...series, from: Math.max(series.from, kept) }, until)
  return {
    days: compared,
    whole: together(compared),
    shift,
    shiftWords: shiftInWords(shift, site.timezone, offsetsOf(days)),
  }
}

/** How far the zone's clocks are ahead of UTC on these days, ms. */
export const offsetsOf = (days: readonly { day: string; from: number }[]): number[] => [
  ...new Set(days.map(({ day, from }) => Date.parse(`${day}T00:00:00Z`) - from)),
]
