import { type ReportContext, readSnapshot } from '../analytics/index.ts'
import { floorTo, HOUR } from '../lib/index.ts'
import { hourRowsFrom } from '../rollups/index.ts'
import type { SiteRow } from '../store/index.ts'
import { localDays } from '../uptime/index.ts'
import { type ComparedDay, type Comparison, compareDays, together } from './compare.ts'
import { type Pair, readSeries, withShifts } from './series.ts'
import { fitTimeShift, shiftInWords, type TimeShift } from './time-shift.ts'

/** Our counts against those of a source. */
export interface Reconciliation {
  /** Calendar days of the site, oldest first, today as far as its hours are over. */
  days: ComparedDay[]
  whole: Comparison
  shift: TimeShift | null
  /** What people should know of the shift, or null. */
  shiftWords: string | null
}

/** @param count days that are compared, today among them */
export async function reconcile(
  context: ReportContext,
  site: Pick<SiteRow, 'site_no' | 'timezone' | 'created_at'>,
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
  const compared = compareDays(days, series, until)
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
