import { DAY, duration, HOUR, isoTime, MINUTE, number } from '../lib/index.ts'
import { burstsNow } from './bursts-now.ts'
import { silenceSoFar, type VolumeInput, type VolumeSoFar } from './data-volume.ts'
import type { HourLimits } from './expectation.ts'
import { surprise } from './false-alarms.ts'
import { wideningEvidence } from './feedback.ts'
import { silenceOf } from './silence.ts'
import { overlap, type TimeRange } from './time.ts'
import type { UsualCounts } from './usual-counts.ts'
import { type Verdict, verdictOf } from './verdict.ts'
import { byMinute, type Course, courseOf, longestGap, type RecentCounts } from './volume-counts.ts'

export interface FreshnessConfig {
  /** A shorter silence is never bad. */
  min_silence_minutes: number
  /** A silence is bad when it is longer than this many usual gaps … */
  gaps: number
  /** … and occurs by chance less than this many times in 30 days. */
  false_alarms: number
}

export const DATA_FRESHNESS_DEFAULTS: FreshnessConfig = { min_silence_minutes: 15, gaps: 3, false_alarms: 0.02 }

export interface FreshnessInput {
  now: number
  /** When the newest event was received; null when there was none. */
  last_event_at: number | null
  recent: RecentCounts
  usual: UsualCounts
  /** When the service was down or the site paused, without overlaps. Nothing can arrive then, so that time is no silence. */
  outages: readonly TimeRange[]
}

/** One gap in twenty between independent visits is longer than this multiple of the mean gap: ln 20. */
const LONG_GAP = Math.log(20)

/** The limits by which an hour without events would be bad; the number of events does not matter. */
export const freshnessLimits = (config: FreshnessConfig): HourLimits => ({
  fall: null,
  silenceBudget: config.false_alarms,
  minVisits: config.min_silence_minutes * MINUTE < HOUR ? config.gaps * LONG_GAP : Number.POSITIVE_INFINITY,
})

/**
 * How far a site is from being judged; null while there is nothing to compare the newest events with.
 *
 * @param group average number of events per visit, if the caller has estimated it already
 */
export const freshnessSoFar = (
  input: VolumeInput,
  { false_alarms, gaps }: FreshnessConfig,
  group?: number,
): VolumeSoFar | null => silenceSoFar(input, { silenceBudget: false_alarms, minVisits: gaps * LONG_GAP }, group)

/** Judges whether a site still sends events. */
export function dataFreshness(input: FreshnessInput, config: FreshnessConfig): Verdict {
  const { now, last_event_at, recent, usual, outages } = input
  if (last_event_at === null) return verdictOf([null], 'no event has come yet')
  const last = last_event_at > now + AHEAD_MS ? lastCounted(recent, now) : last_event_at
  const outageMs = outages.reduce((sum, outage) => sum + overlap(outage, { from: last, to: now }), 0)
  const silence = Math.max(0, now - last - outageMs)
  const ago = now - last < MINUTE ? 'just now' : `${duration(now - last)} ago`
  const course = courseOf(null, byMinute(recent), usual)
  if (course.from.length === 0) return verdictOf([null], `last event ${ago}; too little is known to judge`)
  const { noise, widening } = usual.of(null)
  const bursts = burstsNow(null, recent, usual, noise)
  const found = silenceOf(course, longestGap(recent.minutes, null), noise, bursts, config.false_alarms)
  const rate = found === null ? visitsLately(course, bursts.group) : found.visits / found.covered
  const usualGap = rate > 0 ? LONG_GAP / rate : Number.POSITIVE_INFINITY
  const limit = Math.max(config.min_silence_minutes * MINUTE, config.gaps * usualGap)
  const isSilent = found !== null && silence > limit && found.chance < found.limit && found.expected >= 1
  // If even a day without events would not be bad, the data say nothing.
  if (!isSilent && !isEnough(freshnessSoFar(input, config, bursts.group))) return verdictOf([null], `last event ${ago}`)
  const expected = found?.expected ?? 0
  const message = isSilent
    ? `nothing received for ${duration(silence)}${besides(outageMs)}; usually about ${number(expected)} events in that time`
    : `last event ${ago}`
  return verdictOf(
    [
      {
        subject: {},
        status: isSilent ? 'critical' : 'ok',
        message,
        measured: silence / MINUTE,
        expected: Number.isFinite(usualGap) ? usualGap / MINUTE : null,
        band: { low: null, high: Number.isFinite(limit) ? limit / MINUTE : null },
        since: isSilent ? isoTime(last) : null,
        evidence: {
          last_event_at: isoTime(last),
          events_expected_since: expected,
          visits_expected_since: found?.visits ?? 0,
          visit_size: bursts.group,
          ...(found === null ? { surprise: null, surprise_needed: null } : surprise(found.chance, found.limit)),
          own_outage_minutes: outageMs / MINUTE,
          ...wideningEvidence(widening),
        },
      },
    ],
    message,
  )
}

const isEnough = (soFar: VolumeSoFar | null): boolean => soFar !== null && soFar.usual >= soFar.needed

/** Judging ends up to two minutes ago. An event later than this arrived while the clock was ahead, and would hide any silence until then. */
const AHEAD_MS = 5 * MINUTE

/** The end of the newest minute or bucket with an event; the start of the known day when there is none. */
const lastCounted = ({ minutes, ...day }: RecentCounts, now: number): number =>
  Math.max(
    day.buckets[0]?.from ?? now,
    ...[minutes, day].flatMap(({ buckets, total }) =>
      buckets.flatMap(({ to }, index) => ((total[index] ?? 0) > 0 ? [to] : [])),
    ),
  )

const besides = (outageMs: number): string =>
  outageMs < MINUTE ? '' : ` (not counting ${duration(outageMs)} in which no event was accepted)`

/** Usual visits per ms in the newest hour, or in the last day if the hour has none. */
function visitsLately({ covered, expected }: Course, group: number): number {
  const rateOver = (time: number): number => {
    const index = covered.findIndex((length) => length >= time)
    const at = index === -1 ? covered.length - 1 : index
    return (expected[at] ?? 0) / group / (covered[at] ?? 1)
  }
  return rateOver(HOUR) || rateOver(DAY)
}
