import { RESPONSE_COLUMNS } from '../rollups/index.ts'
import type { TagSignalCounts } from '../store/index.ts'
import { byCountThenKey, type Sums } from './sums.ts'

/** How the vendor of a tag answered it. */
export interface TagResponses extends Sums<(typeof RESPONSE_COLUMNS)[number]> {
  tag_key: string
  /** Executions whose tag reported the answer. */
  total: number
}

/** How vendors answered the tags that report it. */
export interface ResponseReport {
  total: number
  /** Those that were refused most first. */
  tags: TagResponses[]
}

type Responses = Pick<TagSignalCounts, (typeof RESPONSE_COLUMNS)[number]>

/** Executions whose answer is known. */
export const answered = (counts: Responses): number => RESPONSE_COLUMNS.reduce((sum, column) => sum + counts[column], 0)

/** Those that the vendor did not take. */
export const refused = (counts: Responses): number => counts.response_4xx + counts.response_5xx + counts.response_none

export function responseReport(tags: ReadonlyMap<string, TagSignalCounts>): ResponseReport {
  const reports = Array.from(tags, ([tag_key, counts]): TagResponses => {
    const { response_2xx, response_3xx, response_4xx, response_5xx, response_none } = counts
    return { tag_key, total: answered(counts), response_2xx, response_3xx, response_4xx, response_5xx, response_none }
  }).filter(({ total }) => total > 0)
  return {
    total: reports.reduce((sum, { total }) => sum + total, 0),
    tags: reports.sort(byCountThenKey<TagResponses>(refused, ({ tag_key }) => tag_key)),
  }
}
