import type { BatchPayload, EventPayload } from '../src/journal/payload.ts'

/** A per-event payload that reports nothing but itself; `over` adds to it. */
export const event = (time: number | string, over: Partial<EventPayload> = {}): EventPayload => ({
  container_id: 'GTM-ABC1234',
  event_name: 'page_view',
  timestamp_ms: new Date(time).getTime(),
  tags: [],
  ...over,
})

/** A batch whose window is a single moment; `over` adds to it. */
export const batch = (time: number | string, over: Partial<BatchPayload> = {}): BatchPayload => ({
  container_id: 'GTM-ABC1234',
  batch: true,
  window_start_ms: new Date(time).getTime(),
  window_end_ms: new Date(time).getTime(),
  total_events: 0,
  ...over,
})

/**
 * Placeholder for the sender's time in a body. It has as many digits as any time from 2001 to 2286, so the load generator can overwrite it
 * in place.
 */
export const TIME_PLACEHOLDER = 1_111_111_111_111

export const CONTAINER_ID = 'GTM-BENCH01'

/** Events that one batched body reports. */
export const EVENTS_PER_BATCH = 200
/** Chosen so that a batch is about 10 kB, the lower end of what batches of 200 events typically weigh. */
const BATCH_TAGS = 83
const BATCH_EVENT_NAMES = 10

const EVENT_TAGS = [
  'GA4 purchase',
  'Ads conversion',
  'Meta CAPI',
  'TikTok Events',
  'LinkedIn CAPI',
  'Pinterest API',
  'Floodlight sale',
  'Warehouse row',
]

/** One purchase with eight named and timed tags, user data and e-commerce: about 935 bytes. */
export function eventBody(): string {
  return JSON.stringify({
    container_id: CONTAINER_ID,
    event_name: 'purchase',
    timestamp_ms: TIME_PLACEHOLDER,
    tags: EVENT_TAGS.map((name, index) => ({
      id: String(101 + index),
      name,
      status: index === 5 ? 'failure' : 'success',
      execution_time: 12 + index * 37,
    })),
    user_data: {
      has_email: true,
      has_phone: false,
      has_first_name: true,
      has_last_name: true,
      has_city: false,
      has_country: true,
    },
    ecommerce: { has_value: true, has_currency: true, has_transaction_id: true, has_items: true },
  })
}

/** The counters of `EVENTS_PER_BATCH` events. */
export function batchBody(): string {
  const eventNames = Array.from({ length: BATCH_EVENT_NAMES }, (_, index) => `event_${index}`)
  const tagNames = Array.from({ length: BATCH_TAGS }, (_, index) => `Vendor ${index} conversion tag`)
  return JSON.stringify({
    container_id: CONTAINER_ID,
    batch: true,
    window_start_ms: TIME_PLACEHOLDER,
    window_end_ms: TIME_PLACEHOLDER,
    total_events: EVENTS_PER_BATCH,
    event_counts: Object.fromEntries(eventNames.map((name) => [name, EVENTS_PER_BATCH / BATCH_EVENT_NAMES])),
    tag_metrics: Object.fromEntries(
      tagNames.map((name, index) => [
        name,
        { success: 196, failure: 2, timeout: 1, exception: 1, total_exec_ms: 9_000 + index, count: EVENTS_PER_BATCH },
      ]),
    ),
    user_data_quality: { email: 140, phone: 60, address: 110, total: EVENTS_PER_BATCH },
    ecommerce_quality: { value: 20, currency: 20, transaction_id: 19, items: 20, total: 20 },
  })
}
