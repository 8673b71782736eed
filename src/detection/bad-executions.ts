import { isoTime, MINUTE } from '../lib/index.ts'
import { changedAt, isOver } from './change-point.ts'
import { binomialTail, sum, wilson } from './statistics.ts'
import { newestUntil, type TimeRange } from './time.ts'
import type { Finding, Status } from './verdict.ts'

/** Executions of a tag in one bucket of the last 24 hours. Lists are oldest first; buckets without executions may be missing. */
interface BadBucket extends TimeRange {
  readonly executions: number
  readonly bad: number
}

export interface BadExecutionsConfig {
  window_minutes: number
  /** A tag that ran less often in the window is judged over as much of the last 24 hours as it takes. */
  min_executions: number
  /** Bad shares that must be exceeded with certainty. */
  warning_share: number
  critical_share: number
}

export const BAD_EXECUTIONS_DEFAULTS: BadExecutionsConfig = {
  window_minutes: 15,
  min_executions: 20,
  warning_share: 0.05,
  critical_share: 0.25,
}

export interface JudgedExecutions {
  status: Status
  executions: number
  bad: number
  /** How many of the input's buckets were judged, from the last one back. */
  judged: number
  /** Wilson bounds of the bad share. */
  low: number
  high: number
  /** Length of the judged time, ms. */
  length: number
  /** ISO 8601; null when it is not bad. */
  since: string | null
  lastSeen: string
}

/** Executions needed in the 24 hours before the window, or in half of them, to know the usual bad share, … */
const MIN_PAST = 50
/**
 * … which explains bad executions that are likelier than this by chance. A site's five tags are judged 1,440 times a day: at
 * 95 %, a tag that always fails a little would warn every few weeks.
 */
const CHANCE = 1e-5

/** A widened window ends as soon as it has just enough executions and is tried again with each new one, so fewer bad ones may be chance. */
const MIN_BAD_WHEN_WIDENED = 5

const totalOf = (buckets: readonly BadBucket[]) => ({
  executions: sum(buckets.map(({ executions }) => executions)),
  bad: sum(buckets.map(({ bad }) => bad)),
})

/**
 * Judges whether too many of a tag's executions are bad. Uses the lower Wilson bound, because a few bad ones among a few
 * executions are chance. Null when the tag ran too seldom.
 */
function judgeExecutions(
  buckets: readonly BadBucket[],
  now: number,
  config: BadExecutionsConfig,
): JudgedExecutions | null {
  const from = now - config.window_minutes * MINUTE
  const window = newestUntil(buckets, from, ({ executions }) => executions, config.min_executions)
  if (window === null) return null
  const { executions, bad } = totalOf(window)
  const { low, high } = wilson(bad, executions)
  const isWidened = (window[0]?.from ?? now) < from
  const isSure = !isWidened || (bad >= MIN_BAD_WHEN_WIDENED && !isOver(window.map(shareOf), config.warning_share))
  const bound = isSure ? statusOf(low, config) : 'ok'
  const status = bound === 'warning' && isUsual(buckets, window, config.warning_share) ? 'ok' : bound
  return {
    status,
    executions,
    bad,
    judged: window.length,
    low,
    high,
    length: now - Math.min(window[0]?.from ?? now, from),
    since:
      status === 'ok'
        ? null
        : isoTime(changedAt(buckets.map(shareOf), { count: bad, of: executions }, () => config.warning_share)),
    lastSeen: isoTime(window.at(-1)?.to ?? now),
  }
}

/**
 * Returns the finding about a tag whose executions may be bad in several ways; null when it ran too seldom.
 *
 * @param buckets its last 24 hours, oldest first
 * @param good, bad the columns of a bucket that count each
 * @param messageOf makes the message from how many were bad in each way
 */
export function badExecutions<Good extends string, Bad extends string>(
  { tag_key, buckets }: { tag_key: string; buckets: readonly (TimeRange & Readonly<Record<Good | Bad, number>>)[] },
  { good, bad }: { good: readonly Good[]; bad: readonly Bad[] },
  now: number,
  config: BadExecutionsConfig,
  messageOf: (judged: JudgedExecutions, of: Readonly<Record<Bad, number>>) => string,
): Finding | null {
  const count = (bucket: Readonly<Record<Good | Bad, number>>, columns: readonly (Good | Bad)[]) =>
    sum(columns.map((column) => bucket[column]))
  const counts = buckets.map((bucket) => {
    const { from, to } = bucket
    return { from, to, executions: count(bucket, good) + count(bucket, bad), bad: count(bucket, bad) }
  })
  const judged = judgeExecutions(counts, now, config)
  if (judged === null) return null
  const window = buckets.slice(buckets.length - judged.judged)
  const ways = Object.fromEntries(bad.map((column) => [column, sum(window.map((bucket) => bucket[column]))])) as Record<
    Bad,
    number
  >
  return {
    subject: { tag_key },
    status: judged.status,
    message: messageOf(judged, ways),
    measured: judged.bad / judged.executions,
    expected: null,
    band: { low: null, high: config.warning_share },
    since: judged.since,
    evidence: {
      executions: judged.executions,
      bad: judged.bad,
      lower_bound: judged.low,
      upper_bound: judged.high,
      last_seen: judged.lastSeen,
      window_minutes: judged.length / MINUTE,
      ...ways,
    },
  }
}

const shareOf = ({ from, bad, executions }: BadBucket) => ({ from, count: bad, of: executions })

const statusOf = (low: number, { warning_share, critical_share }: BadExecutionsConfig): Status =>
  low > critical_share ? 'critical' : low > warning_share ? 'warning' : 'ok'

/**
 * Whether the window has no more bad executions than chance explains with the tag's earlier bad share, and the tag was not
 * bad all day. Takes the better half of the day as usual, because a fault of some hours is not.
 */
function isUsual(day: readonly BadBucket[], window: readonly BadBucket[], warningShare: number): boolean {
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
