import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendPayload } from '../../src/journal/append-payload.ts'
import { idsOf } from '../../src/journal/delta.ts'
import { addLog, Delta, EVENT, type Log, latencyBucket, SIGNAL, TAG, TAG_SIGNAL } from '../../src/journal/index.ts'
import { type EventPayload, eventsIn, type Payload } from '../../src/journal/payload.ts'
import { NO_EVENT } from '../../src/rollups/index.ts'
import { contentsOf, eventPayload, numbersOf } from '../../testkit/deltas.ts'

const NOW = Date.parse('2026-11-20T10:00:30.500Z')
const MINUTE = Date.parse('2026-11-20T10:00:00.000Z')

function cellOf(payload: Payload) {
  const log: Log = []
  appendPayload(log, 1, payload, NOW)
  const delta = new Delta()
  addLog(delta, log)
  const site = delta.sites.get(1)
  const cell = site?.cells[0]
  assert.ok(site !== undefined && cell !== undefined && site.cells.length === 1)
  return { site, cell }
}

function countsOf(payload: Payload, name = 'purchase') {
  const event = cellOf(payload).cell.events.get(name)
  assert.ok(event)
  return event.counts
}

const times: [what: string, sent: number, booked: number, skewed: number][] = [
  ['the present', NOW, MINUTE, 0],
  ['three hours ago', NOW - 3 * 3_600_000, MINUTE - 3 * 3_600_000, 0],
  ['24 hours ago to the millisecond', NOW - 86_400_000, MINUTE - 86_400_000, 0],
  ['a millisecond more than 24 hours ago', NOW - 86_400_001, MINUTE, 1],
  ['five minutes ahead', NOW + 300_000, MINUTE + 300_000, 0],
  ['a millisecond more than five minutes ahead', NOW + 300_001, MINUTE, 1],
  ['time zero', 0, MINUTE, 1],
]
for (const [what, sent, booked, skewed] of times) {
  test(`an event of ${what} is booked ${skewed ? 'to our time and counted as skewed' : 'to its own time'}`, () => {
    const { cell } = cellOf(eventPayload({ timestamp_ms: sent }))
    assert.equal(cell.minute, booked)
    assert.equal(cell.lastSeenAt, NOW)
    assert.equal(cell.events.get('purchase')?.counts.at(EVENT.skewed), skewed)
  })
}

test('empty presence objects, and those without a known flag, report nothing', () => {
  const counts = countsOf(eventPayload({ timestamp_ms: NOW, user_data: {}, ecommerce: {} }))
  assert.equal(counts.at(EVENT.user_data_total), 0)
  assert.equal(counts.at(EVENT.ecommerce_total), 0)
})

test('an address is present with a first or a last name', () => {
  for (const flags of [
    { has_first_name: true },
    { has_last_name: true },
    { has_first_name: true, has_last_name: true },
  ]) {
    const counts = countsOf(eventPayload({ timestamp_ms: NOW, user_data: flags }))
    assert.equal(counts.at(EVENT.address), 1)
    assert.equal(counts.at(EVENT.user_data_total), 1)
  }
  const without = countsOf(eventPayload({ timestamp_ms: NOW, user_data: { has_city: true, has_first_name: false } }))
  assert.equal(without.at(EVENT.address), 0)
  assert.equal(without.at(EVENT.city), 1)
})

test('a tag without a name goes by its id, and only named ids are remembered', () => {
  const tags = [
    { id: '31', status: 'timeout' as const },
    { id: '32', name: null, status: 'success' as const },
    { id: '12', name: 'GA4', status: 'success' as const },
  ]
  const event = cellOf(eventPayload({ timestamp_ms: NOW, tags })).cell.events.get('purchase')
  assert.deepEqual(
    Array.from(event?.tags ?? [], ([key, tag]) => [key, [...idsOf(tag)]]),
    [
      ['tag_31', []],
      ['tag_32', []],
      ['GA4', ['12']],
    ],
  )
})

test('a batch is booked to the minute its window ends in, whole counts beside those with a name', () => {
  const { site, cell } = cellOf({
    container_id: 'GTM-A',
    batch: true,
    window_start_ms: MINUTE - 90_000,
    window_end_ms: MINUTE - 1,
    total_events: 50,
    event_counts: { page_view: 45, purchase: 4 },
    tag_metrics: { GA4: { success: 48, failure: 1, timeout: 1, exception: 0, total_exec_ms: 6_240, count: 51 } },
    user_data_quality: { email: 42, phone: 15, address: 38, total: 50 },
    ecommerce_quality: { value: 5, currency: 5, transaction_id: 4, items: 5, total: 5 },
  })
  assert.equal(cell.minute, MINUTE - 60_000)
  assert.deepEqual([...site.usage], [[202611, { events: 50, requests: 1 }]])
  const whole = cell.events.get(NO_EVENT)
  assert.equal(whole?.counts.at(EVENT.total), 50)
  assert.equal(whole?.counts.at(EVENT.email), 42)
  assert.equal(whole?.counts.at(EVENT.user_data_detail_total), 0)
  assert.equal(whole?.counts.at(EVENT.transaction_id), 4)
  assert.equal(cell.events.get('page_view')?.counts.at(EVENT.events), 45)
  assert.equal(cell.events.get('page_view')?.counts.at(EVENT.total), 0)
  const tag = whole?.tags.get('GA4')
  assert.equal(tag?.counts.at(TAG.executions), 51)
  assert.equal(tag?.counts.at(TAG.timed), 51)
  assert.equal(tag?.counts.at(TAG.le_10), 0)
})

test('consent is counted by class, and with the tags that ran while it was denied', () => {
  const event = cellOf(
    eventPayload({
      timestamp_ms: NOW,
      consent: {
        ad_storage: 'denied',
        analytics_storage: 'granted',
        ad_user_data: 'absent',
        updated: false,
        dma: true,
      },
    }),
  ).cell.events.get('purchase')
  const raised = Object.entries(SIGNAL).filter(([, place]) => event?.signals?.at(place) === 1)
  assert.deepEqual(
    raised.map(([name]) => name),
    ['consent_total', 'ad_storage_denied', 'analytics_storage_granted', 'update_known', 'never_updated', 'dma'],
  )
  for (const tag of event?.tags.values() ?? []) {
    assert.deepEqual(numbersOf(tag.signals)?.slice(0, 4), [1, 1, 0, 0])
    assert.equal(tag.counts.at(TAG.executions), 1)
  }
  assert.equal(event?.tags.get('tag_31')?.counts.at(TAG.timeout), 1)
})

test('how a vendor answered is counted with the tag, beside what the event said of consent', () => {
  const tags = [
    { id: '1', name: 'Meta', status: 'success' as const, response: '4xx' as const, execution_time: 30 },
    { id: '2', status: 'failure' as const, response: 'none' as const },
    { id: '3', status: 'success' as const },
  ]
  const event = cellOf(
    eventPayload({ timestamp_ms: NOW, tags, consent: { analytics_storage: 'denied' } }),
  ).cell.events.get('purchase')
  const raisedOf = (key: string) =>
    Object.entries(TAG_SIGNAL).flatMap(([name, place]) =>
      event?.tags.get(key)?.signals?.at(place) === 1 ? [name] : [],
    )
  const consent = ['consent_total', 'analytics_storage_denied']
  assert.deepEqual(raisedOf('Meta'), [...consent, 'response_4xx'])
  assert.deepEqual(raisedOf('tag_2'), [...consent, 'response_none'])
  assert.deepEqual(raisedOf('tag_3'), consent)
  assert.deepEqual(event?.tags.get('Meta')?.ids, '1')
  assert.equal(event?.tags.get('Meta')?.counts.at(TAG.success), 1)
  assert.equal(event?.tags.get('tag_2')?.counts.at(TAG.failure), 1)
})

test('an event that says nothing of consent, or an empty object, has no signals', () => {
  for (const consent of [{}, undefined]) {
    const payload = eventPayload({ timestamp_ms: NOW, ...(consent === undefined ? {} : { consent }) })
    const event = cellOf(payload).cell.events.get('purchase')
    assert.equal(event?.signals, undefined)
    assert.deepEqual(
      Array.from(event?.tags.values() ?? [], ({ signals }) => signals),
      [undefined, undefined],
    )
  }
})

test('identifiers and faults of values are counted with their bases', () => {
  const event = cellOf(
    eventPayload({
      timestamp_ms: NOW,
      identifiers: { has_event_id: false, has_ip: true },
      ecommerce: { has_value: true, value_zero: true, currency_invalid: false },
    }),
  ).cell.events.get('purchase')
  const raised = Object.entries(SIGNAL).filter(([, place]) => event?.signals?.at(place) === 1)
  assert.deepEqual(
    raised.map(([name]) => name),
    ['identifiers_total', 'ip', 'validity_total', 'value_zero'],
  )
  assert.deepEqual(
    Array.from(event?.tags.values() ?? [], ({ signals }) => signals),
    [undefined, undefined],
    'of which tags say nothing',
  )
})

test('presence flags of version 1 of the tag come to no signals', () => {
  const payload = eventPayload({ timestamp_ms: NOW, ecommerce: { has_value: true, has_items: false }, user_data: {} })
  assert.equal(cellOf(payload).cell.events.get('purchase')?.signals, undefined)
})

test('a batch counts the classes of consent of its events and tags', () => {
  const { cell } = cellOf({
    container_id: 'GTM-A',
    batch: true,
    window_start_ms: NOW,
    window_end_ms: NOW,
    total_events: 9,
    tag_metrics: {
      GA4: { success: 9, consent_total: 8, ad_storage_denied: 5 },
      Ads: { success: 9, response_2xx: 7, response_5xx: 2 },
      Meta: { success: 1 },
    },
    consent: { total: 8, ad_storage_denied: 5, ad_storage_granted: 2 },
  })
  const whole = cell.events.get(NO_EVENT)
  assert.equal(whole?.signals?.at(SIGNAL.consent_total), 8)
  assert.equal(whole?.signals?.at(SIGNAL.ad_storage_denied), 5)
  assert.equal(whole?.tags.get('GA4')?.signals?.at(TAG_SIGNAL.ad_storage_denied), 5)
  assert.equal(whole?.tags.get('GA4')?.counts.at(TAG.success), 9)
  assert.equal(whole?.tags.get('Ads')?.signals?.at(TAG_SIGNAL.response_5xx), 2)
  assert.equal(whole?.tags.get('Meta')?.signals, undefined)
})

/** One event with two tags, and one of a batch, as the release before wrote them. */
const ROW_OF_THE_RELEASE_BEFORE: Log = [
  ...[1, 202611, 1, 1, NOW, MINUTE, 'GTM-A', 1, 'purchase', 3, 2, 'GA4', 0, 84, '12', 'tag_31', 2, -1, ''],
  ...[1, 202611, 5, 1, NOW, MINUTE, 'GTM-A', 2, '', -1, 0, 5, ...Array.from({ length: 15 }, () => 0), 1],
  ...['GA4', -2, 4, 1, 0, 0, 5, 400, 5, 'purchase', -2, 5, 0],
]

test('a journal row of the release before, which knew no signals, is read as it was meant', () => {
  const delta = new Delta()
  addLog(delta, ROW_OF_THE_RELEASE_BEFORE)
  const cell = delta.sites.get(1)?.cells[0]
  const purchase = cell?.events.get('purchase')
  assert.equal(purchase?.counts.at(EVENT.events), 6)
  assert.equal(purchase?.signals, undefined)
  assert.equal(purchase?.tags.get('GA4')?.counts.at(TAG.success), 1)
  assert.equal(purchase?.tags.get('tag_31')?.counts.at(TAG.timeout), 1)
  assert.equal(cell?.events.get(NO_EVENT)?.counts.at(EVENT.total), 5)
  assert.equal(cell?.events.get(NO_EVENT)?.tags.get('GA4')?.counts.at(TAG.total_ms), 400)
})

test('a signal of a later version is left to a program that knows it', () => {
  const place = Object.keys(SIGNAL).length
  const row: Log = [1, 202611, 1, 1, NOW, MINUTE, 'GTM-A', 1, 'purchase', '+', 1, place, 1, 3, 0]
  assert.throws(() => addLog(new Delta(), row), /does not know/)
})

test('an event takes as many from the quota as it stands for', () => {
  assert.equal(eventsIn(eventPayload({ timestamp_ms: NOW })), 1)
  assert.equal(eventsIn(eventPayload({ timestamp_ms: NOW, weight: 250 })), 250)
})

test('a batch takes its events from the quota, an empty one as much as one event', () => {
  const empty = { container_id: 'GTM-A', batch: true, window_start_ms: MINUTE, window_end_ms: MINUTE } as const
  assert.equal(eventsIn({ ...empty, total_events: 200 }), 200)
  assert.equal(eventsIn({ ...empty, total_events: 0 }), 1)
  const { site } = cellOf({ ...empty, total_events: 0 })
  assert.deepEqual([...site.usage.values()], [{ events: 1, requests: 1 }])
})

const FULL = {
  tags: [
    { id: '12', name: 'GA4', status: 'success' as const, execution_time: 84, response: '2xx' as const },
    { id: '13', name: 'GA4', status: 'failure' as const, execution_time: 9_000 },
    { id: '31', status: 'timeout' as const },
  ],
  user_data: { has_email: true, has_first_name: true, has_city: true },
  ecommerce: { has_value: true, value_zero: true, items_empty: false },
  consent: { ad_storage: 'denied' as const, analytics_storage: 'granted' as const, updated: false },
  identifiers: { has_event_id: true, has_fbp: false },
  fields: { coupon: true, group: false },
  container: { version: '7', environment: 'Live', clients: ['GA4'] },
}

for (const [what, sent] of [
  ['of now', NOW],
  ['whose clock is wrong', 0],
] as const) {
  test(`an event ${what} that stands for seven counts in everything as seven like it do, in one request`, () => {
    const like = eventPayload({ timestamp_ms: sent, ...FULL })
    const log: Log = []
    for (let n = 0; n < 7; n++) appendPayload(log, 1, like, NOW)
    const seven = new Delta()
    addLog(seven, log)
    const { cell, site } = cellOf({ ...like, weight: 7 })
    // Beside that it says that one was sent for seven.
    const signals = cell.events.get('purchase')?.signals
    assert.equal(signals?.at(SIGNAL.weight_excess), 7 * 7 - 7)
    signals?.add(SIGNAL.weight_excess, -(7 * 7 - 7))
    assert.deepEqual(contentsOf([cell]), contentsOf(seven.sites.get(1)?.cells))
    assert.deepEqual([...site.usage], [[202611, { events: 7, requests: 1 }]])
  })
}

test('an event that stands for one is written as one without a weight', () => {
  const logs = [{}, { weight: 1 }].map((over) => {
    const log: Log = []
    appendPayload(log, 1, eventPayload({ timestamp_ms: NOW, ...FULL, ...over }), NOW)
    return log
  })
  assert.deepEqual(logs[1], logs[0])
})

test('the largest weight of the longest execution is a number that the journal holds', () => {
  const tags = [{ id: '1', status: 'success' as const, execution_time: Number.MAX_SAFE_INTEGER }]
  const log: Log = []
  appendPayload(log, 1, eventPayload({ timestamp_ms: NOW, tags, weight: 1_000 }), NOW)
  const delta = new Delta()
  addLog(delta, JSON.parse(JSON.stringify(log)) as Log)
  const counts = delta.sites.get(1)?.cells[0]?.events.get('purchase')?.tags.get('tag_1')?.counts
  assert.equal(counts?.at(TAG.total_ms), Number.MAX_SAFE_INTEGER * 1_000)
  assert.equal(counts?.at(TAG.executions), 1_000)
})

test('an event of a preview takes from the quota and is in no other count', () => {
  const log: Log = []
  appendPayload(log, 1, eventPayload({ timestamp_ms: NOW, preview: true }), NOW)
  const delta = new Delta()
  addLog(delta, log)
  assert.deepEqual(delta.sites.get(1)?.cells, [])
  assert.deepEqual([...(delta.sites.get(1)?.usage ?? [])], [[202611, { events: 1, requests: 1 }]])
})

test('a batch that gives no count of executions has the sum of its outcomes', () => {
  const { cell } = cellOf({
    container_id: 'GTM-A',
    batch: true,
    window_start_ms: NOW,
    window_end_ms: NOW,
    total_events: 3,
    tag_metrics: { GA4: { success: 2, failure: 1 } },
  })
  const counts = cell.events.get(NO_EVENT)?.tags.get('GA4')?.counts
  assert.equal(counts?.at(TAG.executions), 3)
  assert.equal(counts?.at(TAG.timed), 0)
})

const buckets: [ms: number, bucket: number][] = [
  [0, 0],
  [10, 0],
  [11, 1],
  [25, 1],
  [50, 2],
  [100, 3],
  [101, 4],
  [500, 5],
  [1_000, 6],
  [2_500, 7],
  [5_000, 8],
  [5_001, 9],
]
for (const [ms, bucket] of buckets) {
  test(`an execution of ${ms} ms falls into bucket ${bucket}`, () => assert.equal(latencyBucket(ms), bucket))
}

test('an event writes each of its signals once, in the order of their places, and says nothing where it has none', () => {
  const eventOf = (over: Partial<EventPayload>): Log => {
    const log: Log = []
    appendPayload(log, 1, eventPayload({ timestamp_ms: NOW, tags: [], ...over }), NOW)
    return log.slice(log.indexOf('purchase') + 1)
  }
  const consent: EventPayload['consent'] = {
    ad_storage: 'denied',
    analytics_storage: 'granted',
    ad_user_data: 'absent',
    updated: false,
    dma: true,
  }
  const [counted, withoutTags] = [0b11, 0]
  const said = [0, 2, 3, 9, 10, 11].flatMap((place) => [place, 1])
  assert.deepEqual(eventOf({ consent }), ['+', 6, ...said, counted, withoutTags])
  assert.deepEqual(eventOf({ identifiers: { has_user_agent: true, has_fbp: true, has_ip: false } }), [
    ...['+', 3, 12, 1, 15, 1, 19, 1],
    ...[counted, withoutTags],
  ])
  assert.deepEqual(eventOf({ ecommerce: { items_empty: true, value_zero: false } }), [
    ...['+', 2, 20, 1, 25, 1],
    ...[counted, withoutTags],
  ])
  assert.deepEqual(eventOf({ identifiers: { has_ip: false } }), ['+', 1, 12, 1, counted, withoutTags])
  assert.deepEqual(eventOf({ consent: {}, identifiers: {}, ecommerce: {} }), [counted, withoutTags])
  const tags = [{ id: '31', status: 'failure', execution_time: 9, response: '5xx' }] as const
  const ofTag = ['tag_31', '+', 1, 6, 1, 0b011_01, 9, '']
  assert.deepEqual(eventOf({ consent, tags: [...tags] }), ['+', 6, ...said, counted, 1, ...ofTag])
})
