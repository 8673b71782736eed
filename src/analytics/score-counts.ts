import type { RawBuilder, SqlBool } from 'kysely'
import { NO_EVENT } from '../rollups/index.ts'
import type { EventCounts, TagCounts } from '../store/index.ts'
import { type ScoreCounts, type TagCount, worstTag } from './score.ts'
import { addSums, isOneOf, type Sums, totals, totalWhere, zeroSums } from './sums.ts'

/** Events that carry a transaction id. Batches do not name the event of their counters, so these always count. */
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

/** What the score needs from `event_rollups`. */
export const SCORE_EVENT_MEASURES = {
  ...totals(PLAIN),
  transaction_total: totalWhere('ecommerce_total', isTransaction),
  transaction_id: totalWhere('transaction_id', isTransaction),
}
export type ScoreEventColumn = keyof typeof SCORE_EVENT_MEASURES
export const SCORE_EVENT_COLUMNS = Object.keys(SCORE_EVENT_MEASURES) as ScoreEventColumn[]

/** What the score needs from `tag_rollups`, for each tag. */
export const SCORE_TAG_COLUMNS = ['success', 'executions'] as const satisfies (keyof TagCounts)[]
export const SCORE_TAG_MEASURES = totals(SCORE_TAG_COLUMNS)

export type ScoreEventSums = Sums<ScoreEventColumn>
export type ScoreTagSums = Sums<(typeof SCORE_TAG_COLUMNS)[number]>

/** The names of the events on which each field is judged. */
export interface Carriers {
  email: ReadonlySet<string>
  phone: ReadonlySet<string>
  address: ReadonlySet<string>
  ecommerce: ReadonlySet<string>
}

/** An event name carries a field if at least this share of its events has it; one that reports none adds 0 of 0 to it. */
const CARRIED_SHARE = 0.1

/**
 * Which events carry which field in a window: tags send their flags with every event, and a page view of a visitor who is not
 * signed in is not a fault. Purchases and refunds are commerce whatever they lack. Counters of batches, which name no event,
 * always count.
 */
export function carriersOf(events: ReadonlyMap<string, ScoreEventSums>): Carriers {
  const names = (isCarried: (sums: ScoreEventSums) => boolean, always: readonly string[]) =>
    new Set([...events].flatMap(([name, sums]) => (always.includes(name) || isCarried(sums) ? [name] : [])))
  const userData = (field: 'email' | 'phone' | 'address') =>
    names((sums) => sums[field] >= CARRIED_SHARE * sums.user_data_total, [NO_EVENT])
  return {
    email: userData('email'),
    phone: userData('phone'),
    address: userData('address'),
    ecommerce: names(
      (sums) => Math.max(sums.value, sums.currency, sums.items) >= CARRIED_SHARE * sums.ecommerce_total,
      TRANSACTION_EVENTS,
    ),
  }
}

/**
 * The counts that the score is computed from.
 *
 * @param events sums by event name
 * @param tags sums by tag
 * @param carriers those of a longer window that contains this one: a field that is lost in this window must stay in the base
 */
export function scoreCounts(
  events: ReadonlyMap<string, ScoreEventSums>,
  tags: Iterable<readonly [key: string, ScoreTagSums]>,
  carriers: Carriers = carriersOf(events),
): ScoreCounts {
  const ofTags = Array.from(tags, ([tag_key, { success, executions }]): TagCount => ({ tag_key, success, executions }))
  const all = zeroSums(SCORE_TAG_COLUMNS)
  for (const tag of ofTags) addSums(all, tag, SCORE_TAG_COLUMNS)
  const total = [...events.values()].reduce((sum, ofName) => sum + ofName.total, 0)
  return { events: total, ...all, worst_tag: worstTag(ofTags), ...carriedCounts(events, carriers) }
}

/** Counts of each field over the events that carry it. */
export function carriedCounts(
  events: ReadonlyMap<string, ScoreEventSums>,
  carriers: Carriers,
): Pick<ScoreCounts, 'user_data' | 'ecommerce'> {
  const of = (present: ScoreEventColumn, total: ScoreEventColumn, names: ReadonlySet<string>) => {
    const sum = { present: 0, total: 0 }
    for (const [name, sums] of events) {
      if (!names.has(name)) continue
      sum.present += sums[present]
      sum.total += sums[total]
    }
    return sum
  }
  const userData = (field: 'email' | 'phone' | 'address') => of(field, 'user_data_total', carriers[field])
  const ecommerce = (field: 'value' | 'currency' | 'items') => of(field, 'ecommerce_total', carriers.ecommerce)
  return {
    user_data: { email: userData('email'), phone: userData('phone'), address: userData('address') },
    ecommerce: {
      value: ecommerce('value'),
      currency: ecommerce('currency'),
      transaction_id: of('transaction_id', 'transaction_total', carriers.ecommerce),
      items: ecommerce('items'),
    },
  }
}
