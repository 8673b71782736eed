import { median, type TimeRange } from '../../detection/index.ts'
import { DAY, duration } from '../../lib/index.ts'
import type { Alarm } from './alarms.ts'
import type { Label } from './labels.ts'

/** How alarms compare with known faults. */
export interface Score {
  readonly found: number
  readonly missed: number
  /** Faults before the first row or after the last, which no alarm could find. */
  readonly outside: number
  /** Median of the found faults' time from their beginning to the end of the first bad row, ms; null when none was found. */
  readonly timeToDetect: number | null
  readonly falseAlarms: number
  /** Per 30 days, for all series together. */
  readonly falseAlarmsAMonth: number
}

/**
 * Compares alarms with labels. A fault is found when an alarm of its series overlaps it; an alarm is false when it overlaps no fault
 * of its series.
 *
 * @param rows from the start of the first row to the end of the last
 */
export function scoreOf(alarms: readonly Alarm[], labels: readonly Label[], rows: TimeRange): Score {
  const inside = labels.filter(({ from, to }) => to >= rows.from && from < rows.to)
  const ofSeries = Map.groupBy(
    alarms.toSorted((a, b) => a.from - b.from),
    ({ series }) => series,
  )
  const delays = inside.flatMap((label) => delayOf(label, ofSeries) ?? [])
  const falseAlarms = Array.from(ofSeries, ([series, own]) => {
    const faults = joined(inside.filter((label) => label.series === null || label.series === series))
    return own.filter((alarm) => !isAmong(alarm, faults)).length
  }).reduce((sum, count) => sum + count, 0)
  return {
    found: delays.length,
    missed: inside.length - delays.length,
    outside: labels.length - inside.length,
    timeToDetect: delays.length === 0 ? null : median(delays),
    falseAlarms,
    falseAlarmsAMonth: falseAlarms / ((rows.to - rows.from) / (30 * DAY)),
  }
}

/** Time from the fault's beginning until an alarm showed it, ms; null when none did. */
function delayOf({ series, from, to }: Label, ofSeries: ReadonlyMap<string, readonly Alarm[]>): number | null {
  const candidates = series === null ? [...ofSeries.values()] : [ofSeries.get(series) ?? []]
  const known = candidates.flatMap((alarms) => {
    const first = alarms[firstWhere(alarms, (alarm) => alarm.to > from)]
    return first === undefined || first.from > to ? [] : Math.max(0, first.knownAt - from)
  })
  return known.length === 0 ? null : known.reduce((least, delay) => Math.min(least, delay))
}

/** The union of the ranges, in order and without overlaps. */
function joined(ranges: readonly TimeRange[]): TimeRange[] {
  const whole: TimeRange[] = []
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = whole.at(-1)
    if (last === undefined || from > last.to) whole.push({ from, to })
    else whole[whole.length - 1] = { from: last.from, to: Math.max(last.to, to) }
  }
  return whole
}

function isAmong({ from, to }: Alarm, faults: readonly TimeRange[]): boolean {
  const fault = faults[firstWhere(faults, (one) => one.to >= from)]
  return fault !== undefined && fault.from < to
}

/** Binary search: the index of the first element for which `holds` is true (it is for all after it too), or the length if none. */
function firstWhere<T>(ordered: readonly T[], holds: (one: T) => boolean): number {
  let [low, high] = [0, ordered.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const one = ordered[middle]
    if (one !== undefined && holds(one)) high = middle
    else low = middle + 1
  }
  return low
}

/** The score for people, one figure per line. */
export function scoreLines(score: Score): string[] {
  const { found, missed, outside, timeToDetect, falseAlarms, falseAlarmsAMonth } = score
  return [
    `faults: ${found + missed}, found ${found}, missed ${missed}`,
    `median time to detect: ${timeToDetect === null ? 'none found' : duration(timeToDetect)}`,
    `false alarms: ${falseAlarms}, ${Number(falseAlarmsAMonth.toPrecision(2))} in 30 days`,
    ...(outside === 0 ? [] : [`labels outside the rows, which do not count: ${outside}`]),
  ]
}
