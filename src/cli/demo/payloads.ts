import {
  type BatchPayload,
  CONSENT_PURPOSES,
  type EventPayload,
  IDENTIFIER_COLUMNS,
  type Payload,
  VALIDITY_COLUMNS,
} from '../../journal/index.ts'
import { eventsOf, type Traffic } from './events.ts'

/** The payloads that a site's tag sends from `from` until before `to`, in order. */
export function payloadsOf(traffic: Traffic, from: number, to: number): Iterator<Payload> {
  const events = eventsOf(traffic, from, to)
  const { batchSize } = traffic.site
  return batchSize === null ? events : inBatches(events, batchSize)
}

/** The time at which the tag sends the payload, epoch ms. */
export const sentAt = (payload: Payload): number =>
  payload.batch === true ? payload.window_end_ms : payload.timestamp_ms

/** Reads a site's payloads in pieces, so that only one piece of the history is in memory. */
export class PayloadReader {
  readonly #payloads: Iterator<Payload>
  #next: IteratorResult<Payload>

  constructor(payloads: Iterator<Payload>) {
    this.#payloads = payloads
    this.#next = payloads.next()
  }

  /** The next payloads, sent before `time`. */
  *takeUntil(time: number): Generator<Payload> {
    while (this.#next.done !== true && sentAt(this.#next.value) < time) {
      yield this.#next.value
      this.#next = this.#payloads.next()
    }
  }
}

type Consent = NonNullable<EventPayload['consent']>
type ConsentCounts = NonNullable<BatchPayload['consent']>
type Identifiers = NonNullable<EventPayload['identifiers']>
type IdentifierCounts = NonNullable<BatchPayload['identifiers']>
type TagMetrics = NonNullable<BatchPayload['tag_metrics']>

/** Merges events into batches as the tag does in batched mode. Each is sent when full; the last one may be smaller. */
export function* inBatches(events: Iterable<EventPayload>, size: number): Generator<BatchPayload> {
  let buffer: EventPayload[] = []
  for (const event of events) {
    buffer.push(event)
    if (buffer.length < size) continue
    yield batchOf(buffer)
    buffer = []
  }
  if (buffer.length > 0) yield batchOf(buffer)
}

/** @param events of one container, oldest first; at least one */
function batchOf(events: readonly EventPayload[]): BatchPayload {
  const userData = events.flatMap((event) => event.user_data ?? [])
  const ecommerce = events.flatMap((event) => event.ecommerce ?? [])
  const consents = events.flatMap((event) => event.consent ?? [])
  return {
    container_id: events[0]?.container_id ?? '',
    ...(events[0]?.container !== undefined && { container: events[0].container }),
    batch: true,
    window_start_ms: events[0]?.timestamp_ms ?? 0,
    window_end_ms: events.at(-1)?.timestamp_ms ?? 0,
    total_events: events.length,
    event_counts: countBy(events, (event) => event.event_name),
    tag_metrics: tagMetrics(events),
    user_data_quality: {
      email: countOf(userData, (flags) => flags.has_email),
      phone: countOf(userData, (flags) => flags.has_phone),
      address: countOf(userData, (flags) => flags.has_first_name === true || flags.has_last_name === true),
      total: userData.length,
    },
    consent: consentCounts(consents),
    identifiers: identifierCounts(events.flatMap((event) => event.identifiers ?? [])),
    ecommerce_quality: {
      value: countOf(ecommerce, (flags) => flags.has_value),
      currency: countOf(ecommerce, (flags) => flags.has_currency),
      transaction_id: countOf(ecommerce, (flags) => flags.has_transaction_id),
      items: countOf(ecommerce, (flags) => flags.has_items),
      total: ecommerce.length,
      validity_total: ecommerce.length,
      ...countEach(VALIDITY_COLUMNS, (field) => countOf(ecommerce, (flags) => flags[field])),
    },
  }
}

function consentCounts(said: readonly Consent[]): ConsentCounts {
  const of = (purpose: (typeof CONSENT_PURPOSES)[number], choice: 'granted' | 'denied') =>
    countOf(said, (consent) => consent[purpose] === choice)
  return {
    total: said.length,
    ...Object.fromEntries(
      CONSENT_PURPOSES.flatMap((purpose) => [
        [`${purpose}_granted`, of(purpose, 'granted')],
        [`${purpose}_denied`, of(purpose, 'denied')],
      ]),
    ),
    update_known: countOf(said, ({ updated }) => updated !== undefined),
    never_updated: countOf(said, ({ updated }) => updated === false),
    dma: countOf(said, ({ dma }) => dma),
  }
}

const identifierCounts = (given: readonly Identifiers[]): IdentifierCounts => ({
  ...countEach(IDENTIFIER_COLUMNS, (name) => countOf(given, (flags) => flags[`has_${name}`])),
  total: given.length,
})

function tagMetrics(events: readonly EventPayload[]): TagMetrics {
  const metrics: TagMetrics = {}
  for (const { tags, consent } of events) {
    for (const { name, id, status, execution_time, response } of tags) {
      const key = name ?? `tag_${id}`
      metrics[key] ??= { success: 0, failure: 0, timeout: 0, exception: 0, total_exec_ms: 0, count: 0 }
      const tag = metrics[key]
      tag[status] = (tag[status] ?? 0) + 1
      tag.total_exec_ms = (tag.total_exec_ms ?? 0) + (execution_time ?? 0)
      tag.count = (tag.count ?? 0) + 1
      if (consent !== undefined) {
        tag.consent_total = (tag.consent_total ?? 0) + 1
        tag.ad_storage_denied = (tag.ad_storage_denied ?? 0) + Number(consent.ad_storage === 'denied')
        tag.analytics_storage_denied =
          (tag.analytics_storage_denied ?? 0) + Number(consent.analytics_storage === 'denied')
      }
      if (response !== undefined) tag[`response_${response}`] = (tag[`response_${response}`] ?? 0) + 1
    }
  }
  return metrics
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const key of items.map(keyOf)) counts[key] = (counts[key] ?? 0) + 1
  return counts
}

const countEach = <K extends string>(keys: readonly K[], countOf: (key: K) => number): Record<K, number> =>
  Object.fromEntries(keys.map((key) => [key, countOf(key)])) as Record<K, number>

function countOf<T>(items: readonly T[], has: (item: T) => boolean | undefined): number {
  let count = 0
  for (const item of items) if (has(item) === true) count++
  return count
}
