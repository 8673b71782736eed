import { duration, number, percent } from '../lib/index.ts'
import { BAD_EXECUTIONS_DEFAULTS, type BadExecutionsConfig, badExecutions } from './bad-executions.ts'
import type { TimeRange } from './time.ts'
import { type Finding, tagsThat, type Verdict, verdictOf } from './verdict.ts'

export interface Outcomes {
  readonly success: number
  readonly failure: number
  readonly timeout: number
  readonly exception: number
}

export interface OutcomeBucket extends TimeRange, Outcomes {}

/** Executions of a tag in the last 24 hours. Buckets are oldest first; those without executions may be missing. */
export interface TagOutcomes {
  readonly tag_key: string
  readonly buckets: readonly OutcomeBucket[]
}

export const TAG_FAILURE_RATE_DEFAULTS = BAD_EXECUTIONS_DEFAULTS

interface FailureRateInput {
  now: number
  tags: readonly TagOutcomes[]
}

const OUTCOMES = { good: ['success'], bad: ['failure', 'timeout', 'exception'] } as const

/** Judges which tags fail too often. */
export function tagFailureRate({ now, tags }: FailureRateInput, config: BadExecutionsConfig): Verdict {
  const judged = tags.map((tag) => judgeTag(tag, now, config))
  return verdictOf(judged, tagsThat(judged, 'runs well', 'run well'))
}

function judgeTag(tag: TagOutcomes, now: number, config: BadExecutionsConfig): Finding | null {
  return badExecutions(tag, OUTCOMES, now, config, ({ bad, executions, length }, counts) => {
    const ways = OUTCOMES.bad.filter((way) => counts[way] > 0)
    const named = ways.map((way) => `${number(counts[way])} ${way}${counts[way] === 1 ? '' : 's'}`)
    const detail = ways.every((way) => way === 'failure') ? '' : `: ${named.join(', ')}`
    return `“${tag.tag_key}” failed: ${number(bad)} of ${number(executions)} executions (${percent(bad / executions)}), last ${duration(length)}${detail}`
  })
}
