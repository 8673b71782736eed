import { DAY, floorTo, HOUR, invalidRequest, MINUTE } from '../lib/index.ts'
import { FIVE_MINUTES, type TimeRange } from '../rollups/index.ts'

/** A period in which a zone keeps one offset from UTC. */
export interface OffsetSpan extends TimeRange {
  /** Local time minus UTC, ms. */
  offset: number
}

/** The most points of a chart with `auto`. */
export const AUTO_POINTS = 400
/** The most points that a caller can ask for. */
const MAX_POINTS = 1_500

export type BucketName = keyof typeof BUCKET_STEPS | 'auto'
export const BUCKET_NAMES = ['auto', '1m', '5m', '1h', '1d'] as const satisfies readonly BucketName[]

interface BucketLimits {
  spans: readonly OffsetSpan[]
  /** Minute rows that start before this are gone. */
  minuteRowsFrom: number
  /** Minute rows that start before this are five minutes long. */
  singleMinutesFrom: number
  /** The metric is by event and tag: only known per hour, and per day before `pairHoursFrom`. */
  hoursOnly: boolean
  pairHoursFrom: number
}

export interface Buckets {
  step: BucketStep
  /** Ascending; the first is at or before the start of the range. */
  starts: readonly number[]
}

/**
 * The buckets for a chart over `range`: the step asked for, or with `auto` the finest with at most 400 points.
 *
 * @throws AppError `invalid_request` naming the steps that this range allows
 */
export function chooseBuckets(name: BucketName, range: TimeRange, limits: BucketLimits): Buckets {
  if (name === 'auto') {
    const steps = [...Object.values(BUCKET_STEPS), ...LONG_STEPS]
    for (const step of steps) {
      const buckets = bucketsOf(step, range, limits, AUTO_POINTS)
      if (buckets !== undefined) return buckets
    }
    throw invalidRequest('/bucket', 'auto has no step for a range this long: choose a shorter range')
  }
  const buckets = bucketsOf(BUCKET_STEPS[name], range, limits, MAX_POINTS)
  if (buckets !== undefined) return buckets
  const allowed = Object.values(BUCKET_STEPS).filter((step) => bucketsOf(step, range, limits, MAX_POINTS) !== undefined)
  throw invalidRequest(
    '/bucket',
    `${name} is too fine here: allowed values are ${['auto', ...allowed.map((step) => step.name)].join(', ')}` +
      ` (at most ${MAX_POINTS} points${whyNotFiner(range, limits)})`,
  )
}

function bucketsOf(step: BucketStep, range: TimeRange, limits: BucketLimits, most: number): Buckets | undefined {
  if (step.unit === 'minute' && (limits.hoursOnly || range.from < finestFrom(step, limits))) return undefined
  if (step.unit === 'hour' && limits.hoursOnly && range.from < limits.pairHoursFrom) return undefined
  // Clock changes move the count by a point or two at most, so a count far too high can be refused without making the buckets.
  if ((range.to - range.from) / (step.seconds * 1_000) > most + 2) return undefined
  const starts = bucketStarts(step, range, limits.spans)
  return starts.length <= most ? { step, starts } : undefined
}

/** The earliest time for which there are rows as fine as this step. */
const finestFrom = (step: BucketStep, limits: BucketLimits): number =>
  step.count * MINUTE < FIVE_MINUTES ? limits.singleMinutesFrom : limits.minuteRowsFrom

function whyNotFiner(range: TimeRange, limits: BucketLimits): string {
  if (limits.hoursOnly)
    return range.from < limits.pairHoursFrom
      ? '; which event a tag ran on is kept by day for a range this long'
      : '; which event a tag ran on is kept by hour'
  if (range.from < limits.minuteRowsFrom) return '; minutes of that time are no longer kept'
  return range.from < limits.singleMinutesFrom ? '; minutes of that time are kept in steps of five' : ''
}

/** A step of a chart's time axis. Lengths are nominal: a local day has 23 or 25 hours when clocks change. */
export interface BucketStep {
  name: string
  unit: 'minute' | 'hour' | 'day'
  /** Length of a bucket in units. */
  count: number
  seconds: number
}

const step = (name: string, unit: BucketStep['unit'], count: number, seconds: number): BucketStep => ({
  name,
  unit,
  count,
  seconds,
})

/** The steps a caller can ask for, finest first. */
export const BUCKET_STEPS = {
  '1m': step('1m', 'minute', 1, 60),
  '5m': step('5m', 'minute', 5, 300),
  '1h': step('1h', 'hour', 1, 3_600),
  '1d': step('1d', 'day', 1, 86_400),
} as const

/** Further steps, only for `auto`, for ranges of more days than a chart has room for. */
const LONG_STEPS: readonly BucketStep[] = [step('7d', 'day', 7, 7 * 86_400), step('28d', 'day', 28, 28 * 86_400)]

/**
 * Starts of the buckets that cover `range`, ascending; the first is at or before `range.from`. Hours and days follow the zone's
 * local clock: a local hour or day that a clock change shortens or lengthens is still one bucket.
 *
 * @param spans the zone's offsets around `range`, see `offsetSpans`
 */
export function bucketStarts(size: BucketStep, range: TimeRange, spans: readonly OffsetSpan[]): number[] {
  if (size.unit === 'minute')
    return regularStarts(floorTo(range.from, size.count * MINUTE), range.to, size.count * MINUTE)
  const starts = (size.unit === 'hour' ? localHours(spans) : localDays(spans)).filter((start) => start < range.to)
  const first = starts.findLastIndex((start) => start <= range.from)
  return starts.slice(Math.max(first, 0)).filter((_, index) => index % size.count === 0)
}

/** Index of the bucket that contains `time`, which must not be before the first. */
export function bucketIndex(starts: readonly number[], time: number): number {
  let low = 0
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? Number.POSITIVE_INFINITY) <= time) low = middle
    else high = middle
  }
  return low
}

function localHours(spans: readonly OffsetSpan[]): number[] {
  return spans.flatMap(({ from, to, offset }, index) => {
    const regular = regularStarts(from + modulo(-(from + offset), HOUR), to, HOUR)
    const previous = spans[index - 1]
    // Where the clock changes by part of an hour (Lord Howe Island), it jumps inside an hour: a bucket starts there.
    const jumps = previous !== undefined && (offset - previous.offset) % HOUR !== 0 && regular[0] !== from
    return jumps ? [from, ...regular] : regular
  })
}

/** Instants at which the local date advances, which need not be midnight. */
function localDays(spans: readonly OffsetSpan[]): number[] {
  const starts: number[] = []
  let date = Number.NEGATIVE_INFINITY
  for (const { from, to, offset } of spans) {
    const midnight = from + modulo(-(from + offset), DAY)
    for (const time of [from, ...regularStarts(midnight, to, DAY)]) {
      const local = Math.floor((time + offset) / DAY)
      // The first instant only determines the date, as its day started earlier.
      if (local > date && date !== Number.NEGATIVE_INFINITY) starts.push(time)
      date = Math.max(date, local)
    }
  }
  return starts
}

function regularStarts(first: number, end: number, size: number): number[] {
  return Array.from({ length: Math.max(0, Math.ceil((end - first) / size)) }, (_, index) => first + index * size)
}

/** The remainder, never negative. */
export const modulo = (value: number, size: number): number => ((value % size) + size) % size
