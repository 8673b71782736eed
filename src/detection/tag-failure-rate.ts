import { duration, MINUTE, number, percent } from '../lib/index.ts'
import { BAD_EXECUTIONS_DEFAULTS, type BadExecutionsConfig, judgeExecutions } from './bad-executions.ts'
import { sum } from './statistics.ts'
import type { TimeRange } from './time.ts'
import { type Finding, tagsThat, type Verdict, verdictOf } from './verdict.ts'

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

export type FailureRateConfig = BadExecutionsConfig

export const TAG_FAILURE_RATE_DEFAULTS = BAD_EXECUTIONS_DEFAULTS

export interface FailureRateInput {
  now: number
  tags: readonly TagOutcomes[]
}

/** Which tags fail too often. */
export function tagFailureRate({ now, tags }: FailureRateInput, config: FailureRateConfig): Verdict {
  const judged = tags.map((tag) => judgeTag(tag, now, config))
  return verdictOf(judged, tagsThat(judged, 'runs well', 'run well'))
}

function judgeTag({ tag_key, buckets }: TagOutcomes, now: number, config: FailureRateConfig): Finding | null {
  const counts = buckets.map(({ from, to, success, failure, timeout, exception }) => {
    const bad = failure + timeout + exception
    return { from, to, executions: success + bad, bad }
  })
  const judged = judgeExecutions(counts, now, config)
  if (judged === null) return null
  const { status, executions, bad, length } = judged
  const window = buckets.slice(buckets.length - judged.judged)
  const kinds = (['failure', 'timeout', 'exception'] as const).map((kind) => ({
    kind,
    count: sum(window.map((bucket) => bucket[kind])),
  }))
  const named = kinds
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${number(count)} ${kind}${count === 1 ? '' : 's'}`)
  const isPlain = kinds.every(({ kind, count }) => count === 0 || kind === 'failure')
  const detail = isPlain ? '' : `: ${named.join(', ')}`
  return {
    subject: { tag_key },
    status,
    message: `“${tag_key}” failed: ${number(bad)} of ${number(executions)} executions (${percent(bad / executions)}), last ${duration(length)}${detail}`,
    measured: bad / executions,
    expected: null,
    band: { low: null, high: config.warning_share },
    since: judged.since,
    evidence: {
      executions,
      bad,
      lower_bound: judged.low,
      upper_bound: judged.high,
      last_seen: judged.lastSeen,
      window_minutes: length / MINUTE,
      ...Object.fromEntries(kinds.map(({ kind, count }) => [kind, count])),
    },
  }
}
