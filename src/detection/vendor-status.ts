import { duration, MINUTE, number, percent } from '../lib/index.ts'
import { BAD_EXECUTIONS_DEFAULTS, type BadExecutionsConfig, judgeExecutions } from './bad-executions.ts'
import { sum } from './statistics.ts'
import type { TimeRange } from './time.ts'
import { type Finding, tagsThat, type Verdict, verdictOf } from './verdict.ts'

/** Executions of a tag by the class of the status that its vendor answered with. */
export interface ResponseBucket extends TimeRange {
  readonly response_2xx: number
  readonly response_3xx: number
  readonly response_4xx: number
  readonly response_5xx: number
  readonly response_none: number
}

/** How a tag was answered in the last 24 hours. Buckets oldest first; those without answers may be missing. */
export interface TagResponses {
  readonly tag_key: string
  readonly buckets: readonly ResponseBucket[]
}

export const VENDOR_STATUS_DEFAULTS = BAD_EXECUTIONS_DEFAULTS

interface VendorStatusInput {
  now: number
  tags: readonly TagResponses[]
}

/** What a vendor that does not take an event says, in words. */
const REFUSALS = [
  { column: 'response_4xx', words: 'HTTP 4xx' },
  { column: 'response_5xx', words: 'HTTP 5xx' },
  { column: 'response_none', words: 'no answer' },
] as const

/** Which tags' vendors refuse too much of what they are sent, whatever the tags themselves end with. */
export function vendorStatus({ now, tags }: VendorStatusInput, config: BadExecutionsConfig): Verdict {
  const judged = tags.map((tag) => judgeTag(tag, now, config))
  return verdictOf(judged, tagsThat(judged, 'is answered well by its vendor', 'are answered well by their vendors'))
}

function judgeTag({ tag_key, buckets }: TagResponses, now: number, config: BadExecutionsConfig): Finding | null {
  const counts = buckets.map(({ from, to, response_2xx, response_3xx, response_4xx, response_5xx, response_none }) => {
    const bad = response_4xx + response_5xx + response_none
    return { from, to, executions: response_2xx + response_3xx + bad, bad }
  })
  const judged = judgeExecutions(counts, now, config)
  if (judged === null) return null
  const { status, executions, bad, length } = judged
  const window = buckets.slice(buckets.length - judged.judged)
  const kinds = REFUSALS.map(({ column, words }) => ({
    column,
    words,
    count: sum(window.map((bucket) => bucket[column])),
  }))
  const named = kinds.filter(({ count }) => count > 0).map(({ words, count }) => `${number(count)} ${words}`)
  return {
    subject: { tag_key },
    status,
    message: `The vendor of “${tag_key}” refused ${percent(bad / executions)} of ${number(executions)} executions in ${duration(length)} (${named.join(', ') || 'none'})`,
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
      ...Object.fromEntries(kinds.map(({ column, count }) => [column, count])),
    },
  }
}
