import { duration, isoTime, MINUTE, number } from '../lib/index.ts'
import { burstsNow } from './silence.ts'
import { overlap, type TimeRange } from './time.ts'
import { type Verdict, verdictOf } from './verdict.ts'
import type { VolumeBaseline } from './volume-baseline.ts'
import { expectedOf, type RecentCounts, windowsBack } from './volume-window.ts'

export interface FreshnessConfig {
  /** A shorter silence is never bad. */
  min_silence_minutes: number
  /** A silence is bad when it is longer than this many usual gaps. */
  gaps: number
}

export const DATA_FRESHNESS_DEFAULTS: FreshnessConfig = { min_silence_minutes: 15, gaps: 5 }

export interface FreshnessInput {
  now: number
  /** When the site's newest event was received, null when none ever was. */
  last_event_at: number | null
  recent: RecentCounts
  baseline: VolumeBaseline
  /** When the service itself accepted no requests, without overlaps. No event can arrive then, so that is no silence. */
  outages: readonly TimeRange[]
}

/** One gap in twenty between independent events is longer than this many times the mean gap: ln 20. */
const LONG_GAP = Math.log(20)

/** Whether a site still sends at all. */
export function dataFreshness(input: FreshnessInput, config: FreshnessConfig): Verdict {
  const { now, last_event_at: last, recent, baseline, outages } = input
  if (last === null) return verdictOf([null], 'no event has come yet')
  const deaf = outages.reduce((sum, outage) => sum + overlap(outage, { from: last, to: now }), 0)
  const silence = Math.max(0, now - last - deaf)
  const usual = usualSince(input, last)
  if (usual === null)
    return verdictOf([null], `last event ${duration(Math.max(0, now - last))} ago; too little is known to judge`)
  const { expected, covered, caution } = usual
  const { burst } = burstsNow(null, recent, baseline)
  const usualGap = expected > 0 ? (caution * LONG_GAP * burst * covered) / expected : Number.POSITIVE_INFINITY
  const limit = Math.max(config.min_silence_minutes * MINUTE, config.gaps * usualGap)
  const isSilent = silence > limit && expected >= caution
  const message = isSilent
    ? `nothing received for ${duration(silence)}${besides(deaf)}; about ${number(expected)} events are usual in that time`
    : `last event ${duration(Math.max(0, now - last))} ago`
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
          burst_size: burst,
          own_outage_minutes: deaf / MINUTE,
        },
      },
    ],
    message,
  )
}

const besides = (deaf: number): string =>
  deaf < MINUTE ? '' : ` (besides ${duration(deaf)} in which this service took no requests)`

interface Usual {
  expected: number
  covered: number
  caution: number
}

/** Events that earlier weeks had in the silence, or in its last 24 hours; null when that is not known. */
function usualSince({ recent, baseline }: FreshnessInput, last: number): Usual | null {
  let usual: Usual | null = null
  for (const window of windowsBack(recent, baseline, null, 0)) {
    const expected = expectedOf(window)
    if (Number.isNaN(expected)) return usual
    if (window.from < last) return usual ?? { expected: 0, covered: 0, caution: 1 }
    usual = { expected, covered: window.covered, caution: window.caution }
  }
  return usual
}
