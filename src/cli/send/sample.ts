import type { BatchPayload, EventPayload, Payload } from '../../ingest/index.ts'
import { MINUTE } from '../../lib/index.ts'

export const MODES = ['per_event', 'batched'] as const
export type Mode = (typeof MODES)[number]

const CONTAINER_ID = 'GTM-SAMPLE1'
/** Events in the sample batch, the last minute's. */
const BATCH_EVENTS = 20

/** A payload as the tag sends it at `now`, epoch ms. */
export const samplePayload = (mode: Mode, eventName: string, now: number): Payload =>
  mode === 'batched' ? sampleBatch(eventName, now) : sampleEvent(eventName, now)

const sampleEvent = (eventName: string, now: number): EventPayload => ({
  container_id: CONTAINER_ID,
  event_name: eventName,
  timestamp_ms: now,
  tags: [
    { id: '12', name: 'GA4', status: 'success', execution_time: 42 },
    { id: '31', name: 'Google Ads Conversion', status: 'success', execution_time: 96 },
    { id: '47', status: 'success', execution_time: 173 },
  ],
  user_data: {
    has_email: true,
    has_phone: false,
    has_first_name: true,
    has_last_name: true,
    has_city: true,
    has_country: true,
  },
  ecommerce: { has_value: true, has_currency: true, has_transaction_id: true, has_items: true },
})

const sampleBatch = (eventName: string, now: number): BatchPayload => ({
  container_id: CONTAINER_ID,
  batch: true,
  window_start_ms: now - MINUTE,
  window_end_ms: now,
  total_events: BATCH_EVENTS,
  event_counts: { [eventName]: BATCH_EVENTS },
  tag_metrics: {
    GA4: { success: BATCH_EVENTS, failure: 0, timeout: 0, exception: 0, total_exec_ms: 860, count: BATCH_EVENTS },
  },
  user_data_quality: { email: 12, phone: 4, address: 9, total: BATCH_EVENTS },
  ecommerce_quality: { value: 20, currency: 20, transaction_id: 19, items: 18, total: BATCH_EVENTS },
})
