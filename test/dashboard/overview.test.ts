import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { HOUR, MINUTE } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import type { SiteKey } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { logicEngines, placeFor, type TestEngine, testPerEngine } from '../../testkit/engines.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import { hearFrom } from '../../testkit/sites.ts'

const NOW = '2026-11-20T10:00:30.000Z'

const NOTHING_OPEN = { waiting: 0, open_alerts: 0, open_incidents: 0 }

interface SiteState {
  id: string
  name: string
  status: string
  open_alerts: number
  worst_alert: { id: string; title: string } | null
  last_event_at: string | null
  events_24h: number
  sparkline: number[]
  score: number | null
  score_cap: { max: number; reason: string; alert_id: string } | null
  reason: string | null
  probes: { status: string; judged: boolean; reason: string | null }[]
}
interface Overview {
  generated_at: string
  totals: Record<string, number>
  clients: { id: string; name: string; status: string; open_alerts: number; sites: SiteState[] }[]
  incidents: { id: string; alert_count: number; site_count: number }[]
  incidents_left_out: number
  clients_near_quota: object[]
  recent_alerts: { id: string; state: string }[]
}

async function start(t: TestContext, engine: TestEngine) {
  const clock = new TestClock(NOW)
  return { clock, api: await startTestService(t, clock, await placeFor(engine, t)) }
}

const get = (api: TestService, headers: Record<string, string> = {}) =>
  api.call('GET', '/api/dashboard/overview', undefined, headers)

async function overviewOf(api: TestService): Promise<Overview> {
  await api.service.ingest.flush()
  return (await get(api)).json<Overview>()
}

async function send(api: TestService, site: SiteKey, times: number, timestamp_ms: number): Promise<void> {
  const tags = [{ id: '1', status: 'success' as const }]
  for (let i = 0; i < times; i++)
    assert.equal((await api.ingest(site, eventPayload({ timestamp_ms, tags }))).status, 200)
}

testPerEngine(
  'without clients the overview is empty',
  async (engine, t) => {
    const { api } = await start(t, engine)
    assert.deepEqual(await overviewOf(api), {
      generated_at: NOW,
      totals: { clients: 0, sites: 0, ok: 0, warning: 0, critical: 0, error: 0, unknown: 0, ...NOTHING_OPEN },
      incidents: [],
      incidents_left_out: 0,
      clients: [],
      clients_without_channel: [],
      clients_near_quota: [],
      recent_alerts: [],
    })
  },
  logicEngines,
)

testPerEngine(
  'a site shows what it received in 24 hours, when it last did, and how well',
  async (engine, t) => {
    const { clock, api } = await start(t, engine)
    const client = await api.newClient()
    const [busy, silent] = [await api.newSite(client), await api.newSite(client, { name: 'silent' })]
    await send(api, busy, 20, clock.now())
    const { clients } = await overviewOf(api)
    assert.deepEqual(clients[0]?.sites, [
      {
        id: busy.id,
        name: 'shop',
        url: 'https://shop.example',
        timezone: 'UTC',
        status: 'unknown',
        reason: null,
        open_alerts: 0,
        worst_alert: null,
        last_event_at: NOW,
        events_24h: 20,
        sparkline: [...Array(23).fill(0), 20],
        score: 100,
        score_cap: null,
        probes: [],
      },
      {
        id: silent.id,
        name: 'silent',
        url: 'https://shop.example',
        timezone: 'UTC',
        status: 'unknown',
        reason: 'no_data',
        open_alerts: 0,
        worst_alert: null,
        last_event_at: null,
        events_24h: 0,
        sparkline: Array(24).fill(0),
        score: null,
        score_cap: null,
        probes: [],
      },
    ])
  },
  logicEngines,
)

testPerEngine(
  'what is more than 24 hours old is not counted, but was the last event all the same',
  async (engine, t) => {
    const { clock, api } = await start(t, engine)
    const site = await api.newSite(await api.newClient())
    await send(api, site, 2, clock.now())
    clock.advance(23 * HOUR)
    await send(api, site, 1, clock.now())
    assert.equal((await overviewOf(api)).clients[0]?.sites[0]?.events_24h, 3)
    clock.advance(HOUR + MINUTE)
    assert.equal((await overviewOf(api)).clients[0]?.sites[0]?.events_24h, 1)
    clock.advance(24 * HOUR)
    const [site48h] = (await overviewOf(api)).clients[0]?.sites ?? []
    assert.deepEqual([site48h?.events_24h, site48h?.last_event_at], [0, '2026-11-21T09:00:30.000Z'])
  },
  logicEngines,
)

testPerEngine(
  'a sparkline has the hours of a day, and is at most a minute behind',
  async (engine, t) => {
    const { clock, api } = await start(t, engine)
    const site = await api.newSite(await api.newClient())
    const hours = async () => (await overviewOf(api)).clients[0]?.sites[0]?.sparkline
    // Each in its hour's first minute, and no hour is rolled up yet.
    await send(api, site, 3, clock.now() - 2 * HOUR)
    await send(api, site, 4, clock.now() - HOUR)
    await send(api, site, 1, clock.now())
    assert.deepEqual((await hours())?.slice(-4), [0, 3, 4, 1])
    await send(api, site, 1, clock.now())
    clock.advance(MINUTE - 1)
    assert.deepEqual((await hours())?.slice(-2), [4, 1])
    clock.advance(1)
    assert.deepEqual((await hours())?.slice(-2), [4, 2])
    clock.set('2026-11-20T11:00:00.000Z')
    assert.deepEqual((await hours())?.slice(-3), [4, 2, 0])
    clock.set('2026-11-21T07:59:59.000Z')
    assert.deepEqual((await hours())?.slice(0, 4), [3, 4, 2, 0])
  },
  logicEngines,
)

testPerEngine(
  'only active clients with their active sites are shown and counted, oldest first',
  async (engine, t) => {
    const { clock, api } = await start(t, engine)
    const names = ['first', 'second', 'off']
    for (const name of names) {
      clock.advance(1)
      const client = await api.newClient({ name })
      for (const site of ['a', 'b']) {
        clock.advance(1)
        await api.newSite(client, { name: site })
      }
    }
    const { clients } = await overviewOf(api)
    const [, second, third] = clients
    assert.deepEqual(
      clients.map(({ name, sites }) => [name, ...sites.map((site) => site.name)]),
      names.map((name) => [name, 'a', 'b']),
    )
    await api.call('PATCH', `/api/clients/${third?.id}`, { is_active: false })
    await api.call('PATCH', `/api/sites/${second?.sites[0]?.id}`, { is_active: false })
    const after = await overviewOf(api)
    assert.deepEqual(
      after.clients.map(({ name, sites }) => [name, ...sites.map((site) => site.name)]),
      [
        ['first', 'a', 'b'],
        ['second', 'b'],
      ],
    )
    const none = { ok: 0, warning: 0, critical: 0, error: 0, ...NOTHING_OPEN }
    assert.deepEqual(after.totals, { ...none, clients: 2, sites: 3, unknown: 3, waiting: 3 })
  },
  logicEngines,
)

testPerEngine(
  'the overview shows no ingest key, webhook or e-mail address',
  async (engine, t) => {
    const { api } = await start(t, engine)
    const secrets = { email: 'ops@example.com', chat_webhook: 'https://chat.example.com/hook' }
    const site = await api.newSite(await api.newClient(secrets))
    const { text } = await get(api)
    assert.match(text, new RegExp(site.id))
    for (const secret of [site.ingest_key, ...Object.values(secrets)]) assert.ok(!text.includes(secret))
  },
  logicEngines,
)

testPerEngine(
  'an unchanged overview is answered 304, whatever the time, and a changed one is not',
  async (engine, t) => {
    const { clock, api } = await start(t, engine)
    const site = await api.newSite(await api.newClient())
    const first = await get(api)
    const etag = first.headers.get('etag') ?? ''
    assert.match(first.headers.get('cache-control') ?? '', /no-cache/)
    clock.advance(1_000)
    const same = await get(api, { 'if-none-match': etag })
    assert.deepEqual([same.status, same.text, same.headers.get('etag')], [304, '', etag])
    // The length of a body that is not there would replace that of the answer which a cache keeps.
    assert.deepEqual([same.headers.get('content-length'), same.headers.get('content-type')], [null, null])
    const head = await api.call('HEAD', '/api/dashboard/overview', undefined, { 'if-none-match': etag })
    assert.equal(head.status, 304)

    await send(api, site, 1, clock.now())
    await api.service.ingest.flush()
    const changed = await get(api, { 'if-none-match': etag })
    assert.equal(changed.status, 200)
    assert.notEqual(changed.headers.get('etag'), etag)
    await api.call('PATCH', `/api/sites/${site.id}`, { name: 'renamed' })
    assert.equal((await get(api, { 'if-none-match': changed.headers.get('etag') ?? '' })).status, 200)
  },
  logicEngines,
)

testPerEngine(
  "a site's status is the worst of its active probes, a client's that of its sites",
  async (engine, t) => {
    const { clock, api } = await start(t, engine)
    const { store } = api.service
    const client = await api.newClient()
    const [bad, fine, fresh] = [await api.newSite(client), await api.newSite(client), await api.newSite(client)]
    const at = clock.now()
    const first = { next_run_at: at + HOUR, created_at: at - 2, last_result_at: at, last_message: 'so it is' }
    const warning = await insertProbe(store, bad.id, { ...first, last_status: 'warning', last_response_time_ms: 12 })
    await insertProbe(store, bad.id, { ...first, created_at: at, last_status: 'error' })
    await insertProbe(store, bad.id, { ...first, last_status: 'critical', is_active: 0 })
    await insertProbe(store, fine.id, { ...first, last_status: 'ok' })
    await hearFrom(store, fine.id, at)
    await insertProbe(store, fine.id, { next_run_at: at + HOUR })
    await insertProbe(store, fresh.id, { next_run_at: at + HOUR })
    const { clients, totals } = await overviewOf(api)
    assert.deepEqual(
      [clients[0]?.status, clients[0]?.sites.map(({ status }) => status)],
      ['error', ['error', 'ok', 'unknown']],
    )
    assert.deepEqual([totals.error, totals.ok, totals.unknown, totals.critical], [1, 1, 1, 0])
    const probes = clients[0]?.sites[0]?.probes
    assert.equal(probes?.length, 2)
    assert.deepEqual(probes?.[0], {
      id: warning.id,
      probe_type: 'fake',
      name: 'Fake',
      status: 'warning',
      judged: true,
      reason: null,
      message: 'so it is',
      response_time_ms: 12,
      last_result_at: NOW,
    })
  },
  logicEngines,
)

testPerEngine(
  'unresolved alerts are counted, the worst of a site is named, and the last ones listed',
  async (engine, t) => {
    const { clock, api } = await start(t, engine)
    const { store } = api.service
    const client = await api.newClient()
    const [broken, fine] = [await api.newSite(client), await api.newSite(client, { name: 'fine' })]
    const now = clock.now()
    const warning = await insertAlert(store, broken, now - 3 * MINUTE, { severity: 'warning' })
    const critical = await insertAlert(store, broken, now - 2 * MINUTE, { state: 'acknowledged' })
    const over = await insertAlert(store, fine, now - MINUTE, { state: 'resolved', resolved_at: now })
    const { clients, totals, recent_alerts } = await overviewOf(api)
    assert.deepEqual(
      clients[0]?.sites.map(({ open_alerts, worst_alert }) => [open_alerts, worst_alert?.id ?? null]),
      [
        [2, critical.id],
        [0, null],
      ],
    )
    assert.deepEqual([clients[0]?.open_alerts, totals.open_alerts], [2, 2])
    assert.deepEqual(
      recent_alerts.map(({ id, state }) => [id, state]),
      [
        [over.id, 'resolved'],
        [critical.id, 'acknowledged'],
        [warning.id, 'open'],
      ],
    )
  },
  logicEngines,
)

testPerEngine(
  'incidents show the most urgent first, each with how far it reaches, none that another one explains, and how many more there are',
  async (engine, t) => {
    const { clock, api } = await start(t, engine)
    const { store } = api.service
    const client = await api.newClient()
    const [one, two, off] = [
      await api.newSite(client),
      await api.newSite(client, { name: 'two' }),
      await api.newSite(client, { name: 'off' }),
    ]
    const now = clock.now()
    const vendor = await insertIncident(store, null, now, { title: 'Meta', severity: 'warning' })
    for (const site of [one, two]) {
      const part = await insertIncident(store, site, now, { parent_id: vendor.id })
      await insertAlert(store, site, now, { incident_id: part.id })
    }
    const taken = await insertIncident(store, one, now - HOUR, { state: 'acknowledged' })
    const worse = await insertIncident(store, two, now, {})
    for (const state of ['open', 'resolved']) await insertAlert(store, two, now, { incident_id: worse.id, state })
    await insertIncident(store, two, now, { state: 'resolved', resolved_at: now })
    await insertIncident(store, off, now, {})
    await api.call('PATCH', `/api/sites/${off.id}`, { is_active: false })
    const { totals, incidents } = await overviewOf(api)
    assert.deepEqual(
      incidents.map(({ id, alert_count, site_count }) => [id, alert_count, site_count]),
      [
        [worse.id, 2, 1],
        [vendor.id, 2, 2],
        [taken.id, 0, 0],
      ],
    )
    assert.equal(totals.open_incidents, 2)

    for (let n = 0; n < 20; n++) await insertIncident(store, two, now, {})
    const crowded = await overviewOf(api)
    assert.deepEqual([crowded.incidents.length, crowded.incidents_left_out], [20, 3])
  },
  logicEngines,
)

testPerEngine(
  'what judged nothing counts in no sum: such sites are unknown, and those that never sent anything wait',
  async (engine, t) => {
    const { clock, api } = await start(t, engine)
    const { store } = api.service
    const client = await api.newClient()
    const [fine, waiting, young] = [await api.newSite(client), await api.newSite(client), await api.newSite(client)]
    const at = clock.now()
    const ran = { next_run_at: at + HOUR, created_at: at, last_result_at: at, last_status: 'ok' }
    for (const site of [fine, waiting]) await insertProbe(store, site.id, ran)
    for (const site of [fine, young]) await insertProbe(store, site.id, { ...ran, last_reason: 'learning' })
    await insertProbe(store, waiting.id, { ...ran, last_reason: 'no_data' })
    for (const site of [fine, young]) await hearFrom(store, site.id, at)
    const { clients, totals } = await overviewOf(api)
    assert.deepEqual(
      clients[0]?.sites.map(({ status, reason }) => [status, reason]),
      [
        ['ok', null],
        ['unknown', 'no_data'],
        ['unknown', 'learning'],
      ],
    )
    assert.deepEqual([clients[0]?.status, totals.ok, totals.unknown, totals.waiting], ['ok', 1, 2, 1])
    assert.deepEqual(
      clients[0]?.sites[1]?.probes.map(({ status, judged, reason }) => [status, judged, reason]),
      [
        ['ok', true, null],
        ['unknown', false, 'no_data'],
      ],
    )
  },
  logicEngines,
)

testPerEngine(
  'alerts of clients and sites that are switched off are no longer among the recent ones',
  async (engine, t) => {
    const { clock, api } = await start(t, engine)
    const { store } = api.service
    const [kept, gone] = [await api.newClient(), await api.newClient({ name: 'gone' })]
    const [watched, off, ofGone] = [await api.newSite(kept), await api.newSite(kept), await api.newSite(gone)]
    const now = clock.now()
    const shown = await insertAlert(store, watched, now - 3 * MINUTE)
    for (const site of [off, ofGone])
      await insertAlert(store, site, now - MINUTE, { state: 'resolved', resolved_at: now })
    assert.equal((await overviewOf(api)).recent_alerts.length, 3)
    await api.call('PATCH', `/api/sites/${off.id}`, { is_active: false })
    await api.call('PATCH', `/api/clients/${gone.id}`, { is_active: false })
    const { recent_alerts } = await overviewOf(api)
    assert.deepEqual(
      recent_alerts.map(({ id }) => id),
      [shown.id],
    )
  },
  logicEngines,
)

testPerEngine(
  'active clients at 80 % of their quota and above are named, those without any left first',
  async (engine, t) => {
    const { clock, api } = await start(t, engine)
    const names = ['near', 'used up', 'fine', 'off']
    const clients = new Map<string, { id: string }>()
    for (const name of names) {
      const client = await api.newClient({ name, events_per_month: 5 })
      clients.set(name, client)
      const count = name === 'near' ? 4 : name === 'fine' ? 3 : 5
      await send(api, await api.newSite(client), count, clock.now())
    }
    await api.call('PATCH', `/api/clients/${clients.get('off')?.id}`, { is_active: false })
    await api.newClient({ name: 'unlimited' })
    const { clients_near_quota } = await overviewOf(api)
    assert.deepEqual(clients_near_quota, [
      { id: clients.get('used up')?.id, name: 'used up', events: 5, limit: 5, level: 'exceeded' },
      { id: clients.get('near')?.id, name: 'near', events: 4, limit: 5, level: 'warning' },
    ])
  },
  logicEngines,
)
