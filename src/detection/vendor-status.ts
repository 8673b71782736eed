import { duration, number, percent } from '../lib/index.ts'
import { BAD_EXECUTIONS_DEFAULTS, type BadExecutionsConfig, badExecutions } from './bad-executions.ts'
import type { TimeRange } from './time.ts'
import { type Finding, tagsThat, type Verdict, verdictOf } from './verdict.ts'

/** Executions of a tag by the class of the status that its vendor answered. */
export interface ResponseBucket extends TimeRange {
  readonly response_2xx: number
  readonly response_3xx: number
  readonly response_4xx: number
  readonly response_5xx: number
  readonly response_none: number
}

/** Answers to a tag in the last 24 hours. Buckets are oldest first; those without answers may be missing. */
export interface TagResponses {
  readonly tag_key: string
  readonly buckets: readonly ResponseBucket[]
}

export const VENDOR_STATUS_DEFAULTS = BAD_EXECUTIONS_DEFAULTS

interface VendorStatusInput {
  now: number
  tags: readonly TagResponses[]
}

/** Answers of a vendor that does not accept an event, in words. */
const REFUSALS = { response_4xx: 'HTTP 4xx', response_5xx: 'HTTP 5xx', response_none: 'no answer' } as const

const ANSWERS = {
  good: ['response_2xx', 'response_3xx'],
  bad: ['response_4xx', 'response_5xx', 'response_none'],
} as const

/** Judges which tags' vendors refuse too much of what they are sent, whatever outcome the tags report. */
export function vendorStatus({ now, tags }: VendorStatusInput, config: BadExecutionsConfig): Verdict {
  const judged = tags.map((tag) => judgeTag(tag, now, config))
  return verdictOf(judged, tagsThat(judged, 'is answered well by its vendor', 'are answered well by their vendors'))
}

function judgeTag(tag: TagResponses, now: number, config: BadExecutionsConfig): Finding | null {
  return badExecutions(tag, ANSWERS, now, config, ({ bad, executions, length }, counts) => {
    const named = ANSWERS.bad.filter((way) => counts[way] > 0).map((way) => `${number(counts[way])} ${REFUSALS[way]}`)
    return `The vendor of “${tag.tag_key}” refused ${percent(bad / executions)} of ${number(executions)} executions in ${duration(length)} (${named.join(', ') || 'none'})`
  })
}
