import { duration, isoTime, number, percent } from '../lib/index.ts'
import {
  clumping,
  FIELD_EVENTS,
  type FieldSentence,
  isOver,
  MIN_USUAL_EVENTS,
  type PresenceBucket,
  type PresenceHistory,
} from './quality.ts'
import { sum, wilson, Z_999 } from './statistics.ts'
import { newestUntil } from './time.ts'
import type { Finding, Status } from './verdict.ts'

export interface BadShareConfig {
  /** A share that is surely above this warns, … */
  min_share: number
  /** … unless it is less than this many times the usual one. */
  factor: number
  /** A share that is surely above this is critical. */
  critical_share: number
}

export const BAD_SHARE_DEFAULTS = { min_share: 0.05, factor: 3, critical_share: 0.25 } as const satisfies BadShareConfig

/**
 * Whether a fault is on more events than usual: `present` counts those that have it. The counterpart of `judgeField`, which looks for what
 * is gone: a fault that is usually on 1 % of the events is bad long before half of them have it.
 */
export function judgeShare<F extends string>(
  field: F,
  { event_name, recent, usual }: PresenceHistory<F>,
  now: number,
  config: BadShareConfig,
  sentence: FieldSentence,
): Finding | null {
  const before = totalOf(field, usual)
  if (before.total < MIN_USUAL_EVENTS) return null
  const expected = before.present / before.total
  // Where it is hardly ever seen, what its rate may be is more than what it was.
  const limit = Math.max(config.min_share, config.factor * wilson(before.present, before.total).high)
  const together = clumping(field, usual, expected)
  const candidates = FIELD_EVENTS.map((events) => {
    const window = newestUntil(recent, now, ({ fields }) => fields[field].total, events)
    if (window === null) return null
    const { present, total } = totalOf(field, window)
    return { window, present, total, low: wilson(present / together, total / together, Z_999).low }
  }).filter((candidate) => candidate !== null)
  const standing = candidates.filter(
    ({ window, present, total, low }) => low <= limit || !isOver(field, window, present / total, expected, together),
  )
  // The one that makes the surest case: a fault of now shows in few events, one that is only on some in many.
  const [seen] = standing.toSorted((a, b) => b.low - a.low)
  if (seen === undefined) return null
  const { window, present, total, low } = seen
  const status: Status = low <= limit ? 'ok' : low > config.critical_share ? 'critical' : 'warning'
  const events = event_name === null ? 'events' : `“${event_name}” events`
  const length = now - (window[0]?.from ?? now)
  return {
    subject: event_name === null ? { field } : { event_name, field },
    status,
    message: sentence(
      `${percent(present / total)} of ${number(total)} ${events} in ${duration(length)}`,
      percent(expected),
    ),
    measured: present / total,
    expected,
    band: { low: null, high: limit },
    since: status === 'ok' ? null : isoTime(began(field, recent, limit)),
    evidence: {
      present,
      total,
      lower_bound: low,
      usual_present: before.present,
      usual_total: before.total,
      clumping: together,
      last_seen: isoTime(window.at(-1)?.to ?? now),
    },
  }
}

const totalOf = <F extends string>(field: F, buckets: readonly PresenceBucket<F>[]) => ({
  present: sum(buckets.map(({ fields }) => fields[field].present)),
  total: sum(buckets.map(({ fields }) => fields[field].total)),
})

/** It began where what is beyond the limit adds up to most (CUSUM, Page 1954). */
function began<F extends string>(field: F, buckets: readonly PresenceBucket<F>[], limit: number): number {
  let excess = 0
  let most = { excess: Number.NEGATIVE_INFINITY, from: 0 }
  for (const { from, fields } of buckets.toReversed()) {
    excess += fields[field].present - limit * fields[field].total
    if (excess > most.excess) most = { excess, from }
  }
  return most.from
}
