import { duration, isoTime, number, percent } from '../lib/index.ts'
import { surprise } from './false-alarms.ts'
import { type FieldSentence, MIN_USUAL_EVENTS, type PresenceHistory } from './quality.ts'
import { wilson, Z_999 } from './statistics.ts'
import { unusualStretch } from './unusual-share.ts'
import type { FaultyShare } from './usual-share.ts'
import type { Finding, Status } from './verdict.ts'

export interface BadShareConfig {
  /** A share above this warns … */
  min_share: number
  /** … if it is more than this many times the usual one, and chance does not explain it. */
  factor: number
  /** A share that is certainly above this is critical. */
  critical_share: number
}

export const BAD_SHARE_DEFAULTS = { min_share: 0.05, factor: 3, critical_share: 0.25 } as const satisfies BadShareConfig

export interface BadShareRule extends BadShareConfig {
  /** False alarms in 30 days for this fault. */
  budget: number
}

/** The share from which on it is a fault. */
export const faultOf = ({ factor, min_share }: Pick<BadShareConfig, 'factor' | 'min_share'>): FaultyShare => ({
  times: factor,
  least: min_share,
})

/**
 * Judges whether a fault is on more events than usual; `present` counts the events with it. The counterpart of `judgeField`,
 * which looks for losses: a fault that is usually on 1 % of the events is bad long before half of them have it.
 */
export function judgeShare<F extends string>(
  field: F,
  { event_name, recent, past }: PresenceHistory<F>,
  now: number,
  { min_share, factor, critical_share, budget }: BadShareRule,
  sentence: FieldSentence,
): Finding | null {
  const usual = past.fields[field]
  if (usual.total < MIN_USUAL_EVENTS) return null
  // For a fault that was hardly ever seen, the true rate may be higher than the measured one.
  const rate = wilson(usual.present, usual.total).high
  const { together } = usual
  const limit = Math.max(min_share, factor * rate)
  const seen = unusualStretch(field, recent, now, {
    usual: { ...usual, rateAt: () => rate },
    isBad: (share) => share > limit,
    budget,
  })
  if (seen === null) return null
  const { stretch, since } = seen
  const { first, present, total, chance, limit: needed } = stretch
  const { low } = wilson(present / together, total / together, Z_999)
  const status: Status = since === null ? 'ok' : low > critical_share ? 'critical' : 'warning'
  const events = event_name === null ? 'events' : `“${event_name}” events`
  return {
    subject: event_name === null ? { field } : { event_name, field },
    status,
    message: sentence(
      `${percent(present / total)} of ${number(total)} ${events} in ${duration(now - (recent[first]?.from ?? now))}`,
      percent(usual.rate),
    ),
    measured: present / total,
    expected: usual.rate,
    band: { low: null, high: limit },
    since: since === null ? null : isoTime(since),
    evidence: {
      present,
      total,
      lower_bound: low,
      ...(since === null ? {} : surprise(chance, needed)),
      usual_present: usual.present,
      usual_total: usual.total,
      clumping: together,
      last_seen: isoTime(recent.at(-1)?.to ?? now),
    },
  }
}
