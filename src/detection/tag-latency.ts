import { duration, HOUR, isoTime, MINUTE, number } from '../lib/index.ts'
import { changedAt, isOver, type Share } from './change-point.ts'
import { median, sum, wilson } from './statistics.ts'
import { newestUntil, type TimeRange } from './time.ts'
import { type Finding, tagsThat, type Verdict, verdictOf } from './verdict.ts'

export interface LatencyBucket extends TimeRange {
  /** Executions by duration, see `LatencyInput.bounds`. */
  readonly histogram: readonly number[]
  /** Sum of these durations, ms. */
  readonly total_ms: number
  readonly executions: number
  readonly success: number
  readonly timeout: number
}

export interface TagLatencies {
  readonly tag_key: string
  /** The last 24 hours, oldest first; buckets without executions may be missing. */
  readonly recent: readonly LatencyBucket[]
  /** The same hour, the one before and the one after, on each of the last seven days. */
  readonly usual: readonly LatencyBucket[]
}

export interface LatencyConfig {
  window_minutes: number
  /** A tag with fewer timed executions in the window is judged over as much of the last 24 hours as it takes. */
  min_executions: number
  /** Multiples of its usual 95th percentile that a tag may take … */
  warning_factor: number
  critical_factor: number
  /** … and the least increase, ms: 20 ms instead of 5 delay no one. */
  warning_increase_ms: number
  critical_increase_ms: number
}

export const TAG_LATENCY_DEFAULTS: LatencyConfig = {
  window_minutes: 15,
  min_executions: 30,
  warning_factor: 2,
  critical_factor: 4,
  warning_increase_ms: 250,
  critical_increase_ms: 1_000,
}

export interface LatencyInput {
  now: number
  /** Upper bounds of the histogram's buckets, ms. */
  bounds: readonly number[]
  tags: readonly TagLatencies[]
}

const QUANTILE = 0.95
const SLOW_SHARE = 1 - QUANTILE
/** The mean must rise by this factor, too. It is exact, while the histogram may place 990 and 1,010 ms 1.5 s apart. */
const MEAN_FACTOR = 1.5
/** Hours of the past needed for a usual value, and timed executions that an hour needs to count. */
export const MIN_USUAL_HOURS = 4
export const MIN_USUAL_EXECUTIONS = 10

/**
 * No answer comes over a network within this time, ms. A tag that used to wait and now succeeds faster no longer waits, or
 * sends nothing. It is the histogram's first bound, below which it shows no difference.
 */
const NO_ANSWER_MS = 10
/** A tag that took less time than this may not have waited for an answer, ms. */
const ANSWER_MS = 40
/** Share of executions that must end so soon now; at most the rest may have done so before, from a cache or with nothing to do. */
const QUICK_SHARE = 0.85

/** A tag that has not run for this long may have been repaired, ms; whether it waits shows only when it runs. */
const STILL = 2 * HOUR

/** Judges which tags take much longer than at the same hours of the last week, and which succeed too soon to have been answered. */
export function tagLatency({ now, bounds, tags }: LatencyInput, config: LatencyConfig): Verdict {
  const judged = tags.map((tag) => judgeTag(tag, now, bounds, config))
  return verdictOf(judged, tagsThat(judged, 'is as quick as usual', 'are as quick as usual'))
}

/** How far a tag is from being judged: recent timed executions, and hours of its past that count. */
export function latencySoFar({ recent, usual }: TagLatencies): { timed: number; hours: number } {
  return { timed: sum(recent.map(timedIn)), hours: usual.filter(hasEnough).length }
}

function judgeTag(
  { tag_key, recent, usual }: TagLatencies,
  now: number,
  bounds: readonly number[],
  config: LatencyConfig,
): Finding | null {
  const of = (buckets: readonly LatencyBucket[]) =>
    merged(
      bounds,
      buckets.map(({ histogram }) => histogram),
    )
  const window = newestUntil(recent, now - config.window_minutes * MINUTE, timedIn, config.min_executions)
  const answered = answeredHours(usual.filter(hasEnough), bounds)
  const usualHours = answered.map((hour) => of([hour]))
  if (window === null || usualHours.length < MIN_USUAL_HOURS) return null
  const expected = median(usualHours.map((hour) => quantile(hour, QUANTILE)))
  const now95 = of(window)
  const timed = observations(now95)
  const warningLimit = limitOf(expected, config.warning_factor, config.warning_increase_ms, bounds)
  const criticalLimit = limitOf(expected, config.critical_factor, config.critical_increase_ms, bounds)
  const usualMean = median(answered.map((hour) => meanOf([hour])))
  const mean = meanOf(window)
  const from = now - config.window_minutes * MINUTE
  const isWidened = (window[0]?.from ?? now) < from
  // A rare tag's window may begin in a fault that is over.
  const isSlow =
    isSurelySlower(now95, warningLimit) &&
    mean >= MEAN_FACTOR * usualMean &&
    !(isWidened && isOver(slowShares(window, bounds, warningLimit), SLOW_SHARE))
  // Where the histogram ends below both limits, the mean alone shows how much slower it is.
  const isFarSlower =
    isSurelySlower(now95, criticalLimit) && (criticalLimit > warningLimit || mean >= config.critical_factor * usualMean)
  const timeouts = sum(window.map(({ timeout }) => timeout))
  const executions = sum(window.map((bucket) => bucket.executions))
  const isCutOff = wilson(timeouts, executions).low > SLOW_SHARE
  const isNow = (window.at(-1)?.to ?? 0) >= now - STILL
  const isUnproven = !isSlow && isNow && isSurelyUnanswered(now95, window, usualHours)
  const length = now - Math.min(window[0]?.from ?? now, from)
  if (isUnproven)
    return unproven({ tag_key, recent, window, length, mean, usualMean, timed, usualHours: usualHours.length })
  const status = !isSlow ? 'ok' : isCutOff || isFarSlower ? 'critical' : 'warning'
  const measured = quantile(now95, QUANTILE)
  return {
    subject: { tag_key },
    status,
    message: `“${tag_key}” takes ${number(Math.round(mean))} ms on average, 95th percentile ${milliseconds(measured, bounds)} (${number(timed)} executions in ${duration(length)}); usually ${number(Math.round(usualMean))} ms and ${milliseconds(expected, bounds)} at this hour`,
    measured,
    expected,
    band: { low: null, high: warningLimit },
    since: status === 'ok' ? null : isoTime(slowSince(recent, now95, warningLimit)),
    evidence: {
      timed_executions: timed,
      slower_than_limit: countAbove(now95, warningLimit),
      timeouts,
      mean_ms: mean,
      usual_mean_ms: usualMean,
      last_seen: isoTime(window.at(-1)?.to ?? now),
      window_minutes: length / MINUTE,
      usual_hours: usualHours.length,
    },
  }
}

/** If a tag waited for answers in some hours only, the others were a fault and do not show how long it takes. */
function answeredHours(hours: readonly LatencyBucket[], bounds: readonly number[]): readonly LatencyBucket[] {
  const isQuick = ({ histogram }: LatencyBucket): boolean =>
    countAbove({ bounds, counts: histogram }, NO_ANSWER_MS) < (1 - QUICK_SHARE) * sum(histogram)
  const isAnswered = (hour: LatencyBucket): boolean => quantile({ bounds, counts: hour.histogram }, 0.5) >= ANSWER_MS
  return hours.some(isAnswered) ? hours.filter((hour) => !isQuick(hour)) : hours
}

/** Whether most executions succeed faster than any answer can come, and few did before. */
function isSurelyUnanswered(
  current: Histogram,
  window: readonly LatencyBucket[],
  usualHours: readonly Histogram[],
): boolean {
  const total = observations(current)
  const quick = total - countAbove(current, NO_ANSWER_MS)
  const executions = sum(window.map((bucket) => bucket.executions))
  const successes = sum(window.map(({ success }) => success))
  if (wilson(quick, total).low < QUICK_SHARE || successes < QUICK_SHARE * executions) return false
  const usualShare = median(usualHours.map((hour) => 1 - countAbove(hour, NO_ANSWER_MS) / observations(hour)))
  const usualMs = median(usualHours.map((hour) => quantile(hour, 0.5)))
  return usualMs >= ANSWER_MS && usualShare <= 1 - QUICK_SHARE
}

interface Unproven {
  tag_key: string
  recent: readonly LatencyBucket[]
  window: readonly LatencyBucket[]
  /** In ms. */
  length: number
  mean: number
  usualMean: number
  timed: number
  usualHours: number
}

function unproven({ tag_key, recent, window, length, mean, usualMean, timed, usualHours }: Unproven): Finding {
  return {
    subject: { tag_key },
    // Someone may have configured the tag not to wait: it needs a look, but not at night.
    status: 'warning',
    message: `“${tag_key}” succeeds in ${number(Math.round(mean * 10) / 10)} ms (mean of ${number(timed)} executions in ${duration(length)}), too soon for an answer; usually ${number(Math.round(usualMean))} ms at this hour`,
    measured: mean,
    expected: usualMean,
    band: { low: NO_ANSWER_MS, high: null },
    since: isoTime(quickSince(recent)),
    evidence: {
      reason: 'too_soon',
      timed_executions: timed,
      mean_ms: mean,
      usual_mean_ms: usualMean,
      last_seen: isoTime(window.at(-1)?.to ?? Number.NaN),
      window_minutes: length / MINUTE,
      usual_hours: usualHours,
    },
  }
}

/** Start of the latest consecutive buckets in which most executions ended so soon. */
function quickSince(buckets: readonly LatencyBucket[]): number {
  const ran = buckets.filter((bucket) => timedIn(bucket) > 0)
  const isQuick = ({ histogram }: LatencyBucket) => (histogram[0] ?? 0) > sum(histogram) / 2
  const last = ran.findLastIndex((bucket) => !isQuick(bucket))
  return (ran[last + 1] ?? ran.at(-1))?.from ?? Number.NaN
}

const timedIn = ({ histogram }: LatencyBucket): number => sum(histogram)

const hasEnough = (bucket: LatencyBucket): boolean => timedIn(bucket) >= MIN_USUAL_EXECUTIONS

const meanOf = (buckets: readonly LatencyBucket[]): number =>
  sum(buckets.map(({ total_ms }) => total_ms)) / sum(buckets.map(timedIn))

/** The histogram shows nothing beyond its last bound, so no limit is higher. */
const limitOf = (usual: number, factor: number, increase: number, bounds: readonly number[]): number =>
  Math.min(Math.max(usual * factor, usual + increase), bounds.at(-1) ?? Number.POSITIVE_INFINITY)

/** The 95th percentile is over a limit when more than 5 % of executions are; the lower Wilson bound excludes chance. */
const isSurelySlower = (histogram: Histogram, limit: number): boolean =>
  wilson(countAbove(histogram, limit), observations(histogram)).low > SLOW_SHARE

/**
 * When more executions than usual began to take longer than the limit.
 * @param window the judged executions
 */
const slowSince = (recent: readonly LatencyBucket[], window: Histogram, limit: number): number =>
  changedAt(
    slowShares(recent, window.bounds, limit),
    { count: countAbove(window, limit), of: observations(window) },
    () => SLOW_SHARE,
  )

const slowShares = (buckets: readonly LatencyBucket[], bounds: readonly number[], limit: number): Share[] =>
  buckets.map(({ from, histogram: counts }) => ({
    from,
    count: countAbove({ bounds, counts }, limit),
    of: sum(counts),
  }))

/** E.g. `1,000–2,500 ms`: only the bucket of a percentile is known. */
function milliseconds(value: number, bounds: readonly number[]): string {
  const bucket = bounds.findIndex((bound) => value <= bound)
  const [lower, upper] = [bounds[bucket - 1], bounds[bucket]]
  if (upper === undefined || (bucket === bounds.length - 1 && value === upper))
    return `over ${number(bounds.at(-1) ?? 0)} ms`
  return lower === undefined ? `up to ${number(upper)} ms` : `${number(lower)}–${number(upper)} ms`
}

/** Number of durations by bucket. */
interface Histogram {
  /** Upper bounds (inclusive, ms) of all buckets but the last, ascending. */
  readonly bounds: readonly number[]
  /** One more than `bounds`: the last bucket counts everything above. */
  readonly counts: readonly number[]
}

const merged = (bounds: readonly number[], all: readonly (readonly number[])[]): Histogram => ({
  bounds,
  counts: Array.from({ length: bounds.length + 1 }, (_, bucket) => sum(all.map((counts) => counts[bucket] ?? 0))),
})

const observations = ({ counts }: Histogram): number => sum(counts)

/** The q-quantile in ms, interpolated within its bucket; above the last bound, that bound. NaN without durations. */
export function quantile({ bounds, counts }: Histogram, q: number): number {
  const rank = q * sum(counts)
  if (rank === 0) return Number.NaN
  let below = 0
  let lower = 0
  for (const [bucket, upper] of bounds.entries()) {
    const count = counts[bucket] ?? 0
    if (count > 0 && below + count >= rank) return lower + ((upper - lower) * (rank - below)) / count
    below += count
    lower = upper
  }
  return lower
}

/** How many durations are longer than `limit` ms; the bucket with the limit is assumed to be evenly filled. */
export function countAbove({ bounds, counts }: Histogram, limit: number): number {
  let above = counts[bounds.length] ?? 0
  let lower = 0
  for (const [bucket, upper] of bounds.entries()) {
    const count = counts[bucket] ?? 0
    if (lower >= limit) above += count
    else if (upper > limit) above += (count * (upper - limit)) / (upper - lower)
    lower = upper
  }
  return above
}
