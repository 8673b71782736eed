import { burstSizeOfWeeks } from './burst.ts'
import { median, sum } from './statistics.ts'
import { HOURS_A_DAY, HOURS_A_WEEK, type WeekHours } from './time.ts'

/** An hour is special if it, with the hours around it, differs from the weeks' median by this factor … */
const RATIO = 1.6
/** … and by this many standard deviations, with bursts of at least … */
const Z = 4
const LEAST_BURST = 3
/** … and a level that differs by this share from week to week. */
const LEVEL = 0.1
/** Bursts that are needed to show what is special; hours are combined until they have as many. */
const BURSTS = 10
const HOURS_TOGETHER = [3, 6, 12] as const
const LEAST_WEEKS = 3

/**
 * Returns 1 for known hours that were no campaign, outage or holiday, by the median of the same hours of all weeks. What is
 * special in most weeks is usual.
 */
export function usualHours(counts: Float64Array, hours: WeekHours): Uint8Array {
  const { isKnown } = hours
  const isUsual = Uint8Array.from(isKnown)
  const mean = sum(counts) / Math.max(1, sum(isKnown))
  if (mean === 0) return isUsual
  const sizes = burstSizeOfWeeks(weeksOf(counts, hours))
  const burst = Math.max(LEAST_BURST, sizes.usual)
  const telling = BURSTS * Math.max(LEAST_BURST, sizes.least)
  const together = HOURS_TOGETHER.find((length) => length * mean >= BURSTS * burst) ?? HOURS_A_DAY
  const isSpecial = specialHours(sumsAround(counts, together), hours, burst, telling)
  const [known, special] = [weeksMarked(isKnown, hours), weeksMarked(isSpecial, hours)]
  for (const [index, mark] of isSpecial.entries()) {
    const place = hours.places[index] ?? 0
    if (mark === 1 && 2 * (special[place] ?? 0) <= (known[place] ?? 0)) isUsual[index] = 0
  }
  return isUsual
}

/** @param telling when at least so many are usual, an hour without any is special, however much the weeks differ */
function specialHours(
  around: Float64Array,
  { length, places, isKnown }: WeekHours,
  burst: number,
  telling: number,
): Uint8Array {
  const isSpecial = new Uint8Array(length)
  const medians = mediansOfPlaces(around, places, isKnown)
  for (let index = 0; index < length; index++) {
    if (isKnown[index] === 0) continue
    const own = around[index] ?? 0
    const usual = medians[places[index] ?? 0] ?? Number.NaN
    if (Number.isNaN(usual)) continue
    const ratio = Math.max(own, 1) / Math.max(usual, 1)
    if (ratio < RATIO && ratio > 1 / RATIO) continue
    const level = LEVEL * usual
    const isNone = own === 0 && usual >= telling
    const isFarOff = Math.abs(own - usual) > Z * Math.sqrt(burst * Math.max(1, usual) + level * level)
    if (isNone || isFarOff) isSpecial[index] = 1
  }
  return isSpecial
}

/** By the hour of the local week, because UTC hours shift when clocks change. NaN when too few weeks are known. */
function mediansOfPlaces(around: Float64Array, places: Uint8Array, isKnown: Uint8Array): number[] {
  const same = Array.from({ length: HOURS_A_WEEK }, (): number[] => [])
  for (const [index, place] of places.entries()) if (isKnown[index] === 1) same[place]?.push(around[index] ?? 0)
  return same.map((counts) => (counts.length < LEAST_WEEKS ? Number.NaN : median(counts)))
}

/** In how many weeks each hour of the local week is marked. */
function weeksMarked(marks: Uint8Array, { places }: WeekHours): Uint8Array {
  const weeks = new Uint8Array(HOURS_A_WEEK)
  for (const [index, place] of places.entries()) weeks[place] = (weeks[place] ?? 0) + (marks[index] ?? 0)
  return weeks
}

/** Sums of each hour and the hours around it, `together` hours in all. */
function sumsAround(counts: Float64Array, together: number): Float64Array {
  const before = new Float64Array(counts.length + 1)
  for (const [index, count] of counts.entries()) before[index + 1] = (before[index] ?? 0) + count
  return counts.map((_, index) => {
    const end = Math.min(counts.length, index + Math.ceil(together / 2))
    return (before[end] ?? 0) - (before[Math.max(0, index - Math.floor(together / 2))] ?? 0)
  })
}

/** Counts of each week by the hour of the local week; NaN when unknown. */
function weeksOf(counts: Float64Array, { places, isKnown }: WeekHours): Float64Array[] {
  const weeks: Float64Array[] = []
  for (let start = 0; start < counts.length; start += HOURS_A_WEEK) {
    const week = new Float64Array(HOURS_A_WEEK).fill(Number.NaN)
    for (let index = start; index < start + HOURS_A_WEEK; index++) {
      if (isKnown[index] === 1) week[places[index] ?? 0] = counts[index] ?? 0
    }
    weeks.push(week)
  }
  return weeks
}
