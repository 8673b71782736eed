import { duration, isoTime, MINUTE, number, percent } from '../lib/index.ts'
import { binomialTail, sum, wilson } from './statistics.ts'
import { newestUntil, type TimeRange } from './time.ts'
import { type Finding, type Status, type Verdict, verdictOf } from './verdict.ts'

export interface Outcomes {
  readonly success: number
  readonly failure: number
  readonly timeout: number
  readonly exception: number
}

export interface OutcomeBucket extends TimeRange, Outcomes {}

/** What a tag did in the last 24 hours. Buckets oldest first; those without executions may be missing. */
export interface TagOutcomes {
  readonly tag_key: string
  readonly buckets: readonly OutcomeBucket[]
}

export interface FailureRateConfig {
  window_minutes: number
  /** A tag that ran less often in the window is judged over as much more of the last 24 hours as it takes. */
  min_executions: number
  /** Bad share that is surely exceeded. */
  warning_share: number
  critical_share: number
}

export const TAG_FAILURE_RATE_DEFAULTS: FailureRateConfig = {
  window_minutes: 15,
  min_executions: 20,
  warning_share: 0.05,
  critical_share: 0.25,
}

export interface FailureRateInput {
  now: number
  tags: readonly TagOutcomes[]
}

/** Which tags fail too often, judged by the lower Wilson bound: a few failures of a few executions are chance. */
export function tagFailureRate({ now, tags }: FailureRateInput, config: FailureRateConfig): Verdict {
  const judged = tags.map((tag) => judgeTag(tag, now, config))
  return verdictOf(judged, `${number(judged.filter((finding) => finding !== null).length)} tags run well`)
}

/** Executions of a tag in the 24 hours before the window, or in half of them, from which its usual bad share is known … */
const MIN_PAST = 50
/**
 * … which explains what comes by chance more often than this. A site's five tags are judged 1,440 times a day: at 95 % a tag that
 * always fails a little would warn every few weeks.
 */
const CHANCE = 1e-5

/** A window that goes back until there are just enough executions is tried with each new one: three bad ones are chance. */
const MIN_BAD_WHEN_WIDENED = 5

const executionsOf = ({ success, failure, timeout, exception }: Outcomes): number =>
  success + failure + timeout + exception
const badOf = ({ failure, timeout, exception }: Outcomes): number => failure + timeout + exception
const totalOf = (buckets: readonly OutcomeBucket[]) => ({
  executions: sum(buckets.map(executionsOf)),
  bad: sum(buckets.map(badOf)),
})

function judgeTag({ tag_key, buckets }: TagOutcomes, now: number, config: FailureRateConfig): Finding | null {
  const window = newestUntil(buckets, now - config.window_minutes * MINUTE, executionsOf, config.min_executions)
  if (window === null) return null
  const { executions, bad } = totalOf(window)
  const { low, high } = wilson(bad, executions)
  const isWidened = (window[0]?.from ?? now) < now - config.window_minutes * MINUTE
  const isSure = !isWidened || bad >= MIN_BAD_WHEN_WIDENED
  const bound = isSure ? statusOf(low, config) : 'ok'
  const status = bound === 'warning' && isUsual(buckets, window, config.warning_share) ? 'ok' : bound
  const length = now - Math.min(window[0]?.from ?? now, now - config.window_minutes * MINUTE)
  const kinds = (['failure', 'timeout', 'exception'] as const).map((kind) => ({
    kind,
    count: sum(window.map((bucket) => bucket[kind])),
  }))
  const named = kinds
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${number(count)} ${kind}${count === 1 ? '' : 's'}`)
  return {
    subject: { tag_key },
    status,
    message: `“${tag_key}” failed in ${percent(bad / executions)} of ${number(executions)} executions in ${duration(length)} (${named.join(', ') || 'none'})`,
    measured: bad / executions,
    expected: null,
    band: { low: null, high: config.warning_share },
    since: status === 'ok' ? null : isoTime(onset(buckets)),
    evidence: {
      executions,
      bad,
      lower_bound: low,
      upper_bound: high,
      last_seen: isoTime(window.at(-1)?.to ?? now),
      window_minutes: length / MINUTE,
      ...Object.fromEntries(kinds.map(({ kind, count }) => [kind, count])),
    },
  }
}

const statusOf = (low: number, { warning_share, critical_share }: FailureRateConfig): Status =>
  low > critical_share ? 'critical' : low > warning_share ? 'warning' : 'ok'

/**
 * Whether as many failures as in the window come by chance with a tag that fails as often as this one did before, and not all day too
 * often. The better half of the day counts: a fault of some hours is not what is usual.
 */
function isUsual(day: readonly OutcomeBucket[], window: readonly OutcomeBucket[], warningShare: number): boolean {
  const ofDay = totalOf(day)
  if (wilson(ofDay.bad, ofDay.executions).low > warningShare) return false
  const before = day.slice(0, day.length - window.length)
  const middle = Math.ceil(before.length / 2)
  const known = [before, before.slice(0, middle), before.slice(middle)]
    .map(totalOf)
    .filter(({ executions }) => executions >= MIN_PAST)
  if (known.length === 0) return false
  const usual = Math.min(warningShare, ...known.map(({ executions, bad }) => wilson(bad, executions).high))
  const { executions, bad } = totalOf(window)
  return binomialTail(bad, executions, usual) > CHANCE
}

/** The failures began where counting from makes the surest case. */
function onset(buckets: readonly OutcomeBucket[]): number {
  let executions = 0
  let bad = 0
  let surest = { low: -1, from: 0 }
  for (const bucket of buckets.toReversed()) {
    executions += executionsOf(bucket)
    bad += badOf(bucket)
    const { low } = wilson(bad, executions)
    if (low >= surest.low) surest = { low, from: bucket.from }
  }
  return surest.from
}
