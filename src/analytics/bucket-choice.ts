import { invalidRequest } from '../lib/index.ts'
import type { TimeRange } from '../rollups/index.ts'
import { BUCKET_STEPS, type BucketStep, bucketStarts, LONG_STEPS } from './buckets.ts'
import type { OffsetSpan } from './zone.ts'

/** Points of a chart that `auto` aims at. */
export const AUTO_POINTS = 400
/** Points that a caller can ask for. */
export const MAX_POINTS = 1_500

export type BucketName = keyof typeof BUCKET_STEPS | 'auto'
export const BUCKET_NAMES = ['auto', '1m', '5m', '1h', '1d'] as const satisfies readonly BucketName[]

export interface BucketLimits {
  spans: readonly OffsetSpan[]
  /** Minute rows that start before this are gone. */
  minuteRowsFrom: number
  /** The metric is only known per hour. */
  hoursOnly: boolean
}

export interface Buckets {
  step: BucketStep
  /** Ascending; the first is at or before the start of the range. */
  starts: readonly number[]
}

/**
 * The buckets for a chart over `range`: the step asked for, or with `auto` the finest that gives at most 400 points.
 *
 * @throws AppError `invalid_request` naming the steps that this range allows.
 */
export function chooseBuckets(name: BucketName, range: TimeRange, limits: BucketLimits): Buckets {
  if (name === 'auto') {
    const steps = [...Object.values(BUCKET_STEPS), ...LONG_STEPS]
    for (const step of steps) {
      const buckets = bucketsOf(step, range, limits, AUTO_POINTS)
      if (buckets !== undefined) return buckets
    }
    throw invalidRequest('/bucket', 'auto finds no step for so long a range: choose a shorter one')
  }
  const buckets = bucketsOf(BUCKET_STEPS[name], range, limits, MAX_POINTS)
  if (buckets !== undefined) return buckets
  const allowed = Object.values(BUCKET_STEPS).filter((step) => bucketsOf(step, range, limits, MAX_POINTS) !== undefined)
  throw invalidRequest(
    '/bucket',
    `${name} is too fine here: allowed are ${['auto', ...allowed.map((step) => step.name)].join(', ')}` +
      ` (at most ${MAX_POINTS} points${whyNoMinutes(range, limits)})`,
  )
}

function bucketsOf(step: BucketStep, range: TimeRange, limits: BucketLimits, most: number): Buckets | undefined {
  if (step.unit === 'minute' && (limits.hoursOnly || range.from < limits.minuteRowsFrom)) return undefined
  // Clock changes move the count by a point or two, so a count that is far too high is certain without making the buckets.
  if ((range.to - range.from) / (step.seconds * 1_000) > most + 2) return undefined
  const starts = bucketStarts(step, range, limits.spans)
  return starts.length <= most ? { step, starts } : undefined
}

function whyNoMinutes(range: TimeRange, limits: BucketLimits): string {
  if (limits.hoursOnly) return '; which event a tag ran on is kept per hour'
  return range.from < limits.minuteRowsFrom ? '; minutes of that time are no longer kept' : ''
}
