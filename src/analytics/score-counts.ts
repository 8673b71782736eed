import type { RawBuilder, SqlBool } from 'kysely'
import { NO_EVENT } from '../rollups/index.ts'
import type { EventCounts, TagCounts } from '../store/index.ts'
import { addSums, type Sums, zeroSums } from './merge.ts'
import { type ScoreCounts, type TagCount, worstTag } from './score.ts'
import { isOneOf, totals, totalWhere } from './sums.ts'

/** Events that carry a transaction id. Batches do not say of which event their counters are, so theirs count as they are. */
const TRANSACTION_EVENTS = ['purchase', 'refund', NO_EVENT]

export const bearsTransactionId = (eventName: string): boolean => TRANSACTION_EVENTS.includes(eventName)

const isTransaction: RawBuilder<SqlBool> = isOneOf('event_name', TRANSACTION_EVENTS)

const PLAIN = [
  'total',
  'user_data_total',
  'email',
  'phone',
  'address',
  'ecommerce_total',
  'value',
  'currency',
  'items',
] as const satisfies (keyof EventCounts)[]

/** What the score needs of `event_rollups`, over all event names. */
export const SCORE_EVENT_MEASURES = {
  ...totals(PLAIN),
  transaction_total: totalWhere('ecommerce_total', isTransaction),
  transaction_id: totalWhere('transaction_id', isTransaction),
}
export type ScoreEventColumn = keyof typeof SCORE_EVENT_MEASURES
export const SCORE_EVENT_COLUMNS = Object.keys(SCORE_EVENT_MEASURES) as ScoreEventColumn[]

/** What the score needs of `tag_rollups`, over all tags. */
export const SCORE_TAG_COLUMNS = ['success', 'executions'] as const satisfies (keyof TagCounts)[]
export const SCORE_TAG_MEASURES = totals(SCORE_TAG_COLUMNS)

export type ScoreEventSums = Sums<ScoreEventColumn>
export type ScoreTagSums = Sums<(typeof SCORE_TAG_COLUMNS)[number]>

/** What the score is computed from, of the sums of each tag. */
export function scoreCounts(events: ScoreEventSums, tags: Iterable<readonly [key: string, ScoreTagSums]>): ScoreCounts {
  const ofTags = Array.from(tags, ([tag_key, { success, executions }]): TagCount => ({ tag_key, success, executions }))
  const total = zeroSums(SCORE_TAG_COLUMNS)
  for (const tag of ofTags) addSums(total, tag, SCORE_TAG_COLUMNS)
  return { events: events.total, ...total, worst_tag: worstTag(ofTags), ...qualityCounts(events) }
}

export function qualityCounts(events: ScoreEventSums): Pick<ScoreCounts, 'user_data' | 'ecommerce'> {
  const userData = (present: number) => ({ present, total: events.user_data_total })
  const ecommerce = (present: number) => ({ present, total: events.ecommerce_total })
  return {
    user_data: { email: userData(events.email), phone: userData(events.phone), address: userData(events.address) },
    ecommerce: {
      value: ecommerce(events.value),
      currency: ecommerce(events.currency),
      transaction_id: { present: events.transaction_id, total: events.transaction_total },
      items: ecommerce(events.items),
    },
  }
}
