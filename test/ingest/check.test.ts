import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPayload } from '../../src/ingest/check.ts'

const event = (over: object = {}) => ({
  container_id: 'GTM-ABC1234',
  event_name: 'purchase',
  timestamp_ms: 1_793_000_000_000,
  tags: [{ id: '12', name: 'GA4', status: 'success', execution_time: 84 }],
  ...over,
})
const batch = (over: object = {}) => ({
  container_id: 'GTM-ABC1234',
  batch: true,
  window_start_ms: 1,
  window_end_ms: 2,
  total_events: 50,
  ...over,
})
const keys = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`name ${i}`, value]))
const tag = (over: object) => event({ tags: [{ id: '1', status: 'success', ...over }] })

const LONGEST = '😀'.repeat(256)

const accepted: [what: string, payload: unknown][] = [
  ['the smallest event', event({ tags: [] })],
  [
    'unknown fields anywhere',
    event({ x: 1, tags: [{ id: '1', status: 'success', y: {} }], user_data: { z: 'content' } }),
  ],
  [
    'a tag name that is null or empty',
    event({
      tags: [
        { id: '1', name: null, status: 'failure' },
        { id: '2', name: '', status: 'timeout' },
      ],
    }),
  ],
  ['an execution time of null', tag({ execution_time: null })],
  ['empty presence objects', event({ user_data: {}, ecommerce: {}, consent: {} })],
  ['classes of consent', event({ consent: { ad_storage: 'denied', analytics_storage: 'absent', dma: true } })],
  [
    'as much consent as events',
    batch({
      tag_metrics: { GA4: { success: 3, consent_total: 3, ad_storage_denied: 3 } },
      consent: { total: 50, ad_storage_granted: 20, ad_storage_denied: 30, update_known: 50, never_updated: 50 },
    }),
  ],
  ['how a vendor answered', tag({ response: 'none' })],
  [
    'as many answers as executions',
    batch({ tag_metrics: { GA4: { success: 3, response_2xx: 1, response_4xx: 1, response_none: 1 } } }),
  ],
  ['batch: false', event({ batch: false })],
  ['an event that stands for one', event({ weight: 1 })],
  ['an event that stands for 1,000', event({ weight: 1_000 })],
  ['a batch with a weight, which it does not have', batch({ weight: 'x' })],
  ['500 tags', event({ tags: Array.from({ length: 500 }, (_, i) => ({ id: String(i), status: 'success' })) })],
  ['the largest time', event({ timestamp_ms: Number.MAX_SAFE_INTEGER })],
  ['names of 256 characters, also beyond the basic plane', event({ event_name: LONGEST, fields: { [LONGEST]: true } })],
  [
    'a batch of such names',
    batch({
      event_counts: { [LONGEST]: 1 },
      tag_metrics: { [LONGEST]: { success: 1 } },
      fields: { [LONGEST]: { present: 1, total: 1 } },
    }),
  ],
  ['the smallest batch', batch()],
  [
    'a batch with 1,000 names and tags',
    batch({ total_events: 1_000, event_counts: keys(1_000, 1), tag_metrics: keys(1_000, { success: 1 }) }),
  ],
  [
    'a batch whose parts make up its whole',
    batch({
      event_counts: { a: 20, b: 30 },
      tag_metrics: { GA4: { success: 3, failure: 2, count: 5 }, Ads: { success: 9 } },
    }),
  ],
  ['more quality reports than events', batch({ user_data_quality: { email: 60, total: 60 } })],
  ['a presence counter equal to its total', batch({ user_data_quality: { email: 5, total: 5 } })],
  ['a window of no length', batch({ window_start_ms: 2 })],
  [
    'names that are special to JavaScript',
    JSON.parse(JSON.stringify(batch()).replace('}', ',"event_counts":{"__proto__":1,"constructor":2}}')),
  ],
]
for (const [what, payload] of accepted) {
  test(`accepted: ${what}`, () => assert.equal(checkPayload(payload).ok, true))
}

/** Cut where paths are cut. */
const longNul = `/event_counts/${'\ufffd'.repeat(200)}`.slice(0, 200)
const LONG_PATH = `/event_counts/${LONGEST}`.slice(0, 200)

const refused: [what: string, payload: unknown, path: string][] = [
  ['null', null, '/'],
  ['an array', [], '/'],
  ['text', 'x', '/'],
  ['no container', event({ container_id: undefined }), '/container_id'],
  ['an empty container', event({ container_id: '' }), '/container_id'],
  ['a container of 65 characters', event({ container_id: 'x'.repeat(65) }), '/container_id'],
  ['an event name of 257 characters', event({ event_name: 'x'.repeat(257) }), '/event_name'],
  ['time as text', event({ timestamp_ms: '1' }), '/timestamp_ms'],
  ['a time with a fraction', event({ timestamp_ms: 1.5 }), '/timestamp_ms'],
  ['a negative time', event({ timestamp_ms: -1 }), '/timestamp_ms'],
  ['an unsafe time', event({ timestamp_ms: Number.MAX_SAFE_INTEGER + 1 }), '/timestamp_ms'],
  ['an event that stands for none', event({ weight: 0 }), '/weight'],
  ['an event that stands for fewer than none', event({ weight: -10 }), '/weight'],
  ['an event that stands for 1,001', event({ weight: 1_001 }), '/weight'],
  ['a weight with a fraction', event({ weight: 1.5 }), '/weight'],
  ['a weight as text', event({ weight: '10' }), '/weight'],
  ['a weight of null', event({ weight: null }), '/weight'],
  ['no tags', event({ tags: undefined }), '/tags'],
  ['501 tags', event({ tags: Array.from({ length: 501 }, () => ({ id: '1', status: 'success' })) }), '/tags'],
  ['a tag without id', event({ tags: [{ status: 'success' }] }), '/tags/0/id'],
  ['a tag id that is a number', tag({ id: 7 }), '/tags/0/id'],
  ['an unknown status', tag({ status: 'ok' }), '/tags/0/status'],
  ['a negative execution time', tag({ execution_time: -1 }), '/tags/0/execution_time'],
  ['content where a flag belongs', event({ user_data: { has_email: 'jane@example.com' } }), '/user_data/has_email'],
  ['a flag that is null', event({ ecommerce: { has_value: null } }), '/ecommerce/has_value'],
  ['user data that is a list', event({ user_data: [] }), '/user_data'],
  ['a batch without total', batch({ total_events: undefined }), '/total_events'],
  ['a reversed window', batch({ window_start_ms: 3 }), '/window_start_ms'],
  ['a negative count', batch({ event_counts: { a: -1 } }), '/event_counts/a'],
  ['counts by name that are a list', batch({ event_counts: [1] }), '/event_counts'],
  ['metrics by tag that are null', batch({ tag_metrics: null }), '/tag_metrics'],
  ['a tag whose metrics are a number', batch({ tag_metrics: { GA4: {}, Ads: 1 } }), '/tag_metrics/Ads'],
  ['a count behind a name with a line break', batch({ event_counts: { 'a\nb': '1' } }), '/event_counts/a\nb'],
  ['a count that is text', batch({ tag_metrics: { GA4: { success: '1' } } }), '/tag_metrics/GA4/success'],
  ['a count behind a name that no database holds', batch({ event_counts: { 'a\0b': -1 } }), '/event_counts/a\ufffdb'],
  ['an over-long name that no database holds', batch({ event_counts: { ['\0'.repeat(257)]: 1 } }), longNul],
  ['1,001 names', batch({ event_counts: keys(1_001, 1) }), '/event_counts'],
  ['1,001 tags', batch({ tag_metrics: keys(1_001, {}) }), '/tag_metrics'],
  ['1,001 names of another kind', batch({ event_counts: keys(1_001, 'x') }), '/event_counts'],
  ['more events by name than events', batch({ event_counts: { a: 26, b: 25 } }), '/event_counts'],
  [
    'more outcomes than executions',
    batch({ tag_metrics: { A: { success: 3, timeout: 2, count: 4 } } }),
    '/tag_metrics/A/count',
  ],
  ['an outcome of no executions', batch({ tag_metrics: { A: { exception: 1, count: 0 } } }), '/tag_metrics/A/count'],
  ['an empty event name in a batch', batch({ event_counts: { '': 1 } }), '/event_counts/'],
  ['an event name of 257 characters in a batch', batch({ event_counts: { [`${LONGEST}x`]: 1 } }), LONG_PATH],
  ['more e-mails than events', batch({ user_data_quality: { email: 6, total: 5 } }), '/user_data_quality/email'],
  ['content where a class belongs', event({ consent: { ad_storage: 'G111' } }), '/consent/ad_storage'],
  ['an update that is no flag', event({ consent: { updated: 1 } }), '/consent/updated'],
  [
    'more classes than events that reported consent',
    batch({ consent: { total: 5, ad_storage_granted: 3, ad_storage_denied: 3 } }),
    '/consent/ad_storage_denied',
  ],
  [
    'more defaults without a choice than are known',
    batch({ consent: { total: 5, update_known: 2, never_updated: 3 } }),
    '/consent/never_updated',
  ],
  [
    'more consent than executions',
    batch({ tag_metrics: { A: { success: 3, consent_total: 4 } } }),
    '/tag_metrics/A/consent_total',
  ],
  [
    'more denied executions than reported consent',
    batch({ tag_metrics: { A: { success: 3, ad_storage_denied: 1 } } }),
    '/tag_metrics/A/ad_storage_denied',
  ],
  ['a status where its class belongs', tag({ response: '400' }), '/tags/0/response'],
  ['a response of null', tag({ response: null }), '/tags/0/response'],
  ['a negative count of answers', batch({ tag_metrics: { A: { response_4xx: -1 } } }), '/tag_metrics/A/response_4xx'],
  [
    'more answers than executions',
    batch({ tag_metrics: { A: { success: 3, count: 3, response_2xx: 2, response_none: 2 } } }),
    '/tag_metrics/A/response_none',
  ],
  ['an identifier itself', event({ identifiers: { has_client_id: 'GA1.1' } }), '/identifiers/has_client_id'],
  ['a value where it is said to be 0', event({ ecommerce: { value_zero: 0 } }), '/ecommerce/value_zero'],
  ['more faults than were looked at', batch({ ecommerce_quality: { value_zero: 1 } }), '/ecommerce_quality/value_zero'],
  ['more event ids than events', batch({ identifiers: { event_id: 2, total: 1 } }), '/identifiers/event_id'],
  ['presence without its total', batch({ ecommerce_quality: { items: 1 } }), '/ecommerce_quality/items'],
]
for (const [what, payload, path] of refused) {
  test(`refused with its place: ${what}`, () => {
    const stripped: unknown = payload === null ? null : JSON.parse(JSON.stringify(payload))
    assert.deepEqual(checkPayload(stripped), { ok: false, path })
  })
}

test('a refusal never repeats more than a little of a name the sender made up', () => {
  const checked = checkPayload(batch({ event_counts: { ['x'.repeat(100_000)]: 1 } }))
  assert.ok(!checked.ok && checked.path.length <= 200)
})

test('a refusal does not end in half a character', () => {
  const checked = checkPayload(batch({ event_counts: { [`x${'😀'.repeat(200)}`]: -1 } }))
  assert.ok(!checked.ok && checked.path.length <= 200 && checked.path.isWellFormed())
})
