import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overview } from '../../src/analytics/index.ts'
import { warningsOf } from '../../src/analytics/site-facts.ts'
import type { Payload } from '../../src/journal/payload.ts'
import { AppError, DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { applyRetention } from '../../src/rollups/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { batch, event } from '../../testkit/payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { count, RETENTION, reportContext } from './support.ts'

const NOW = '2026-11-20T12:34:30Z'
const NOW_MS = Date.parse(NOW)
const at = (time: string) => `2026-11-20T${time}Z`
const times = (n: number, payload: Payload): Payload[] => Array.from({ length: n }, () => payload)

const purchase = event(at('10:15:20'), {
  event_name: 'purchase',
  tags: [
    { id: '12', name: 'GA4', status: 'success', execution_time: 84 },
    { id: '14', name: 'Meta CAPI', status: 'failure', execution_time: 310 },
    { id: '31', status: 'timeout', execution_time: 5_000 },
  ],
  user_data: { has_email: true, has_phone: false, has_first_name: true, has_last_name: true, has_city: true },
  ecommerce: { has_value: true, has_currency: true, has_transaction_id: true, has_items: false },
})
const viewBatch = batch(at('11:00:00'), {
  total_events: 50,
  event_counts: { page_view: 45, purchase: 5 },
  tag_metrics: {
    GA4: { success: 48, failure: 1, timeout: 1, exception: 0, total_exec_ms: 6_240, count: 50 },
    Batched: { success: 3, failure: 0, timeout: 0, exception: 0, total_exec_ms: 30, count: 3 },
  },
  user_data_quality: { email: 42, phone: 15, address: 38, total: 50 },
  ecommerce_quality: { value: 5, currency: 5, transaction_id: 4, items: 5, total: 5 },
})

const report = (store: Store, site: SiteRow, query: Parameters<typeof overview>[2] = {}, now = NOW) =>
  overview(reportContext(store, now), site, query)

testLogic('both send modes add up to one overview', async (store) => {
  const site = await insertSite(store)
  await count(store, site, [...times(30, purchase), viewBatch, viewBatch])
  const seen = await report(store, site)
  assert.equal(seen.site_id, site.id)
  assert.equal(seen.total_events, 30 + 100)
  assert.deepEqual(seen.events, [
    { event_name: 'page_view', total: 90 },
    { event_name: 'purchase', total: 40 },
  ])
  assert.deepEqual(
    seen.tags.map((tag) => [tag.tag_key, tag.tag_id, tag.tag_name, tag.executions]),
    [
      ['GA4', '12', 'GA4', 130],
      ['Meta CAPI', '14', 'Meta CAPI', 30],
      ['tag_31', '31', null, 30],
      ['Batched', null, 'Batched', 6],
    ],
  )
  assert.deepEqual(seen.tags[0], {
    tag_key: 'GA4',
    tag_id: '12',
    tag_name: 'GA4',
    vendor: 'Google Analytics',
    vendor_by_hand: false,
    executions: 130,
    success: 126,
    failure: 2,
    timeout: 2,
    exception: 0,
    success_rate: 126 / 130,
    avg_ms: (30 * 84 + 2 * 6_240) / 130,
    p50_ms: 75,
    p95_ms: 97.5,
    p99_ms: 99.5,
  })
  assert.equal(seen.latency.p95_ms, 4_625)
  assert.equal(seen.user_data.total, 130)
  assert.deepEqual(seen.user_data.email, { present: 114, total: 130, rate: 114 / 130 })
  assert.deepEqual(seen.user_data.address, { present: 106, total: 130, rate: 106 / 130 })
  assert.deepEqual(seen.user_data.city, { present: 30, total: 30, rate: 1 })
  assert.deepEqual(seen.user_data.country, { present: 0, total: 30, rate: 0 })
  assert.equal(seen.ecommerce.total, 40)
  assert.deepEqual(seen.ecommerce.transaction_id, { present: 38, total: 40, rate: 38 / 40 })
  assert.deepEqual(seen.ecommerce.items, { present: 10, total: 40, rate: 10 / 40 })
})

testLogic('percentiles are unknown where only batches reported', async (store) => {
  const site = await insertSite(store)
  await count(store, site, [viewBatch])
  const { tags, latency } = await report(store, site)
  assert.equal(latency.p95_ms, null)
  assert.deepEqual(
    tags.map(({ avg_ms, p50_ms, p95_ms, p99_ms }) => [avg_ms, p50_ms, p95_ms, p99_ms]),
    [
      [124.8, null, null, null],
      [10, null, null, null],
    ],
  )
})

testOnEveryEngine('the score judges transaction ids by purchases and refunds, the rates by all', async (store) => {
  const site = await insertSite(store)
  const ecommerce = { has_value: true, has_currency: true, has_items: true }
  const view = event(at('10:00:00'), {
    event_name: 'view_item',
    ecommerce: { ...ecommerce, has_transaction_id: false },
  })
  const bought = { ...view, event_name: 'purchase', ecommerce: { ...ecommerce, has_transaction_id: true } }
  await count(store, site, [...times(30, view), ...times(9, bought), { ...bought, event_name: 'refund' }])
  const seen = await report(store, site)
  assert.deepEqual(seen.ecommerce.transaction_id, { present: 10, total: 40, rate: 0.25 })
  assert.deepEqual(seen.score.inputs.ecommerce.transaction_id, {
    present: 10,
    total: 10,
    rate: 1,
    target: 1,
    weight: 0.3,
  })
  assert.equal(seen.score.ecommerce, 100)
})

testLogic('a site that sent nothing has an empty overview', async (store) => {
  const seen = await report(store, await insertSite(store))
  assert.equal(seen.total_events, 0)
  assert.deepEqual([seen.events, seen.tags, seen.containers, seen.warnings], [[], [], [], []])
  assert.deepEqual(seen.user_data.email, { present: 0, total: 0, rate: null })
  assert.deepEqual([seen.score.overall, seen.score.insufficient_data, seen.last_seen], [null, true, null])
  assert.deepEqual(seen.rejections, {})
})

testOnEveryEngine(
  'the answered window is of whole minutes, and of whole hours where minutes are gone',
  async (store) => {
    const site = await insertSite(store)
    const recent = await report(store, site)
    assert.deepEqual([recent.from, recent.to], ['2026-11-19T12:35:00Z', '2026-11-20T12:35:00Z'].map(Date.parse))
    const from = Date.parse('2026-11-10T10:20:30Z')
    const old = await report(store, site, { from, to: Date.parse('2026-11-20T10:20:30Z') })
    assert.deepEqual([old.from, old.to], ['2026-11-10T10:00:00Z', '2026-11-20T10:21:00Z'].map(Date.parse))
  },
)

testOnEveryEngine(
  'an event that comes when the minutes of its hour are deleted joins the others at once',
  async (store) => {
    const site = await insertSite(store)
    await count(store, site, times(3, event(at('05:10:00'))))
    await rollUpAll(store, NOW_MS)
    // A clock that is nine days ahead, for one round.
    await applyRetention(store, RETENTION, NOW_MS + 9 * DAY, () => true)
    await count(store, site, [event(at('05:20:00'))])
    const query = { from: Date.parse(at('05:00:00')), to: Date.parse(at('06:00:00')) }
    assert.equal((await report(store, site, query)).total_events, 4)
    await rollUpAll(store, NOW_MS)
    assert.equal((await report(store, site, query)).total_events, 4)
  },
)

testLogic('what lies outside the window or belongs to another site is not counted', async (store) => {
  const site = await insertSite(store)
  const other = await insertSite(store)
  const around = ['09:59:59.999', '10:00:00', '10:59:59.999', '11:00:00'].map((time) => event(at(time)))
  await count(store, site, around)
  await count(store, other, around)
  const query = { from: Date.parse(at('10:00:00')), to: Date.parse(at('11:00:00')) }
  assert.equal((await report(store, site, query)).total_events, 2)
})

testLogic('compare adds the same report on the window just before', async (store) => {
  const site = await insertSite(store)
  await count(store, site, [event(at('12:00:00')), event(at('11:10:00')), event(at('11:20:00')), event(at('10:00:00'))])
  const seen = await report(store, site, { hours: 1, compare: 'previous' })
  assert.equal(seen.total_events, 1)
  assert.equal(seen.previous?.total_events, 2)
  assert.deepEqual(
    [seen.previous?.from, seen.previous?.to],
    [at('10:35:00'), at('11:35:00')].map((t) => Date.parse(t)),
  )
  assert.equal((await report(store, site, { hours: 1 })).previous, undefined)
  await assert.rejects(report(store, site, { hours: 20 * 24, compare: 'previous' }), AppError)
})

testOnEveryEngine('a tag that gains a name or is renamed keeps its history together', async (store) => {
  const site = await insertSite(store)
  const ran = (time: string, name?: string) =>
    event(at(time), { tags: [{ id: '31', status: 'success', ...(name === undefined ? {} : { name }) }] })
  await count(store, site, [ran('08:00:00'), ran('09:00:00', 'GA4'), ran('10:00:00', 'GA4 (new)')])
  const { tags } = await report(store, site)
  assert.deepEqual(
    tags.map((tag) => [tag.tag_key, tag.tag_id, tag.executions]),
    [['GA4 (new)', '31', 3]],
  )
})

testLogic('containers and the time last seen do not depend on the window', async (store) => {
  const site = await insertSite(store)
  await count(store, site, [
    event('2026-11-01T08:00:00Z', { container_id: 'GTM-OLD' }),
    event('2026-11-02T08:00:00Z', { container_id: 'GTM-NEW' }),
  ])
  const seen = await report(store, site, { hours: 1 })
  assert.deepEqual(seen.containers, [
    { container_id: 'GTM-NEW', last_seen: Date.parse('2026-11-02T08:00:00Z'), clients: [] },
    { container_id: 'GTM-OLD', last_seen: Date.parse('2026-11-01T08:00:00Z'), clients: [] },
  ])
  assert.equal(seen.last_seen, Date.parse('2026-11-02T08:00:00Z'))
})

testLogic('rejections of the site are counted by reason in the minutes of the window', async (store) => {
  const [site, other] = [await insertSite(store), await insertSite(store)]
  const row = (time: string, reason: string, total: number, { site_no } = site) => ({
    site_no,
    bucket: Date.parse(at(time)),
    reason,
    total,
  })
  await store.write
    .insertInto('rejection_counts')
    .values([
      row('11:34:00', 'invalid_payload', 5),
      row('11:35:00', 'invalid_payload', 1),
      row('12:34:00', 'invalid_payload', 2),
      row('12:34:00', 'rate_limited', 7),
      row('12:35:00', 'rate_limited', 9),
      row('12:34:00', 'rate_limited', 11, other),
    ])
    .execute()
  const { rejections } = await report(store, site, { hours: 1 })
  assert.deepEqual(rejections, { invalid_payload: 3, rate_limited: 7 })
})

testLogic('what makes the figures less precise is said', async (store) => {
  const site = await insertSite(store)
  const tags = [{ id: '1', name: '(other)', status: 'success' as const }]
  await count(store, site, [event('2020-01-01T00:00:00Z', { event_name: '(other)', tags }), event(at('12:00:00'))], NOW)
  const seen = await report(store, site)
  assert.equal(seen.skewed, 1)
  assert.deepEqual(
    seen.warnings.map((warning) => warning.code),
    ['events_over_cap', 'tags_over_cap', 'clock_skew'],
  )
  assert.match(seen.warnings[2]?.message ?? '', /^1 of 2 events/)
  assert.deepEqual(
    seen.tags.map((tag) => [tag.tag_key, tag.tag_id, tag.tag_name]),
    [['(other)', null, null]],
  )
})

testOnEveryEngine('counters as large as numbers go do not break a report', async (store) => {
  const site = await insertSite(store)
  const most = Number.MAX_SAFE_INTEGER
  const metric = { success: most, failure: most, timeout: 0, exception: 0, total_exec_ms: most, count: most }
  const payload = (minute: number) =>
    batch(at(`10:${10 + minute}:00`), { total_events: most, event_counts: { a: most }, tag_metrics: { GA4: metric } })
  for (let minute = 0; minute < 40; minute++) await count(store, site, [payload(minute), payload(minute)])
  const seen = await report(store, site)
  assert.ok(Math.abs(seen.total_events / (80 * most) - 1) < 1e-9)
  assert.equal(seen.tags[0]?.success_rate, 1)
})

const NO_COUNTS = { total: 5, skewed: 0, user_data_total: 5, ecommerce_total: 0 }

const NOTHING_OVER = { events: false, tags: false, containers: false, tagIds: false }

test('a warning names the cap', () => {
  assert.deepEqual(warningsOf({ ...NOTHING_OVER, counts: NO_COUNTS }), [])
  const [warning] = warningsOf({ ...NOTHING_OVER, events: true, counts: NO_COUNTS })
  assert.match(warning?.message ?? '', /^more than 500 different event names/)
})

testLogic('quality reports of more events than there were are kept, and said', async (store) => {
  const site = await insertSite(store)
  const quality = { user_data_quality: { email: 30, total: 60 }, ecommerce_quality: { value: 20, total: 21 } }
  await count(store, site, [batch(at('10:10:00'), { total_events: 20, ...quality })])
  const seen = await report(store, site)
  assert.equal(seen.user_data.email.rate, 0.5)
  assert.deepEqual(
    seen.warnings.map(({ code, message }) => [code, /for (\d+) events, but only (\d+)/.exec(message)?.slice(1)]),
    [
      ['user_data_over_total', ['60', '20']],
      ['ecommerce_over_total', ['21', '20']],
    ],
  )
})

/** A day of a healthy tag, in whose last hour another fails 55 of 100 times. */
const lateFailure = (): Payload[] => [
  ...Array.from({ length: 1_000 }, (_, index) =>
    event(NOW_MS - 20 * HOUR + index * MINUTE, {
      tags: [
        { id: '1', name: 'GA4', status: 'success' },
        { id: '2', name: 'Meta CAPI', status: 'success' },
      ],
    }),
  ),
  ...Array.from({ length: 100 }, (_, index) =>
    event(NOW_MS - 30 * MINUTE + index * 1_000, {
      tags: [
        { id: '1', name: 'GA4', status: 'success' },
        { id: '2', name: 'Meta CAPI', status: index < 55 ? 'failure' : 'success' },
      ],
    }),
  ),
]

testLogic('the last hour stands beside the score of a longer window, and follows its worst tag', async (store) => {
  const site = await insertSite(store)
  await count(store, site, lateFailure())
  const { score, to } = await report(store, site)
  assert.deepEqual([score.overall, score.delivery, score.band], [95, 95, 'excellent'])
  assert.equal(score.inputs.delivery.rate, 0.975)
  assert.deepEqual([score.recent?.from, score.recent?.to], [to - HOUR, to])
  assert.deepEqual([score.recent?.overall, score.recent?.band], [45, 'critical'])
  assert.deepEqual(score.recent?.inputs.delivery.worst_tag, {
    tag_key: 'Meta CAPI',
    success: 45,
    executions: 100,
    rate: 0.45,
  })
  assert.equal((await report(store, site, { hours: 1 })).score.recent, null)
  const lastHour = await report(store, site, { from: to - HOUR, to })
  assert.equal(lastHour.score.overall, 45)
})

testLogic('an open critical alert of the site caps the score of a window that continues, no other', async (store) => {
  const site = await insertSite(store)
  await count(store, site, lateFailure())
  const other = await insertSite(store)
  await insertAlert(store, other, NOW_MS - 10 * MINUTE)
  await insertAlert(store, site, NOW_MS - 10 * MINUTE, {
    state: 'resolved',
    resolved_at: NOW_MS,
    resolution: 'recovered',
  })
  await insertAlert(store, site, NOW_MS - 10 * MINUTE, { severity: 'warning' })
  assert.deepEqual([(await report(store, site)).score.cap, (await report(store, site)).score.overall], [null, 95])
  const alert = await insertAlert(store, site, NOW_MS - 5 * MINUTE, {
    state: 'acknowledged',
    title: 'Meta CAPI fails',
  })
  const { score, previous } = await report(store, site, { hours: 12, compare: 'previous' })
  assert.deepEqual(score.cap, { max: 49, reason: 'Meta CAPI fails', alert_id: alert.id })
  assert.deepEqual([score.overall, score.band, score.recent?.overall], [49, 'critical', 45])
  assert.ok((score.inputs.uncapped ?? 0) > 90)
  assert.equal(previous?.score.cap, null)
  const over = await report(store, site, { from: NOW_MS - 12 * HOUR, to: NOW_MS - HOUR })
  assert.deepEqual([over.score.cap, over.score.overall], [null, 100])
})

testOnEveryEngine('a report warns of a quota from 80 % on, and of a revoked key', async (store) => {
  const site = await insertSite(store)
  const warningsWith = async (events: number, over: Partial<SiteRow> = {}) => {
    await store.write.deleteFrom('client_usage').execute()
    const usage = { client_id: site.client_id, month: 202611, events, requests: 1 }
    await store.write.insertInto('client_usage').values(usage).execute()
    return (await report(store, { ...site, ...over })).warnings
  }
  assert.deepEqual(await warningsWith(1_000), [])
  await store.write.updateTable('clients').set({ events_per_month: 1_000 }).execute()
  assert.deepEqual(await warningsWith(799), [])
  assert.deepEqual(await warningsWith(800), [
    {
      code: 'quota_near',
      message:
        "800 of the client's 1,000 events of this month (80 %) are used: once all are, every request is refused until 2026-12-01T00:00:00.000Z",
    },
  ])
  assert.deepEqual(await warningsWith(1_000), [
    {
      code: 'quota_used_up',
      message:
        "1,000 of the client's 1,000 events of this month are used up: every request is refused until 2026-12-01T00:00:00.000Z",
    },
  ])
  assert.deepEqual(await warningsWith(0, { key_revoked_at: Date.parse(at('10:00:00')) }), [
    {
      code: 'key_revoked',
      message:
        'the last valid key ended at 2026-11-20T10:00:00.000Z: every request of the site is refused until you add one',
    },
  ])
})

testLogic('the score judges user data on events that carry it: an anonymous page view is no fault', async (store) => {
  const site = await insertSite(store)
  const anonymous = { has_email: false, has_phone: false, has_address: false }
  const view = event(at('10:00:00'), { event_name: 'page_view', user_data: anonymous })
  const signedIn = { ...view, user_data: { ...anonymous, has_email: true } }
  const lead = event(at('10:00:00'), { event_name: 'lead', user_data: { ...anonymous, has_email: true } })
  await count(store, site, [...times(95, view), ...times(5, signedIn), ...times(8, lead)])
  const seen = await report(store, site)
  assert.deepEqual([seen.user_data.email.present, seen.user_data.email.total], [13, 108])
  const { email, phone } = seen.score.inputs.user_data
  assert.deepEqual([email.present, email.total, phone.total, seen.score.user_data], [8, 8, 0, 100])
  await count(store, site, times(100, { ...lead, user_data: anonymous }))
  const half = await report(store, site)
  assert.equal(half.score.user_data, null, 'fewer than 10 % of the leads carry it')
})

testLogic('what purchases lack counts, and what other events never had does not', async (store) => {
  const site = await insertSite(store)
  const nothing = { has_value: false, has_currency: false, has_items: false, has_transaction_id: false }
  const view = event(at('10:00:00'), { event_name: 'page_view', ecommerce: nothing })
  const cart = event(at('10:00:00'), { event_name: 'add_to_cart', ecommerce: { ...nothing, has_items: true } })
  const bought = event(at('10:00:00'), { event_name: 'purchase', ecommerce: nothing })
  await count(store, site, [...times(60, view), ...times(10, cart), ...times(10, bought)])
  const { inputs } = (await report(store, site)).score
  const { value, items, transaction_id } = inputs.ecommerce
  assert.deepEqual(
    [value, items, transaction_id].map(({ present, total }) => [present, total]),
    [
      [0, 20],
      [10, 20],
      [0, 10],
    ],
  )
})

testLogic('a field that is lost in the last hour is lost to the score of that hour', async (store) => {
  const site = await insertSite(store)
  const lead = (time: string, has_email: boolean) => event(at(time), { event_name: 'lead', user_data: { has_email } })
  await count(store, site, [...times(60, lead('08:00:00', true)), ...times(30, lead('11:50:00', false))])
  const { score } = await report(store, site, { hours: 12 })
  assert.equal(score.recent?.user_data, 0)
  assert.ok((score.user_data ?? 0) > 90)
})
