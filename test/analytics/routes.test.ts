import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { analyticsRoutes } from '../../src/analytics/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { batch, event } from '../../testkit/payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { ID, openApp, refused } from '../http/support.ts'
import { count, reportContext } from './support.ts'

const NOW = '2026-11-20T12:34:30.000Z'
const at = (time: string) => `2026-11-20T${time}.000Z`

async function openReports(t: TestContext, store: Store, over: Partial<SiteRow> = {}) {
  const site = await insertSite(store, over)
  const app = await openApp(t, (routes) => analyticsRoutes(routes, reportContext(store, NOW)))
  const path = `/api/monitoring/sites/${site.id}`
  const get = async (suffix: string) => {
    const response = await app.inject({ url: path + suffix })
    assert.equal(response.statusCode, 200, response.body)
    return response
  }
  return { app, site, path, get }
}

const purchase = event(at('12:10:00'), {
  event_name: 'purchase',
  tags: [{ id: '1', name: 'GA4', status: 'success', execution_time: 84 }],
  user_data: { has_email: true },
})

testOnEveryEngine('the overview answers with ISO times and the fixed names', async (store, t) => {
  const { site, get } = await openReports(t, store)
  await count(store, site, [purchase])
  const body = (await get('/overview?hours=1&compare=previous')).json()
  assert.deepEqual([body.site_id, body.from, body.to, body.total_events], [site.id, at('11:35:00'), at('12:35:00'), 1])
  assert.deepEqual(body.events, [{ event_name: 'purchase', total: 1 }])
  assert.deepEqual(body.tags, [
    {
      tag_key: 'GA4',
      tag_id: '1',
      tag_name: 'GA4',
      vendor: 'Google Analytics',
      vendor_by_hand: false,
      executions: 1,
      success: 1,
      failure: 0,
      timeout: 0,
      exception: 0,
      success_rate: 1,
      avg_ms: 84,
      p50_ms: 75,
      p95_ms: 97.5,
      p99_ms: 99.5,
    },
  ])
  assert.deepEqual(body.user_data.email, { present: 1, total: 1, rate: 1 })
  assert.deepEqual(body.ecommerce.value, { present: 0, total: 0, rate: null })
  assert.deepEqual([body.score.overall, body.score.insufficient_data, body.score.inputs.events], [null, true, 1])
  assert.deepEqual(body.containers, [{ container_id: 'GTM-ABC1234', last_seen: at('12:10:00'), clients: [] }])
  assert.deepEqual([body.last_seen, body.skewed, body.warnings, body.rejections], [at('12:10:00'), 0, [], {}])
  assert.deepEqual([body.previous.from, body.previous.total_events], [at('10:35:00'), 0])
  assert.equal('site_id' in body.previous, false)
})

testLogic('the timeseries takes a window with offsets and answers every bucket', async (store, t) => {
  const { site, get } = await openReports(t, store)
  await count(store, site, [purchase])
  const query = 'from=2026-11-20T13:00:00%2B01:00&to=2026-11-20T12:15:00Z&bucket=5m'
  const body = (await get(`/timeseries?metric=events&group_by=event_name&${query}`)).json()
  assert.deepEqual(body, {
    site_id: site.id,
    metric: 'events',
    from: at('12:00:00'),
    to: at('12:15:00'),
    bucket_seconds: 300,
    series: [
      {
        key: 'purchase',
        points: [
          { t: at('12:00:00'), value: 0 },
          { t: at('12:05:00'), value: 0 },
          { t: at('12:10:00'), value: 1 },
        ],
      },
    ],
  })
})

testOnEveryEngine('a tag is read by any key, with slashes and other letters too', async (store, t) => {
  const { site, get, app, path } = await openReports(t, store)
  const names = ['a/b', '100 %', 'größe ✓', 'x?y#z', '..']
  const tags = names.map((name, index) => ({ id: String(index), name, status: 'success' as const }))
  await count(store, site, [event(at('12:10:00'), { tags })])
  for (const [index, name] of names.entries()) {
    for (const key of [name, `tag_${index}`]) {
      if (key === '..') continue // no client sends it: it is a step up
      const body = (await get(`/tags/${encodeURIComponent(key)}`)).json()
      assert.deepEqual([body.tag_key, body.tag_id, body.executions], [name, String(index), 1])
      assert.deepEqual(body.events_window, { from: '2026-11-19T12:00:00.000Z', to: at('13:00:00') })
    }
  }
  await refused(app, { url: `${path}/tags/nobody` }, 404, 'not_found')
})

testLogic('matrix and recent answer in their fixed shapes', async (store, t) => {
  const { site, get } = await openReports(t, store)
  await count(store, site, [purchase])
  await store.write
    .insertInto('recent_payloads')
    .values({
      site_no: site.site_no,
      id: 1,
      accepted_at: Date.parse(at('12:10:00')),
      payload: '{"event_name":"purchase","user_data":{"has_email":true}}',
    })
    .execute()
  await store.write
    .insertInto('rejections')
    .values({ site_no: site.site_no, id: 1, rejected_at: Date.parse(at('12:11:00')), reason: 'forbidden', path: '' })
    .execute()
  assert.deepEqual((await get('/matrix?hours=1')).json(), {
    site_id: site.id,
    from: at('11:00:00'),
    to: at('13:00:00'),
    events: ['purchase'],
    tags: ['GA4'],
    cells: [{ event_name: 'purchase', tag_key: 'GA4', executions: 1, bad: 0 }],
  })
  assert.deepEqual((await get('/recent')).json(), {
    accepted: [{ event_name: 'purchase', user_data: { has_email: true }, accepted_at: at('12:10:00') }],
    rejections: [{ at: at('12:11:00'), reason: 'forbidden', path: '' }],
  })
})

testOnEveryEngine('the export has the points of the timeseries as lines of CSV', async (store, t) => {
  const { site, get } = await openReports(t, store, { name: 'Größe "1"/\r\nshop' })
  await count(store, site, [purchase, event(at('12:20:00'), { event_name: '=1+1;=2+2' })])
  const query = `from=${at('12:10:00')}&to=${at('12:20:01')}&bucket=5m`
  const response = await get(`/export.csv?metric=events&group_by=event_name&${query}`)
  assert.equal(response.headers['content-type'], 'text/csv; charset=utf-8')
  assert.equal(response.headers['content-disposition'], 'attachment; filename="gro-e-1-shop-events-2026-11-20.csv"')
  assert.deepEqual(response.body.split('\n'), [
    't,key,value',
    `${at('12:10:00')},'=1+1;'=2+2,0`,
    `${at('12:15:00')},'=1+1;'=2+2,0`,
    `${at('12:20:00')},'=1+1;'=2+2,1`,
    `${at('12:10:00')},purchase,1`,
    `${at('12:15:00')},purchase,0`,
    `${at('12:20:00')},purchase,0`,
    '',
  ])
  const latency = await get(`/export.csv?metric=latency&tag_key=nobody&hours=1&bucket=1h`)
  assert.match(latency.body, /,p50,\n/)
})

testLogic('what cannot be answered is refused, saying what is allowed', async (store, t) => {
  const { app, path } = await openReports(t, store)
  const cases: readonly [suffix: string, pointer: string, message: RegExp][] = [
    ['/overview?from=2026-11-20T00:00:00Z&to=2026-11-19T00:00:00Z', '/from', /must be before to/],
    ['/overview?from=yesterday', '/from', /ISO 8601/],
    ['/overview?from=2026-11-20T00:00:00', '/from', /ISO 8601/],
    ['/overview?hours=1.5', '/hours', /whole number/],
    ['/overview?hours=100000', '/hours', /from 1 to 720/],
    ['/overview?days=1', '/days', /not a parameter/],
    ['/overview?compare=next', '/compare', /previous/],
    ['/timeseries', '/metric', /required/],
    ['/timeseries?metric=clicks', '/metric', /one of events, executions/],
    ['/timeseries?metric=events&bucket=1m&hours=48', '/bucket', /allowed values are auto, 5m, 1h, 1d/],
    ['/timeseries?metric=score&group_by=field', '/group_by', /nothing/],
    ['/export.csv?metric=events&bucket=2h', '/bucket', /one of auto, 1m, 5m, 1h, 1d/],
    ['/matrix?to=2026-11-20T00:00:00Z', '/to', /needs from/],
    ['/recent?hours=0', '/hours', /at least 1/],
  ]
  for (const [suffix, pointer, message] of cases) {
    const { body } = await refused(app, { url: path + suffix }, 400, 'invalid_request')
    assert.equal(body.details[0]?.path, pointer, suffix)
    assert.match(body.message, message)
  }
})

testLogic('a site that is not there is not found on any report', async (store, t) => {
  const { app } = await openReports(t, store)
  for (const id of [ID, 'not-a-uuid']) {
    for (const report of [
      'overview',
      'timeseries?metric=events',
      'tags/GA4',
      'matrix',
      'recent',
      'export.csv?metric=events',
    ]) {
      await refused(app, { url: `/api/monitoring/sites/${id}/${report}` }, 404, 'not_found')
    }
  }
})

testLogic('a filter that no database can hold is refused, and nothing has such an address', async (store, t) => {
  const { app, path } = await openReports(t, store)
  for (const filter of ['event_name', 'tag_key']) {
    const url = `${path}/timeseries?metric=executions&${filter}=a%00b`
    const { body } = await refused(app, { url }, 400, 'invalid_request')
    assert.deepEqual(body.details, [{ path: `/${filter}`, message: 'must not contain NUL characters' }])
  }
  await refused(app, { url: `${path}/tags/a%00b` }, 404, 'not_found')
})

testLogic('keys stand in the query once for each, and only with a grouping', async (store, t) => {
  const { app, site, path, get } = await openReports(t, store)
  await count(store, site, [purchase])
  const grouped = '/timeseries?metric=executions&group_by=tag_key&hours=1'
  const keys = async (query: string) =>
    (await get(grouped + query)).json<{ series: { key: string }[] }>().series.map(({ key }) => key)
  assert.deepEqual(await keys('&keys=GA4'), ['GA4'])
  assert.deepEqual(await keys('&keys=Meta&keys=GA4'), ['GA4'])
  assert.deepEqual(await keys('&keys=Meta'), [])
  for (const query of [
    '/timeseries?metric=executions&keys=GA4',
    `${grouped}&keys=`,
    `${grouped}${'&keys=a'.repeat(101)}`,
  ]) {
    const answer = await app.inject({ url: path + query })
    assert.equal(answer.statusCode, 400, query)
    assert.match(answer.json<{ details: { path: string }[] }>().details[0]?.path ?? '', /^\/keys/)
  }
  assert.equal((await app.inject({ url: `${path}/overview?hours=1&hours=2` })).statusCode, 400)
})

testOnEveryEngine(
  'own parameters are listed by event, those of the most events first, and exported as CSV',
  async (store, t) => {
    const { site, app, path, get } = await openReports(t, store)
    const of = (event_name: string, fields: Record<string, boolean>) => event(at('12:10:00'), { event_name, fields })
    assert.deepEqual((await get('/fields?hours=1')).json().fields, [])
    await count(store, site, [
      of('purchase', { coupon: true, basket: false }),
      of('page_view', { group: true }),
      of('page_view', { group: false }),
    ])
    const body = (await get('/fields?hours=1')).json()
    assert.deepEqual([body.site_id, body.from, body.to], [site.id, at('11:35:00'), at('12:35:00')])
    assert.deepEqual(body.fields, [
      { event_name: 'page_view', field: 'group', present: 1, total: 2, rate: 0.5 },
      { event_name: 'purchase', field: 'basket', present: 0, total: 1, rate: 0 },
      { event_name: 'purchase', field: 'coupon', present: 1, total: 1, rate: 1 },
    ])
    const csv = await get(
      `/export.csv?metric=fields&group_by=field&from=${at('12:00:00')}&to=${at('13:00:00')}&bucket=1h`,
    )
    assert.deepEqual(csv.body.trim().split('\n'), [
      't,key,value',
      `${at('12:00:00')},basket,0`,
      `${at('12:00:00')},coupon,1`,
      `${at('12:00:00')},group,0.5`,
    ])
    await refused(app, { url: `${path}/fields?hours=0` }, 400, 'invalid_request')
  },
)

testOnEveryEngine(
  'consent, identifiers, faults of values and answers of vendors are shares of what reports them, as series and as CSV',
  async (store, t) => {
    const { site, get } = await openReports(t, store)
    await count(store, site, [
      event(at('12:10:00'), {
        event_name: 'purchase',
        tags: [
          { id: '1', name: 'GA4', status: 'success', response: '2xx' },
          { id: '2', name: 'Meta', status: 'success', response: '4xx' },
        ],
        consent: { ad_storage: 'granted', analytics_storage: 'granted', ad_user_data: 'granted', updated: true },
        identifiers: { has_event_id: true, has_client_id: true, has_ip: true },
        ecommerce: { has_value: true, value_zero: true, items_empty: false },
      }),
      event(at('12:20:00'), {
        tags: [{ id: '2', name: 'Meta', status: 'failure', response: '2xx' }],
        consent: { ad_storage: 'denied', ad_personalization: 'denied', updated: false },
        identifiers: { has_event_id: false, has_fbp: true, has_user_agent: true },
      }),
      batch(at('12:30:00'), {
        total_events: 4,
        tag_metrics: { GA4: { success: 2, count: 2, response_3xx: 1, response_none: 1 } },
        consent: { total: 2, ad_storage_granted: 1 },
        identifiers: { total: 2, event_id: 1, fbc: 2, click_id: 1 },
        ecommerce_quality: {
          total: 4,
          ...{ validity_total: 3, value_invalid: 1, currency_invalid: 2, transaction_duplicate: 3 },
        },
      }),
      // Reports none of it, and is part of no share.
      event(at('12:31:00'), { tags: [{ id: '1', name: 'GA4', status: 'success' }], ecommerce: { has_value: true } }),
    ])
    const hour = `from=${at('12:00:00')}&to=${at('13:00:00')}&bucket=1h`
    const wholes: Readonly<Record<string, readonly [value: number, base: number]>> = {
      consent: [3 / 4, 4],
      identifiers: [2 / 4, 4],
      validity: [2 / 4, 4],
      responses: [2 / 5, 5],
    }
    const parts: readonly [cut: string, Readonly<Record<string, number>>][] = [
      [
        'consent&group_by=field',
        {
          ad_storage_granted: 2 / 4,
          ad_storage_denied: 1 / 4,
          ad_storage_absent: 1 / 4,
          analytics_storage_granted: 1 / 4,
          analytics_storage_denied: 0,
          analytics_storage_absent: 3 / 4,
          ad_user_data_granted: 1 / 4,
          ad_user_data_denied: 0,
          ad_personalization_granted: 0,
          ad_personalization_denied: 1 / 4,
          never_updated: 1 / 2,
        },
      ],
      [
        'identifiers&group_by=field',
        { event_id: 2 / 4, client_id: 1 / 4, fbp: 1 / 4, fbc: 2 / 4, click_id: 1 / 4, ip: 1 / 4, user_agent: 1 / 4 },
      ],
      ['identifiers&group_by=field&event_name=page_view&keys=event_id&keys=fbp', { event_id: 0, fbp: 1 }],
      [
        'validity&group_by=field',
        {
          value_zero: 1 / 4,
          value_invalid: 1 / 4,
          currency_invalid: 2 / 4,
          transaction_duplicate: 3 / 4,
          items_empty: 0,
        },
      ],
      [
        'responses&group_by=field',
        { response_2xx: 2 / 5, response_3xx: 1 / 5, response_4xx: 1 / 5, response_5xx: 0, response_none: 1 / 5 },
      ],
      ['responses&group_by=tag_key', { GA4: 1 / 3, Meta: 1 / 2 }],
      [
        'responses&group_by=field&tag_key=Meta&keys=response_2xx&keys=response_4xx',
        { response_2xx: 0.5, response_4xx: 0.5 },
      ],
    ]
    for (const [metric, [value, base]] of Object.entries(wholes)) {
      const { series } = (await get(`/timeseries?metric=${metric}&${hour}`)).json<{ series: unknown }>()
      assert.deepEqual(series, [{ key: metric, points: [{ t: at('12:00:00'), value, base }] }], metric)
    }
    for (const [cut, expected] of parts) {
      const csv = await get(`/export.csv?metric=${cut}&${hour}`)
      const [head, ...lines] = csv.body.trim().split('\n')
      assert.equal(head, 't,key,value')
      assert.deepEqual(
        lines.toSorted(),
        Object.entries(expected)
          .map(([key, value]) => `${at('12:00:00')},${key},${value}`)
          .sort(),
        cut,
      )
    }
  },
)
