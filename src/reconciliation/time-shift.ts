import { HOUR } from '../lib/index.ts'
import type { HourlySeries } from './compare.ts'

/** A zone is at most so far from UTC. */
export const MOST_SHIFT_HOURS = 14
/** Fewer hours look alike by chance. */
const MIN_HOURS = 48
/** Below this the two are hardly the same events, however they are moved. */
const MIN_CORRELATION = 0.5
/** Standard errors between the best shift and the next. */
const MARGIN = 3
/** By which the variance of z is larger for ranks. */
const RANK_VARIANCE = 1.06
/** Fisher's z is endless at 1. */
const MOST_CORRELATION = 0.999_999

/** By how much the hours of a reference are late against ours. */
export interface TimeShift {
  /** Whole hours; 1: what is in the source's 15:00 happened at 14:00 UTC. */
  hours: number
  /** Of the two series with the shift taken back, 0.5–1. */
  correlation: number
  /** Of the best of the other shifts, −1 to 1. */
  nextCorrelation: number
  /** Hours that were compared. */
  comparedHours: number
}

/**
 * The shift of whole hours, −14 to 14, with which the reference follows our counts best; null where none is clearly better than the others.
 *
 * The best has the largest rank correlation (Spearman 1904: Pearson's r of the ranks, equal ones sharing theirs), all shifts judged by the same
 * hours of the reference. It is least squares in the ranks: of all lines through the pairs the residual is (1 − r²) times the variance. By ranks
 * one hour of a sale is one hour, however large. The best is clear when its z = atanh r (Fisher 1921) is three standard errors of a
 * difference, √(2 · 1.06 / (n − 3)) for ranks (Fieller, Hartley and Pearson 1957), above the next one's. That error is of independent
 * samples; these share their hours and vary less against each other, so it errs towards saying nothing.
 *
 * @param until hours that end later are not counted yet, epoch ms
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

/** The place of each value among all, from 0; equal ones have the middle of theirs. */
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

/** Pearson's; 0 where one of the two does not vary. */
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
 * One sentence for people; null where the hours fit, or it is not clear that they do not.
 *
 * @param offsets those of the site's zone in that time, ms
 */
export function shiftInWords(shift: TimeShift | null, timezone: string, offsets: readonly number[]): string | null {
  if (shift === null || shift.hours === 0) return null
  const hours = `${shift.hours > 0 ? '+' : '−'}${Math.abs(shift.hours)} h`
  const isLocal = offsets.includes(shift.hours * HOUR)
  return `The source's hours look shifted by ${hours}${isLocal ? `, as ${timezone} is` : ''}: is it local time? Send hours in UTC`
}
