import type { LocalTime, TimeRange } from '../../detection/index.ts'
import { DAY, HOUR, MINUTE } from '../../lib/index.ts'

export interface Tick {
  readonly at: number
  readonly text: string
}

const MOST_VALUE_TICKS = 5
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

/** Round values between two, as text. */
export function valueTicks(low: number, high: number): Tick[] {
  const rough = high / MOST_VALUE_TICKS - low / MOST_VALUE_TICKS
  const unit = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((times) => times * unit).find((one) => one >= rough)
  // What is too large or too small for doubles to be divided has no ticks.
  if (step === undefined || !(unit > 0) || !Number.isFinite(step)) return []
  const first = Math.ceil(low / step)
  const count = Math.floor(high / step) - first + 1
  if (!(count > 0 && count <= 2 * MOST_VALUE_TICKS)) return []
  return Array.from({ length: count }, (_, index) => (first + index) * step).map((at) => ({
    at,
    text: COMPACT.format(at),
  }))
}

const MOST_TIME_TICKS = 10
const WEEK = 7 * DAY
/** The first day of 1970 was a Thursday. */
const FIRST_MONDAY = 4 * DAY
const EVEN_STEPS = [5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, WEEK, 2 * WEEK]
const MONTH_STEPS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 2_400, 6_000, 12_000]
const MONTH = (365.25 / 12) * DAY
const DAY_FORM = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const MONTH_FORM = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })

/** Round times of the zone's clocks within a range, which no axis of UTC has. */
export function timeTicks({ from, to }: TimeRange, clock: LocalTime): Tick[] {
  const [first, last] = [from + clock.offsetAt(from), to + clock.offsetAt(to)]
  const step = EVEN_STEPS.find((one) => (last - first) / one <= MOST_TIME_TICKS)
  const locals = step === undefined ? monthsBetween(first, last) : evenly(first, last, step)
  return locals
    .map((local) => ({ at: clock.instantOf(local), text: timeText(local, step) }))
    .filter(({ at }) => at >= from && at <= to)
}

function evenly(first: number, last: number, step: number): number[] {
  const start = step >= WEEK ? FIRST_MONDAY : 0
  const times: number[] = []
  for (let time = start + Math.ceil((first - start) / step) * step; time <= last; time += step) times.push(time)
  return times
}

function monthsBetween(first: number, last: number): number[] {
  const months = MONTH_STEPS.find((count) => (last - first) / (count * MONTH) <= MOST_TIME_TICKS) ?? 12_000
  const monthOf = (time: number) => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth()
  const times: number[] = []
  for (let month = Math.ceil(monthOf(first) / months) * months; month <= monthOf(last); month += months) {
    times.push(Date.UTC(Math.floor(month / 12), month % 12))
  }
  return times
}

function timeText(local: number, step: number | undefined): string {
  if (step === undefined) return MONTH_FORM.format(local)
  return local % DAY === 0 ? DAY_FORM.format(local) : new Date(local).toISOString().slice(11, 16)
}
