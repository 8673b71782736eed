import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { UnresolvedAlert } from '../../src/alerts/index.ts'
import type { Status } from '../../src/dashboard/status.ts'
import { DAY, HOUR, isoTime, MINUTE, newId, newOrderedId, SECOND } from '../../src/lib/index.ts'
import type { ClientRecord, SiteRecord, StatusLinkRecord } from '../../src/management/index.ts'
import type { StatusPage } from '../../src/sharing/index.ts'
import { beganAt, duringWork } from '../../src/sharing/status-page.ts'
import type { AlertRow } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { logicEngines, placeFor, type TestEngine, testPerEngine } from '../../testkit/engines.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { startTestService } from '../../testkit/service.ts'
import { ADMIN, VIEWER } from '../management/support.ts'

const NOW = '2026-11-20T10:00:30.000Z'
const SECRETS = {
  email: 'ops@acme.example',
  chat_webhook: 'https://hooks.example/T0/webhook-secret',
}

/** A service that asks for keys, with one client whose status page is shared. */
async function start(t: TestContext, engine: TestEngine) {
  const clock = new TestClock(NOW)
  const keys = { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER, PUBLIC_URL: 'https://watch.example' }
  const api = await startTestService(t, clock, { ...keys, ...(await placeFor(engine, t)) })
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await api.call(method, path, body, bearer(ADMIN))
    assert.ok(answer.status < 300, answer.text)
    return answer.status === 204 ? JSON.parse('null') : answer.json<T>()
  }
  const newSite = (client: { id: string }, name: string): Promise<SiteRecord & { ingest_key: string }> =>
    call('POST', '/api/sites', { client_id: client.id, name, url: `https://${name}.example/path` })
  const client = await call<ClientRecord>('POST', '/api/clients', { name: 'Acme', ...SECRETS })
  const link = await call<StatusLinkRecord>('POST', `/api/clients/${client.id}/status-link`)
  const get = (token = link.token) => api.call('GET', `/api/status/${token}`)
  const page = async (): Promise<StatusPage> => {
    await api.service.ingest.flush()
    const answer = await get()
    assert.equal(answer.status, 200, answer.text)
    return answer.json<StatusPage>()
  }
  return { clock, api, call, newSite, client, link, get, page }
}

testPerEngine(
  'anyone who has the link sees the status of the client and its sites, without a key',
  async (engine, t) => {
    const { clock, api, newSite, client, call, get, page, link } = await start(t, engine)
    assert.equal(link.url, `https://watch.example/status/${link.token}`)
    const { store } = api.service
    const [fine, broken, off] = [
      await newSite(client, 'fine'),
      await newSite(client, 'broken'),
      await newSite(client, 'off'),
    ]
    await call('PATCH', `/api/sites/${off.id}`, { is_active: false })
    await newSite(await call<ClientRecord>('POST', '/api/clients', { name: 'Another client' }), 'elsewhere')
    const now = clock.now()
    const far = { next_run_at: now + HOUR, created_at: now }
    await insertProbe(store, fine.id, { ...far, last_status: 'ok' })
    // Of probes that are there: the upkeep of alerts resolves others, two seconds after the start.
    const slow = await insertProbe(store, broken.id, { ...far, last_status: 'warning' })
    const down = await insertProbe(store, broken.id, { ...far, last_status: 'critical' })
    const [warning, critical] = [
      await insertAlert(store, broken, now - 3 * HOUR, { probe_id: slow.id, severity: 'warning', title: 'It is slow' }),
      await insertAlert(store, broken, now - 18 * MINUTE, {
        probe_id: down.id,
        state: 'acknowledged',
        title: 'It is down',
      }),
    ]
    await insertAlert(store, broken, now - HOUR, { state: 'resolved', resolved_at: now, title: 'It was down' })
    assert.equal((await api.ingest(fine, eventPayload({ timestamp_ms: now }))).status, 200)
    const { sites, ...whole } = await page()
    // Probes that never ran have judged nothing: no day is green.
    for (const { days, uptime, first_day } of sites) {
      assert.deepEqual([days.length, uptime, days.at(-1)?.day, first_day], [90, null, '2026-11-20', '2026-11-20'])
      assert.deepEqual(new Set(days.map(({ status }) => status)), new Set(['unknown']))
    }
    const shown = { ...whole, sites: sites.map(({ days: _days, uptime: _uptime, first_day: _first, ...site }) => site) }
    assert.deepEqual(shown, {
      generated_at: NOW,
      name: 'Acme',
      status: 'critical',
      looks: { accent: null, logo: null },
      incidents: [],
      has_older_incidents: false,
      maintenance: [],
      takes_subscribers: false,
      sites: [
        {
          name: 'broken',
          status: 'critical',
          reason: null,
          since: '2026-11-20T09:42:30.000Z',
          maintenance_until: null,
          last_event_at: null,
          sparkline: Array(24).fill(0),
          alerts: [
            {
              title: critical.title,
              severity: 'critical',
              state: 'acknowledged',
              started_at: '2026-11-20T09:42:30.000Z',
              opened_at: '2026-11-20T09:42:30.000Z',
            },
            {
              title: warning.title,
              severity: 'warning',
              state: 'open',
              started_at: '2026-11-20T07:00:30.000Z',
              opened_at: '2026-11-20T07:00:30.000Z',
            },
          ],
        },
        {
          name: 'fine',
          status: 'ok',
          reason: null,
          since: null,
          maintenance_until: null,
          last_event_at: NOW,
          sparkline: [...Array(23).fill(0), 1],
          alerts: [],
        },
      ],
    })
    const { headers } = await get()
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('x-robots-tag'), 'noindex, nofollow')

    // Announced work: what is bad since it began is no news, and what was before is.
    const ends_at = isoTime(now + HOUR)
    const work = { site_id: broken.id, kind: 'once', title: 'Move', starts_at: isoTime(now - 4 * HOUR), ends_at }
    const { id } = await call<{ id: string }>('POST', '/api/maintenance', work)
    const seen = async () => {
      clock.advance(6 * SECOND)
      const { status: of, sites: all } = await page()
      const site = all.find(({ name }) => name === 'broken')
      return [of, site?.status, site?.since, site?.maintenance_until, site?.alerts.map(({ title }) => title).join()]
    }
    assert.deepEqual(await seen(), ['ok', 'unknown', null, ends_at, ''])
    await call('PATCH', `/api/maintenance/${id}`, { starts_at: isoTime(now - HOUR) })
    assert.deepEqual(await seen(), ['warning', 'warning', isoTime(warning.started_at), ends_at, warning.title])
  },
  logicEngines,
)

testPerEngine(
  'nothing secret is in the answer',
  async (engine, t) => {
    const { clock, api, newSite, client, link, get } = await start(t, engine)
    const { store } = api.service
    const site = await newSite(client, 'shop')
    const far = { next_run_at: clock.now() + HOUR, created_at: clock.now() }
    const config = JSON.stringify({ path: '/probe-config-secret' })
    const probe = await insertProbe(store, site.id, {
      ...far,
      config,
      last_status: 'error',
      last_message: 'message-secret',
    })
    const alert = await insertAlert(store, site, clock.now(), {
      subject: 'check',
      severity: 'warning',
      title: '“Warehouse” cannot check: GOOGLE_CREDENTIALS_FILE is not set',
      message: 'alert-message-secret',
      details: '{"secret":"details-secret"}',
      acknowledged_by: 'Jane',
    })
    const { text } = await get()
    assert.match(text, /One of our checks cannot run/)
    const secrets = [
      ...Object.values(SECRETS),
      ...[site.ingest_key, site.id, site.url, client.id, probe.id, alert.id, link.token, ADMIN, VIEWER],
      ...['-secret', 'CREDENTIALS', 'Jane', '@', 'http'],
    ]
    for (const secret of secrets) assert.ok(!text.includes(String(secret)), String(secret))
  },
  logicEngines,
)

testPerEngine(
  'what was never a link, was revoked, or is of a client switched off is not found',
  async (engine, t) => {
    const { call, client, get, link } = await start(t, engine)
    const isGone = async (token: string | null = link.token) => {
      const answer = await get(token)
      assert.equal(answer.status, 404)
      return answer.json<{ error: string; message: string }>()
    }
    assert.equal((await get()).status, 200)
    assert.equal((await isGone('x'.repeat(43))).error, 'not_found')
    assert.equal((await isGone('no-token')).error, 'not_found')
    await call('PATCH', `/api/clients/${client.id}`, { is_active: false })
    assert.equal((await isGone()).message, 'Status page not found')
    await call('PATCH', `/api/clients/${client.id}`, { is_active: true })
    assert.equal((await get()).status, 200)
    await call('DELETE', `/api/clients/${client.id}/status-link`)
    assert.equal((await isGone()).message, 'Status page not found')
    const next = await call<StatusLinkRecord>('POST', `/api/clients/${client.id}/status-link`)
    await isGone()
    assert.equal((await get(next.token)).status, 200)
    await call('DELETE', `/api/clients/${client.id}`)
    await isGone(next.token)
  },
  logicEngines,
)

testPerEngine('the figures are at most five seconds behind; the name and the link never', async (engine, t) => {
  const { clock, api, newSite, client, call, page } = await start(t, engine)
  const site = await newSite(client, 'shop')
  assert.equal((await page()).status, 'unknown')
  const far = { next_run_at: clock.now() + HOUR, created_at: clock.now() }
  await insertProbe(api.service.store, site.id, { ...far, last_status: 'warning' })
  await call('PATCH', `/api/clients/${client.id}`, { name: 'Acme & Sons' })
  clock.advance(5 * SECOND - 1)
  const { name, status } = await page()
  assert.deepEqual([name, status], ['Acme & Sons', 'unknown'])
  clock.advance(1)
  assert.equal((await page()).sites[0]?.status, 'warning')
})

testPerEngine(
  'the page is there for browsers, for no index, and sends no referrer',
  async (engine, t) => {
    const { api, link } = await start(t, engine)
    for (const path of [`/status/${link.token}`, '/status/unknown', `/STATUS/${link.token}`]) {
      const { headers } = await api.call('GET', path, undefined, { accept: 'text/html' })
      assert.match(headers.get('content-type') ?? '', /^text\/html/)
      assert.equal(headers.get('referrer-policy'), 'no-referrer')
      assert.equal(headers.get('x-robots-tag'), 'noindex, nofollow')
    }
    const { headers } = await api.call('GET', '/', undefined, { accept: 'text/html' })
    assert.deepEqual(
      [headers.get('referrer-policy'), headers.get('x-robots-tag')],
      ['same-origin', 'noindex, nofollow'],
    )
  },
  logicEngines,
)

const alert = (over: Partial<UnresolvedAlert>): UnresolvedAlert => ({
  id: 'a',
  clientId: 'c',
  siteId: 's',
  probeId: 'p',
  subject: 'target',
  severity: 'critical',
  state: 'open',
  title: 'It is down',
  startedAt: 1,
  openedAt: 100,
  ...over,
})
const critical = [alert({ startedAt: 20 }), alert({ startedAt: 10 })]
const warning = alert({ severity: 'warning', startedAt: 5 })
const check = alert({ subject: 'check', severity: 'warning', startedAt: 3 })
const all = [...critical, warning, check]

const beginnings: readonly [status: Status, alerts: readonly UnresolvedAlert[], at: number | null][] = [
  ['critical', [], null],
  ['critical', all, 10],
  ['critical', [warning, check], null],
  ['warning', all, 5],
  ['warning', [check], null],
  ['error', all, 3],
  ['error', critical, null],
  ['ok', all, null],
  ['unknown', all, null],
]
for (const [status, alerts, at] of beginnings) {
  const of = alerts.map(({ subject, severity, startedAt }) => `${subject}/${severity}@${startedAt}`).join(' ')
  test(`a site that is ${status} with [${of}] is so since ${at}`, () => assert.equal(beganAt(status, alerts), at))
}

test('maintenance windows that overlap are one, from the first beginning to the last end', () => {
  const site = { id: 's', siteNo: 1, clientId: 'c', name: 'shop', timezone: 'UTC', created_at: 0, lastEventAt: null }
  const broken = { ...site, status: 'critical' as const, reason: null, alerts: [alert({ openedAt: 25 })] }
  const planned = [
    { siteId: 's', startsAt: 10, endsAt: 60 },
    { siteId: null, startsAt: 20, endsAt: 90 },
    { siteId: 'other', startsAt: 5, endsAt: 120 },
    { siteId: null, startsAt: 95, endsAt: 130 },
  ]
  const { status, workEndsAt, alerts } = duringWork(broken, planned, 40)
  assert.deepEqual([status, workEndsAt, alerts], ['unknown', 90, []])
})

test('maintenance that follows without a gap has one end with the one under way, and one after a gap does not', () => {
  const site = { id: 's', siteNo: 1, clientId: 'c', name: 'shop', timezone: 'UTC', created_at: 0, lastEventAt: null }
  const planned = [
    { siteId: 's', startsAt: 10, endsAt: 60 },
    { siteId: 'other', startsAt: 60, endsAt: 200 },
    { siteId: null, startsAt: 60, endsAt: 90 },
    { siteId: 's', startsAt: 80, endsAt: 85 },
    { siteId: 's', startsAt: 90, endsAt: 100 },
    { siteId: 's', startsAt: 101, endsAt: 130 },
  ]
  const endAt = (now: number) =>
    duringWork({ ...site, status: 'ok', reason: null, alerts: [] }, planned, now).workEndsAt
  assert.deepEqual([5, 40, 101].map(endAt), [null, 100, 130])
})

testPerEngine('the page lists incidents of 90 days and planned work, and the feed the former', async (engine, t) => {
  const { clock, api, call, newSite, client, link, page } = await start(t, engine)
  const { store } = api.service
  const now = clock.now()
  const site = await newSite(client, 'shop')
  const other = await newSite(await call<ClientRecord>('POST', '/api/clients', { name: 'Another client' }), 'elsewhere')
  const tell = async (
    of: { id: string; client_id: string },
    at: number,
    title: string,
    over: Partial<AlertRow> = {},
  ) => {
    const ended = { state: 'resolved', resolved_at: at + HOUR }
    const incident = await insertIncident(store, of, at, { title, ...ended })
    const about = { incident_id: incident.id, title, confirmed_at: at, ...ended, ...over }
    const { id } = await insertAlert(store, of, at, about)
    await store.write.updateTable('incidents').set({ lead_alert_id: id }).where('id', '=', incident.id).execute()
    return incident.id
  }
  const first = await tell(site, now - 30 * DAY, 'It was down')
  const last = await tell(site, now - DAY, 'It was slow')
  await tell(site, now - 91 * DAY, 'long ago')
  await tell(site, now - DAY, 'over before it was confirmed', { confirmed_at: null })
  await tell(site, now - DAY, 'our own check', { subject: 'check' })
  await tell(site, now - DAY, 'planned', { suppressed_by: 'maintenance:1' })
  await tell(site, now - DAY, 'silenced', { suppressed_by: 'silence:1' })
  const before = await tell(site, now - DAY, 'before it', { suppressed_by: 'maintenance:1', announced_at: now - DAY })
  await tell(other, now - DAY, 'of another client')
  // What is not shown is not counted.
  const unconfirmed = await insertIncident(store, site, now)
  const hidden = Array.from({ length: 100 }, () => ({ ...unconfirmed, id: newOrderedId(now) }))
  await store.write.insertInto('incidents').values(hidden).execute()
  const maintain = (scope: object, title: string) =>
    call('POST', '/api/maintenance', {
      ...scope,
      kind: 'once',
      title,
      starts_at: isoTime(now + DAY),
      ends_at: isoTime(now + DAY + HOUR),
    })
  await maintain({ site_id: site.id }, 'title-secret')
  await maintain({ site_id: other.id }, 'of another client')
  const { incidents, maintenance, has_older_incidents } = await page()
  assert.equal(has_older_incidents, false)
  assert.deepEqual(
    incidents.map(({ id, site: name, title }) => [id, name, title]),
    [
      [before, 'shop', 'before it'],
      [last, 'shop', 'It was slow'],
      [first, 'shop', 'It was down'],
    ],
  )
  assert.deepEqual(maintenance, [{ site: 'shop', starts_at: isoTime(now + DAY), ends_at: isoTime(now + DAY + HOUR) }])
  assert.equal((await api.call('GET', `/api/status/${link.token}/incidents/${last}`)).status, 200)
  const feed = await api.call('GET', `/api/status/${link.token}/feed.atom`)
  assert.equal(feed.headers.get('content-type'), 'application/atom+xml; charset=utf-8')
  assert.deepEqual(
    [...feed.text.matchAll(/<link [^>]*href="([^"]*)"/g)].map(([, address]) => address),
    [
      `/status/${link.token}`,
      `/api/status/${link.token}/feed.atom`,
      ...[before, last, first].map((id) => `/status/${link.token}/incidents/${id}`),
    ].map((path) => `https://watch.example${path}`),
  )
  for (const secret of ['title-secret', 'another client', site.id, client.id]) assert.ok(!feed.text.includes(secret))
  // What lasts is listed, however many are newer, and the page says that there are older ones.
  await store.write.updateTable('incidents').set({ resolved_at: now }).where('started_at', '=', now).execute()
  const alert = await insertAlert(store, site, now, { incident_id: unconfirmed.id, confirmed_at: now })
  const confirmed = hidden.map(({ id: incident_id }) => ({
    ...alert,
    id: newOrderedId(now),
    probe_id: newId(),
    incident_id,
  }))
  await store.write.insertInto('alerts').values(confirmed).execute()
  await store.write.updateTable('incidents').set({ resolved_at: null }).where('id', '=', first).execute()
  // A part of what is listed, which is on the page of that.
  const part = { parent_id: first, resolved_at: null }
  await store.write
    .updateTable('incidents')
    .set(part)
    .where('id', '=', hidden[0]?.id ?? '')
    .execute()
  clock.advance(MINUTE)
  const crowded = await page()
  assert.deepEqual([crowded.incidents.length, crowded.has_older_incidents], [100, true])
  assert.equal(crowded.incidents.at(-1)?.id, first)
  assert.ok(!crowded.incidents.some(({ id }) => id === hidden[0]?.id))
  // What explained it is over, and it lasts.
  await store.write.updateTable('incidents').set({ resolved_at: clock.now() }).where('id', '=', first).execute()
  clock.advance(MINUTE)
  assert.ok((await page()).incidents.some(({ id }) => id === hidden[0]?.id))
  await call('DELETE', `/api/clients/${client.id}/status-link`)
  assert.equal((await api.call('GET', `/api/status/${link.token}/feed.atom`)).status, 404)
})

/** A whole PNG of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

testPerEngine(
  'the page has the colour and the logo of the client, and nothing that is no picture',
  async (engine, t) => {
    const { api, call, client, link, page } = await start(t, engine)
    const path = `/api/clients/${client.id}/status-page`
    const logo = () => api.call('GET', `/api/status/${link.token}/logo`)
    assert.equal((await logo()).status, 404)
    const looks = await call<StatusPage['looks']>('PATCH', path, { accent: '#2f5fd0', logo: PIXEL })
    assert.deepEqual([looks.accent, looks.logo?.length], ['#2f5fd0', 16])
    assert.deepEqual((await page()).looks, looks)
    const answer = await logo()
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'image/png')
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(answer.headers.get('content-security-policy'), "default-src 'none'; sandbox")
    assert.equal((await api.call('GET', `${path}/logo`)).status, 401)
    const own = await api.call('GET', `${path}/logo`, undefined, bearer(VIEWER))
    assert.deepEqual([own.status, own.headers.get('content-type'), own.text], [200, 'image/png', answer.text])
    assert.equal(own.headers.get('content-security-policy'), "default-src 'none'; sandbox")
    // A text chunk before the last one is not passed on.
    const image = Buffer.from(PIXEL, 'base64')
    const text = Buffer.concat([Buffer.from([0, 0, 0, 6]), Buffer.from('tEXtsecret'), Buffer.alloc(4)])
    const talking = Buffer.concat([image.subarray(0, -12), text, image.subarray(-12)])
    assert.deepEqual(await call('PATCH', path, { logo: talking.toString('base64') }), looks)
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>').toString(
      'base64',
    )
    const huge = Buffer.from(PIXEL, 'base64')
    huge.writeUInt32BE(60_000, 16)
    for (const [body, at] of [
      [{ logo: svg }, '/logo'],
      [{ logo: huge.toString('base64') }, '/logo'],
      [{ logo: 'no base64!' }, '/logo'],
      [{ accent: '#ffee00' }, '/accent'],
      [{ accent: 'red;background:url(//evil.example)' }, '/accent'],
    ] as const) {
      const refused = await api.call('PATCH', path, body, bearer(ADMIN))
      assert.equal(refused.status, 400, refused.text)
      assert.equal(refused.json<{ details: { path: string }[] }>().details[0]?.path, at)
    }
    assert.equal((await api.call('PATCH', path, { accent: null }, bearer(VIEWER))).status, 403)
    await call('PATCH', path, { logo: null })
    assert.equal((await logo()).status, 404)
    assert.equal((await call<StatusPage['looks']>('GET', path)).accent, '#2f5fd0')
  },
)
