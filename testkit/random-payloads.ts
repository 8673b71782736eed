import fc from 'fast-check'
import type { BatchPayload, EventPayload, Payload } from '../src/journal/payload.ts'

const FIELD_NAMES = ['coupon', 'customer_group', 'Käufer/Gruppe', 'constructor', '__proto__'] as const
const EVENT_NAMES = ['page_view', 'purchase', 'add_to_cart', 'Käufe/ß', 'constructor'] as const
/** Each id always has the same name or none, as in an unedited container. */
const TAGS = [
  { id: '1', name: 'GA4' },
  { id: '2', name: 'Meta CAPI' },
  { id: '3' },
  { id: '4', name: '' },
  { id: '5', name: null },
] as const

const status = fc.constantFrom('success' as const, 'failure' as const, 'timeout' as const, 'exception' as const)
const response = fc.constantFrom('2xx' as const, '3xx' as const, '4xx' as const, '5xx' as const, 'none' as const)
const flags = <const K extends string>(...names: K[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, fc.boolean()])) as Record<K, fc.Arbitrary<boolean>>, {
    requiredKeys: [],
  })
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T

const consentClass = fc.constantFrom('granted' as const, 'denied' as const, 'absent' as const)
const consent = fc.record(
  {
    ad_storage: consentClass,
    analytics_storage: consentClass,
    ad_user_data: consentClass,
    ad_personalization: consentClass,
    updated: fc.boolean(),
    dma: fc.boolean(),
  },
  { requiredKeys: [] },
)

/** The parts of a batch, each at most its whole. */
const consentCounts = fc
  .tuple(fc.nat(100), fc.array(fc.nat(100), { minLength: 7, maxLength: 7 }))
  .map(([total, shares]) => {
    const part = (index: number, whole = total) => Math.floor((whole * (shares[index] ?? 0)) / 100)
    const ads = part(0)
    const analytics = part(1)
    const known = part(2)
    return {
      total,
      ad_storage_granted: ads,
      ad_storage_denied: part(3, total - ads),
      analytics_storage_granted: analytics,
      analytics_storage_denied: total - analytics,
      ad_user_data_denied: part(4),
      update_known: known,
      never_updated: part(5, known),
      dma: part(6),
    }
  })

function event(from: number, to: number): fc.Arbitrary<EventPayload> {
  const execution = fc
    .tuple(fc.constantFrom(...TAGS), status, optional(fc.integer({ min: 0, max: 8_000 })), optional(response))
    .map(([tag, outcome, execution_time, answer]) =>
      withoutUndefined({ ...tag, status: outcome, execution_time, response: answer }),
    )
  return fc
    .record({
      container_id: fc.constantFrom('GTM-AAAA', 'GTM-BBBB'),
      event_name: fc.constantFrom(...EVENT_NAMES),
      timestamp_ms: fc.integer({ min: from, max: to }),
      tags: fc.array(execution, { maxLength: 6 }),
      weight: optional(fc.constantFrom(1, 2, 10)),
      user_data: optional(
        flags('has_email', 'has_phone', 'has_first_name', 'has_last_name', 'has_city', 'has_country'),
      ),
      ecommerce: optional(
        flags(
          'has_value',
          'has_currency',
          'has_transaction_id',
          'has_items',
          'value_zero',
          'value_invalid',
          'items_empty',
        ),
      ),
      identifiers: optional(flags('has_event_id', 'has_client_id', 'has_fbp', 'has_click_id')),
      fields: optional(fc.dictionary(fc.constantFrom(...FIELD_NAMES), fc.boolean())),
      consent: optional(consent),
    })
    .map((payload) => withoutUndefined(payload) as EventPayload)
}

function quality<const K extends string>(...names: K[]) {
  return fc
    .tuple(fc.nat(100), fc.record(Object.fromEntries(names.map((name) => [name, fc.nat(100)]))))
    .map(([total, shares]) => ({
      total,
      ...(Object.fromEntries(names.map((name) => [name, Math.floor((total * (shares[name] ?? 0)) / 100)])) as Record<
        K,
        number
      >),
    }))
}

const fieldCount = fc
  .tuple(fc.nat(100), fc.nat(100))
  .map(([total, share]) => ({ present: Math.floor((total * share) / 100), total }))

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

function batch(from: number, to: number): fc.Arbitrary<BatchPayload> {
  const metric = fc.record(
    {
      success: fc.nat(1_000),
      failure: fc.nat(1_000),
      timeout: fc.nat(1_000),
      exception: fc.nat(1_000),
      total_exec_ms: fc.nat(1_000_000),
      unknown: fc.nat(1_000),
    },
    { requiredKeys: [] },
  )
  const counted = fc.tuple(metric, fc.nat(100), fc.boolean()).map(([{ unknown, ...outcomes }, share, hasConsent]) => {
    const { success = 0, failure = 0, timeout = 0, exception = 0 } = outcomes
    const ended = success + failure + timeout + exception
    const denied = Math.floor((ended * share) / 100)
    const consents = hasConsent
      ? { consent_total: ended, ad_storage_denied: denied, analytics_storage_denied: ended, response_5xx: denied }
      : {}
    return { ...outcomes, ...consents, ...(unknown === undefined ? {} : { count: unknown + ended }) }
  })
  return fc
    .record({
      container_id: fc.constantFrom('GTM-AAAA', 'GTM-BBBB'),
      batch: fc.constant(true as const),
      window_end_ms: fc.integer({ min: from, max: to }),
      length: fc.nat(600_000),
      unnamed_events: fc.nat(1_000),
      event_counts: optional(fc.dictionary(fc.constantFrom(...EVENT_NAMES), fc.nat(500))),
      tag_metrics: optional(fc.dictionary(fc.constantFrom('GA4', 'Meta CAPI', 'tag_3'), counted)),
      user_data_quality: optional(quality('email', 'phone', 'address')),
      ecommerce_quality: optional(
        fc
          .tuple(quality('value', 'currency', 'transaction_id', 'items'), fc.boolean())
          .map(([counts, isChecked]) =>
            isChecked
              ? { ...counts, validity_total: counts.total, value_zero: counts.value, items_empty: counts.items }
              : counts,
          ),
      ),
      identifiers: optional(quality('event_id', 'fbc', 'user_agent')),
      fields: optional(fc.dictionary(fc.constantFrom(...FIELD_NAMES), fieldCount)),
      consent: optional(consentCounts),
    })
    .map(({ length, unnamed_events, ...payload }) =>
      withoutUndefined({
        ...payload,
        window_start_ms: payload.window_end_ms - length,
        total_events: unnamed_events + sum(Object.values(payload.event_counts ?? {})),
      }),
    ) as fc.Arbitrary<BatchPayload>
}

/** Valid payloads of both modes, counted between `from` and `to` (epoch ms). */
export const payloads = (from: number, to: number): fc.Arbitrary<Payload[]> =>
  fc.array(fc.oneof({ weight: 3, arbitrary: event(from, to) }, { weight: 1, arbitrary: batch(from, to) }), {
    minLength: 1,
    maxLength: 40,
  })
