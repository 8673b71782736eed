import type { LocalTime, TimeRange } from '../../detection/index.ts'
import { DAY, HOUR, MINUTE } from '../../lib/index.ts'
import type { Stretch } from './thinned.ts'

export interface Tick {
  readonly at: number
  readonly text: string
}

const MOST_VALUE_TICKS = 5
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

/** Round values between `low` and `high`, with their labels. */
export function valueTicks(low: number, high: number): Tick[] {
  const rough = high / MOST_VALUE_TICKS - low / MOST_VALUE_TICKS
  const unit = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((times) => times * unit).find((one) => one >= rough)
  // The range is too large or too small to divide in doubles: draw no ticks.
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
/** 5 January 1970, because the first was a Thursday. */
const FIRST_MONDAY = 4 * DAY
const EVEN_STEPS = [5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, WEEK, 2 * WEEK]
const MONTH_STEPS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 2_400, 6_000, 12_000]
const MONTH = (365.25 / 12) * DAY
const DAY_FORM = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const MONTH_FORM = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })

/** Times in the range that are round in the local time of `clock`, with their labels. */
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

/** Maps a time and a value to px. */
export interface Scale {
  readonly x: (time: number) => number
  readonly y: (value: number) => number
}

/** Rounded to a tenth of a pixel, finer than any screen shows. */
const px = (value: number): string => String(Number(value.toFixed(1)))

const point = (x: number, y: number): string => `${px(x)} ${px(y)}`

/** A line through all values, interrupted where rows are missing. It passes both extremes of each stretch, in their order. */
export function linePath(stretches: readonly Stretch[], { x, y }: Scale): string {
  return stretches
    .map(({ from, to, min, max, rises, isAfterGap }, place) => {
      const isFirst = place === 0 || isAfterGap
      const [begin, end] = rises ? [min, max] : [max, min]
      const start = `${isFirst ? 'M' : 'L'}${point(x(from), y(begin))}`
      if (min !== max || to > from) return `${start}L${point(x(to), y(end))}`
      // A row between two gaps would be invisible: a line of length 0 draws a dot.
      return isFirst ? `${start}h0` : start
    })
    .join('')
}

/** The area of the bands, interrupted where rows are missing or no band is known. */
export function bandPath(stretches: readonly Stretch[], { x, y }: Scale): string {
  const areas: Stretch[][] = []
  let area: Stretch[] | null = null
  for (const stretch of stretches) {
    if (stretch.band === null) {
      area = null
      continue
    }
    if (area === null || stretch.isAfterGap) {
      area = []
      areas.push(area)
    }
    area.push(stretch)
  }
  return areas
    .map((one) => {
      const upper = one.map(({ from, band }) => point(x(from), y(band?.high ?? 0)))
      const lower = one.map(({ from, band }) => point(x(from), y(band?.low ?? 0))).reverse()
      return `M${[...upper, ...lower].join('L')}Z`
    })
    .join('')
}

interface Strip {
  readonly left: number
  readonly right: number
  /** Ranges closer than this are drawn as one, px. */
  readonly gap: number
  readonly y: number
  readonly height: number
}

/** The smallest visible width, px. */
export const LEAST_MARK = 1.5

/** A rectangle for each time range, merged as `gap` says. */
export function stripPath(ranges: readonly TimeRange[], { x }: Scale, { left, right, gap, y, height }: Strip): string {
  const drawn: { from: number; to: number }[] = []
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const [from, to] = [x(range.from), x(range.to)]
    if (to < left || from > right) continue
    const begin = Math.min(Math.max(left, from), right - LEAST_MARK)
    const end = Math.min(right, Math.max(to, begin + LEAST_MARK))
    const last = drawn.at(-1)
    if (last !== undefined && begin - last.to < gap) last.to = Math.max(last.to, end)
    else drawn.push({ from: begin, to: end })
  }
  return drawn.map(({ from, to }) => `M${px(from)} ${y}h${px(to - from)}v${height}h-${px(to - from)}z`).join('')
}
