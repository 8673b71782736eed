import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overview, type Timeseries, type TimeseriesQuery, timeseries } from '../../src/analytics/index.ts'
import { requireAnswerable } from '../../src/analytics/timeseries/plan.ts'
import type { Payload } from '../../src/journal/payload.ts'
import { AppError, isoTime } from '../../src/lib/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { batch, event } from '../../testkit/payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { count, reportContext } from './support.ts'

const NOW = '2026-11-20T12:00:00Z'
const at = (time: string) => `2026-11-20T${time}Z`
const window = (from: string, to: string) => ({ from: Date.parse(from), to: Date.parse(to) })
const TEN_TO_ONE_PM = window(at('10:00:00'), at('13:00:00'))

const report = (store: Store, site: SiteRow, query: TimeseriesQuery, now = NOW) =>
  timeseries(reportContext(store, now), site, query)

/** Values by key, in the order of the series. */
const values = ({ series }: Timeseries) =>
  Object.fromEntries(series.map(({ key, points }) => [key, points.map((point) => point.value)]))

/** The bases of each bucket by key; undefined where a point has none. */
const bases = ({ series }: Timeseries) =>
  Object.fromEntries(series.map(({ key, points }) => [key, points.map((point) => point.base)]))

const hourly = { ...TEN_TO_ONE_PM, bucket: '1h' } as const

const run = (time: string, status: 'success' | 'failure' | 'timeout' | 'exception', ms: number, name = 'GA4') =>
  event(at(time), { tags: [{ id: name === 'GA4' ? '1' : '2', name, status, execution_time: ms }] })

testLogic('events have a point for every bucket, empty ones too', async (store) => {
  const site = await insertSite(store)
  await count(store, site, [event(at('10:05:00')), event(at('10:59:59')), event(at('12:00:00'))])
  const seen = await report(store, site, { metric: 'events', ...hourly })
  assert.equal(seen.bucket_seconds, 3_600)
  assert.deepEqual(values(seen), { events: [2, 0, 1] })
  assert.deepEqual(
    seen.series[0]?.points.map(({ t }) => isoTime(t)),
    ['10', '11', '12'].map((hour) => at(`${hour}:00:00.000`)),
  )
})

testLogic('the first and last bucket count only what lies in the window', async (store) => {
  const site = await insertSite(store)
  await count(store, site, [event(at('10:29:00')), event(at('10:30:00')), event(at('11:14:00')), event(at('11:15:00'))])
  const range = window(at('10:30:00'), at('11:15:00'))
  const seen = await report(store, site, { metric: 'events', bucket: '1h', ...range })
  assert.deepEqual(values(seen), { events: [1, 1] })
  assert.equal(seen.series[0]?.points[0]?.t, Date.parse(at('10:00:00')))
  assert.deepEqual([seen.from, seen.to], [range.from, range.to])
})

testOnEveryEngine('events can be grouped by name, where batches count by name and in all', async (store) => {
  const site = await insertSite(store)
  const purchase = event(at('11:00:00'), { event_name: 'purchase' })
  const counted = batch(at('12:00:00'), { total_events: 10, event_counts: { page_view: 7 } })
  await count(store, site, [purchase, purchase, counted])
  const query = { metric: 'events', ...hourly } as const
  assert.deepEqual(values(await report(store, site, query)), { events: [0, 2, 10] })
  const byName = await report(store, site, { ...query, group_by: 'event_name' })
  assert.deepEqual(values(byName), { page_view: [0, 0, 7], purchase: [0, 2, 0] })
  assert.deepEqual(Object.keys(values(byName)), ['page_view', 'purchase'])
  assert.deepEqual(values(await report(store, site, { ...query, event_name: 'purchase' })), { events: [0, 2, 0] })
})

testOnEveryEngine('executions and failures by tag and by outcome', async (store) => {
  const site = await insertSite(store)
  const payloads = [
    run('10:00:00', 'success', 5),
    run('10:01:00', 'failure', 5),
    run('11:00:00', 'timeout', 5, 'Meta'),
    run('12:00:00', 'exception', 5, 'Meta'),
    run('12:01:00', 'success', 5, 'Meta'),
  ]
  await count(store, site, payloads)
  const of = async (query: TimeseriesQuery) => values(await report(store, site, { ...hourly, ...query }))
  assert.deepEqual(await of({ metric: 'executions' }), { executions: [2, 1, 2] })
  assert.deepEqual(await of({ metric: 'failures' }), { failures: [1, 1, 1] })
  assert.deepEqual(await of({ metric: 'executions', group_by: 'tag_key' }), { Meta: [0, 1, 2], GA4: [2, 0, 0] })
  assert.deepEqual(await of({ metric: 'failures', tag_key: 'tag_2' }), { failures: [0, 1, 1] })
  assert.deepEqual(await of({ metric: 'failures', tag_key: 'nobody' }), { failures: [0, 0, 0] })
  assert.deepEqual(await of({ metric: 'failures', group_by: 'outcome' }), {
    failure: [1, 0, 0],
    timeout: [0, 1, 0],
    exception: [0, 0, 1],
  })
  assert.deepEqual(await of({ metric: 'executions', group_by: 'outcome', tag_key: 'Meta' }), {
    success: [0, 0, 1],
    failure: [0, 0, 0],
    timeout: [0, 1, 0],
    exception: [0, 0, 1],
  })
})

testOnEveryEngine('executions by event are of per-event payloads and of whole hours', async (store) => {
  const site = await insertSite(store)
  const metric = { success: 9, failure: 0, timeout: 0, exception: 0, count: 9, total_exec_ms: 9 }
  await count(store, site, [
    run('10:10:00', 'failure', 5),
    { ...run('11:00:00', 'success', 5, 'Meta'), event_name: 'purchase' },
    run('12:00:00', 'success', 5, 'Meta'),
    batch(at('12:00:00'), { total_events: 9, tag_metrics: { GA4: metric } }),
  ])
  const range = window(at('10:20:00'), at('12:01:00'))
  const of = async (query: TimeseriesQuery) => report(store, site, { ...range, ...query })
  const byEvent = await of({ metric: 'executions', group_by: 'event_name' })
  assert.deepEqual(values(byEvent), { page_view: [1, 0, 1], purchase: [0, 1, 0] })
  assert.equal(byEvent.bucket_seconds, 3_600)
  assert.deepEqual([byEvent.from, byEvent.to].map(isoTime), [at('10:00:00.000'), at('13:00:00.000')])
  assert.deepEqual(values(await of({ metric: 'executions', event_name: 'purchase' })), { executions: [0, 1, 0] })
  assert.deepEqual(values(await of({ metric: 'failures', event_name: 'page_view', tag_key: 'tag_1' })), {
    failures: [1, 0, 0],
  })
  assert.deepEqual(values(await of({ metric: 'executions', group_by: 'event_name', tag_key: 'Meta' })), {
    page_view: [0, 0, 1],
    purchase: [0, 1, 0],
  })
  await assert.rejects(of({ metric: 'executions', event_name: 'purchase', bucket: '5m' }), /kept by hour/)
})

testOnEveryEngine('latency shows percentiles and mean, or the 95th percentile of each tag', async (store) => {
  const site = await insertSite(store)
  const metric = { success: 1, failure: 0, timeout: 0, exception: 0, count: 1, total_exec_ms: 400 }
  await count(store, site, [
    ...Array.from({ length: 10 }, () => run('10:00:00', 'success', 80)),
    ...Array.from({ length: 10 }, () => run('10:00:00', 'success', 2_000, 'Meta')),
    batch(at('12:00:00'), { tag_metrics: { GA4: metric } }),
  ])
  const query = { metric: 'latency', ...hourly } as const
  assert.deepEqual(values(await report(store, site, query)), {
    p50: [100, null, null],
    p95: [2_350, null, null],
    p99: [2_470, null, null],
    avg: [1_040, null, 400],
  })
  assert.deepEqual(values(await report(store, site, { ...query, group_by: 'tag_key' })), {
    Meta: [2_425, null, null],
    GA4: [97.5, null, null],
  })
  assert.deepEqual(values(await report(store, site, { ...query, tag_key: 'GA4' })).p50, [75, null, null])
})

testOnEveryEngine('data quality is a sub-score, or the rate of each field', async (store) => {
  const site = await insertSite(store)
  const user_data = { has_email: true, has_phone: false, has_city: true }
  const ecommerce = { has_value: true, has_currency: true, has_items: false }
  await count(store, site, [
    event(at('11:00:00'), { event_name: 'purchase', user_data, ecommerce: { ...ecommerce, has_transaction_id: true } }),
    event(at('11:00:00'), { event_name: 'view_item', ecommerce }),
    batch(at('12:00:00'), { user_data_quality: { email: 35, phone: 0, address: 0, total: 100 } }),
  ])
  const of = async (query: TimeseriesQuery) => values(await report(store, site, { ...hourly, ...query }))
  assert.deepEqual(await of({ metric: 'user_data' }), { user_data: [null, 100, 25] })
  assert.deepEqual(await of({ metric: 'ecommerce' }), { ecommerce: [null, 80, null] })
  assert.deepEqual(await of({ metric: 'user_data', group_by: 'field' }), {
    email: [null, 1, 0.35],
    // No purchase carries these, and a batch does not say which of its events could.
    phone: [null, null, 0],
    address: [null, null, 0],
    first_name: [null, 0, null],
    last_name: [null, 0, null],
    city: [null, 1, null],
    country: [null, 0, null],
  })
  assert.deepEqual(await of({ metric: 'ecommerce', group_by: 'field' }), {
    value: [null, 1, null],
    currency: [null, 1, null],
    // Of the purchase: a view of an item has none to report.
    transaction_id: [null, 1, null],
    items: [null, 0, null],
  })
})

testOnEveryEngine('a field of user data counts over the events that the score judges it on', async (store) => {
  const site = await insertSite(store)
  const views = Array.from({ length: 90 }, () =>
    event(at('11:00:00'), { event_name: 'page_view', user_data: { has_email: false, has_phone: false } }),
  )
  const leads = [true, true, true, false].map((has_email) =>
    event(at('11:00:00'), { event_name: 'generate_lead', user_data: { has_email, has_phone: false } }),
  )
  await count(store, site, [...views, ...leads])
  const { user_data, score } = await overview(reportContext(store, NOW), site, TEN_TO_ONE_PM)
  assert.deepEqual([score.inputs.user_data.email.rate, user_data.phone.rate], [0.75, 0])
  const series = await report(store, site, { ...hourly, metric: 'user_data', group_by: 'field' })
  assert.deepEqual(
    [values(series).email, bases(series).email],
    [
      [null, 0.75, null],
      [0, 4, 0],
    ],
  )
  // No event carries a phone number: its share of all is known to be 0.
  assert.deepEqual(
    [values(series).phone, bases(series).phone],
    [
      [null, 0, null],
      [0, 94, 0],
    ],
  )
})

testOnEveryEngine('the score of a bucket needs twenty events in it', async (store) => {
  const site = await insertSite(store)
  const runs = (n: number, time: string, status: 'success' | 'failure') =>
    Array.from({ length: n }, () => run(time, status, 5))
  await count(store, site, [...runs(19, '10:00:00', 'success'), ...runs(15, '11:00:00', 'success')])
  await count(store, site, runs(5, '11:30:00', 'failure'))
  assert.deepEqual(values(await report(store, site, { metric: 'score', ...hourly })), { score: [null, 75, null] })
})

testLogic('the score of a bucket follows the worst tag in it', async (store) => {
  const site = await insertSite(store)
  const both = (time: string, status: 'success' | 'failure') =>
    event(at(time), {
      tags: [
        { id: '1', name: 'GA4', status: 'success' },
        { id: '2', name: 'Meta CAPI', status },
      ],
    })
  const many = (n: number, payload: Payload) => Array.from({ length: n }, () => payload)
  await count(store, site, [...many(30, both('10:00:00', 'success')), ...many(10, both('10:30:00', 'failure'))])
  await count(store, site, many(40, both('11:00:00', 'success')))
  await insertAlert(store, site, Date.parse(at('11:30:00')))
  assert.deepEqual(values(await report(store, site, { metric: 'score', ...hourly })), { score: [75, 100, null] })
})

testOnEveryEngine('a rate, a percentile and a score say what they are taken of, a count does not', async (store) => {
  const site = await insertSite(store)
  await count(store, site, [
    run('10:00:00', 'success', 80),
    event(at('11:00:00'), { event_name: 'purchase', user_data: { has_email: true }, ecommerce: { has_value: true } }),
    batch(at('12:00:00'), { user_data_quality: { email: 35, phone: 0, address: 0, total: 100 } }),
  ])
  const of = async (query: TimeseriesQuery) => bases(await report(store, site, { ...hourly, ...query }))
  const userData = await of({ metric: 'user_data', group_by: 'field' })
  assert.deepEqual(
    [userData.email, userData.first_name],
    [
      [0, 1, 100],
      [0, 1, 0],
    ],
  )
  assert.deepEqual((await of({ metric: 'ecommerce', group_by: 'field' })).value, [0, 1, 0])
  assert.deepEqual((await of({ metric: 'user_data' })).user_data, [0, 1, 100])
  assert.deepEqual((await of({ metric: 'latency' })).p95?.[0], 1)
  assert.deepEqual((await of({ metric: 'score' })).score?.slice(0, 2), [1, 1])
  assert.deepEqual((await of({ metric: 'events' })).events, [undefined, undefined, undefined])
})

testOnEveryEngine(
  'own parameters are a share of the events that name them, together, each, and of one event',
  async (store) => {
    const site = await insertSite(store)
    await count(store, site, [
      event(at('10:00:00'), { event_name: 'purchase', fields: { coupon: true, group: false } }),
      event(at('12:00:00'), { event_name: 'purchase', fields: { coupon: false } }),
      batch(at('12:00:00'), { fields: { coupon: { present: 1, total: 3 } } }),
    ])
    const of = (query: Partial<TimeseriesQuery>) => report(store, site, { metric: 'fields', ...hourly, ...query })
    assert.deepEqual(values(await of({})), { fields: [0.5, null, 0.25] })
    const byField = await of({ group_by: 'field' })
    assert.deepEqual(values(byField), { coupon: [1, null, 0.25], group: [0, null, null] })
    assert.deepEqual(bases(byField), { coupon: [1, 0, 4], group: [1, 0, 0] })
    assert.deepEqual(values(await of({ group_by: 'field', event_name: 'purchase', keys: ['coupon'] })), {
      coupon: [1, null, 0],
    })
  },
)

/** One event at each UTC hour of the days around a clock change. */
async function countHourly(store: Store, site: SiteRow, from: string, hours: number): Promise<void> {
  const payloads: Payload[] = []
  for (let hour = 0; hour < hours; hour++) payloads.push(event(Date.parse(from) + hour * 3_600_000))
  await count(store, site, payloads)
}

testOnEveryEngine('days follow the clock of the site, also when it changes', async (store) => {
  const site = await insertSite(store, { timezone: 'Europe/Vienna' })
  await countHourly(store, site, '2026-10-23T22:00:00Z', 96)
  const range = window('2026-10-23T22:00:00Z', '2026-10-26T23:00:00Z')
  const seen = await report(store, site, { metric: 'events', bucket: '1d', ...range }, '2026-10-27T12:00:00Z')
  assert.deepEqual(values(seen), { events: [24, 25, 24] })
  assert.equal(seen.bucket_seconds, 86_400)
})

testLogic('hours of a half-hour zone begin at its full hours', async (store) => {
  const site = await insertSite(store, { timezone: 'Asia/Kolkata' })
  await count(store, site, [event(at('10:29:00')), event(at('10:30:00')), event(at('11:29:00'))])
  const seen = await report(store, site, { metric: 'events', bucket: '1h', ...window(at('09:30:00'), at('11:30:00')) })
  assert.deepEqual(values(seen), { events: [1, 2] })
})

const REFUSED: readonly [TimeseriesQuery, string, RegExp][] = [
  [{ metric: 'events', group_by: 'tag_key' }, '/group_by', /can be grouped by event_name/],
  [{ metric: 'events', tag_key: 'GA4' }, '/tag_key', /can be filtered by event_name/],
  [{ metric: 'latency', event_name: 'purchase' }, '/event_name', /can be filtered by tag_key/],
  [{ metric: 'latency', group_by: 'outcome' }, '/group_by', /can be grouped by tag_key/],
  [{ metric: 'user_data', group_by: 'event_name' }, '/group_by', /can be grouped by field/],
  [{ metric: 'ecommerce', event_name: 'purchase' }, '/event_name', /can be filtered by nothing/],
  [{ metric: 'fields', group_by: 'event_name' }, '/group_by', /can be grouped by field/],
  [{ metric: 'score', group_by: 'field' }, '/group_by', /can be grouped by nothing/],
]

for (const [query, path, message] of REFUSED) {
  test(`${JSON.stringify(query)} is refused, saying what ${query.metric} allows`, () => {
    assert.throws(
      () => requireAnswerable(query),
      (thrown) => {
        assert.ok(thrown instanceof AppError)
        assert.equal(thrown.details[0]?.path, path)
        assert.match(thrown.message, message)
        return true
      },
    )
  })
}

testLogic('of the series of a grouping only those asked for are sent', async (store) => {
  const site = await insertSite(store)
  const names = Array.from({ length: 60 }, (_, index) => `tag ${index}`)
  await count(
    store,
    site,
    names.map((name, index) =>
      event(at('10:05:00'), { tags: [{ id: String(index), name, status: 'failure', execution_time: 1 }] }),
    ),
  )
  const grouped = { metric: 'failures', group_by: 'tag_key', ...hourly } as const
  const all = await report(store, site, grouped)
  assert.equal(all.series.length, 60)
  const shown = names.slice(0, 12)
  const some = await report(store, site, { ...grouped, keys: [...shown, 'unknown'] })
  assert.deepEqual(
    some.series,
    all.series.filter(({ key }) => shown.includes(key)),
  )
  assert.ok(JSON.stringify(some.series).length < JSON.stringify(all.series).length / 4)
  assert.throws(
    () => requireAnswerable({ metric: 'failures', keys: shown }),
    (thrown) => thrown instanceof AppError && thrown.code === 'invalid_request' && /add group_by/.test(thrown.message),
  )
})
