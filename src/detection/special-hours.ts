import { burstSizeOfWeeks } from './burst.ts'
import { median, sum } from './statistics.ts'
import { HOURS_A_DAY, HOURS_A_WEEK, type WeekHours } from './week-hours.ts'

/** An hour is special where it and the hours around it are this far off the weeks' median: by share … */
const RATIO = 1.6
/** … and in standard deviations, with bursts of at least … */
const Z = 4
const LEAST_BURST = 3
/** … and a level that differs by so much from week to week. */
const LEVEL = 0.1
/** So many bursts show what is special: as many hours are taken together as have them. */
const BURSTS = 10
const HOURS_TOGETHER = [3, 6, 12] as const
const LEAST_WEEKS = 3

/**
 * 1 for the hours that are known and were no campaign, outage or holiday, by the median of the same hours of all weeks. What is special in
 * most weeks is usual.
 */
export function usualHours(counts: Float64Array, hours: WeekHours): Uint8Array {
  const { isKnown } = hours
  const isUsual = Uint8Array.from(isKnown)
  const mean = sum(counts) / Math.max(1, sum(isKnown))
  if (mean === 0) return isUsual
  const burst = Math.max(LEAST_BURST, burstSizeOfWeeks(wholeWeeks(counts, isKnown)))
  const together = HOURS_TOGETHER.find((length) => length * mean >= BURSTS * burst) ?? HOURS_A_DAY
  const isSpecial = specialHours(sumsAround(counts, together), hours, burst)
  const [known, special] = [weeksMarked(isKnown), weeksMarked(isSpecial)]
  for (const [index, mark] of isSpecial.entries()) {
    const place = index % HOURS_A_WEEK
    if (mark === 1 && 2 * (special[place] ?? 0) <= (known[place] ?? 0)) isUsual[index] = 0
  }
  return isUsual
}

function specialHours(around: Float64Array, { length, places, isKnown }: WeekHours, burst: number): Uint8Array {
  const isSpecial = new Uint8Array(length)
  const same: number[] = []
  for (let index = 0; index < length; index++) {
    if (isKnown[index] === 0) continue
    same.length = 0
    // Where clocks changed in between, the same hour of the week is another one.
    for (let other = index % HOURS_A_WEEK; other < length; other += HOURS_A_WEEK) {
      if (isKnown[other] === 1 && places[other] === places[index]) same.push(around[other] ?? 0)
    }
    if (same.length < LEAST_WEEKS) continue
    const own = around[index] ?? 0
    const usual = median(same)
    const ratio = Math.max(own, 1) / Math.max(usual, 1)
    if (ratio < RATIO && ratio > 1 / RATIO) continue
    const level = LEVEL * usual
    if (Math.abs(own - usual) > Z * Math.sqrt(burst * Math.max(1, usual) + level * level)) isSpecial[index] = 1
  }
  return isSpecial
}

/** In how many weeks each hour is marked. */
function weeksMarked(marks: Uint8Array): Uint8Array {
  const weeks = new Uint8Array(HOURS_A_WEEK)
  for (const [index, mark] of marks.entries()) weeks[index % HOURS_A_WEEK] = (weeks[index % HOURS_A_WEEK] ?? 0) + mark
  return weeks
}

/** Counts of an hour and those around it, so many together. */
function sumsAround(counts: Float64Array, together: number): Float64Array {
  const before = new Float64Array(counts.length + 1)
  for (const [index, count] of counts.entries()) before[index + 1] = (before[index] ?? 0) + count
  return counts.map((_, index) => {
    const end = Math.min(counts.length, index + Math.ceil(together / 2))
    return (before[end] ?? 0) - (before[Math.max(0, index - Math.floor(together / 2))] ?? 0)
  })
}

/** The counts of the weeks of which every hour is known. */
function wholeWeeks(counts: Float64Array, isKnown: Uint8Array): number[][] {
  const weeks: number[][] = []
  for (let start = 0; start < counts.length; start += HOURS_A_WEEK) {
    const end = start + HOURS_A_WEEK
    if (isKnown.subarray(start, end).every((known) => known === 1)) weeks.push([...counts.subarray(start, end)])
  }
  return weeks
}
