import { HOUR } from '../lib/index.ts'
import type { HourlySeries } from './compare.ts'

/** No time zone is further from UTC. */
export const MOST_SHIFT_HOURS = 14
/** With fewer hours, a shift may fit by chance. */
const MIN_HOURS = 48
/** Below this, the two sides hardly count the same events, whatever the shift. */
const MIN_CORRELATION = 0.5
/** How many standard errors the best shift must be ahead of the next. */
const MARGIN = 3
/** The variance of Fisher's z is larger by this factor for rank correlations. */
const RANK_VARIANCE = 1.06
/** Fisher's z is infinite at 1. */
const MOST_CORRELATION = 0.999_999

/** How far the hours of a reference are off ours. */
export interface TimeShift {
  /** Whole hours. 1: what the source reports for 15:00 happened at 14:00 UTC. */
  hours: number
  /** Of the two series with the shift undone, 0.5–1. */
  correlation: number
  /** Of the next-best shift, −1 to 1. */
  nextCorrelation: number
  /** How many hours were compared. */
  comparedHours: number
}

/**
 * The shift in whole hours, −14 to 14, with which the reference fits our counts best; null if none is clearly better than the
 * others.
 *
 * The best shift has the largest rank correlation (Spearman 1904: Pearson's r of the ranks, ties sharing theirs). All shifts are
 * judged by the same hours of the reference. This is least squares in the ranks: the best line through the pairs leaves (1 − r²)
 * times the variance. With ranks, the hour of a big sale is one hour like any other.
 *
 * The best shift is clear if its z = atanh r (Fisher 1921) exceeds the next one's by three standard errors of a difference, √(2 ·
 * 1.06 / (n − 3)) for ranks (Fieller, Hartley and Pearson 1957). That error is for independent samples. Ours share their hours,
 * so their difference varies less, and the test errs towards finding nothing.
 *
 * @param until hours ending later are not counted yet, epoch ms
 */
export function fitTimeShift({ reference, counted, isUnknown, from }: HourlySeries, until: number): TimeShift | null {
  const reach = MOST_SHIFT_HOURS * HOUR
  const hours = [...reference.keys()].filter((hour) => hour - reach >= from && hour + reach + HOUR <= until)
  const known = hours.filter((hour) => !someHour(hour - reach, hour + reach, isUnknown))
  if (known.length < MIN_HOURS) return null
  const given = ranks(known.map((hour) => reference.get(hour) ?? 0))
  const fits: { hours: number; correlation: number }[] = []
  for (let shift = -MOST_SHIFT_HOURS; shift <= MOST_SHIFT_HOURS; shift++) {
    const ours = ranks(known.map((hour) => counted.get(hour - shift * HOUR) ?? 0))
    fits.push({ hours: shift, correlation: correlation(given, ours) })
  }
  const [best, next] = fits.sort((a, b) => b.correlation - a.correlation)
  if (best === undefined || next === undefined || best.correlation < MIN_CORRELATION) return null
  const error = Math.sqrt((2 * RANK_VARIANCE) / (known.length - 3))
  if (fisherZ(best.correlation) - fisherZ(next.correlation) < MARGIN * error) return null
  return { ...best, nextCorrelation: next.correlation, comparedHours: known.length }
}

function someHour(first: number, last: number, holds: (hour: number) => boolean): boolean {
  for (let hour = first; hour <= last; hour += HOUR) if (holds(hour)) return true
  return false
}

/** The rank of each value, from 0; equal values share their mean rank. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, index) => index).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0))
  const result = values.map(() => 0)
  for (let start = 0, end = 0; start < order.length; start = end) {
    const value = values[order[start] ?? 0]
    while (end < order.length && values[order[end] ?? 0] === value) end++
    for (const index of order.slice(start, end)) result[index] = (start + end - 1) / 2
  }
  return result
}

const fisherZ = (r: number): number => Math.atanh(Math.min(MOST_CORRELATION, Math.max(-MOST_CORRELATION, r)))

/** Pearson's r; 0 if one of the two does not vary. */
function correlation(xs: readonly number[], ys: readonly number[]): number {
  const [meanX, meanY] = [mean(xs), mean(ys)]
  let [xx, yy, xy] = [0, 0, 0]
  for (const [index, x] of xs.entries()) {
    const [dx, dy] = [x - meanX, (ys[index] ?? 0) - meanY]
    xx += dx * dx
    yy += dy * dy
    xy += dx * dy
  }
  return xx === 0 || yy === 0 ? 0 : xy / Math.sqrt(xx * yy)
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * One sentence for people; null if the hours fit, or it is not clear that they do not.
 *
 * @param offsets the zone's UTC offsets during that time, ms
 */
export function shiftInWords(shift: TimeShift | null, timezone: string, offsets: readonly number[]): string | null {
  if (shift === null || shift.hours === 0) return null
  const hours = `${shift.hours > 0 ? '+' : '−'}${Math.abs(shift.hours)} h`
  const isLocal = offsets.includes(shift.hours * HOUR)
  return `The source's hours appear to be shifted by ${hours}${isLocal ? `, like ${timezone}` : ''}: are they in local time? Send hours in UTC`
}
