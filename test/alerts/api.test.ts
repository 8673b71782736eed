import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { HOUR, isoTime, MINUTE, newId, newOrderedId, systemClock } from '../../src/lib/index.ts'
import type { AlertRow } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { TestClock } from '../../testkit/clock.ts'
import { placeFor, testPerEngine } from '../../testkit/engines.ts'
import { startAnswering } from '../../testkit/listeners.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')

interface Shown {
  id: string
  state: string
  severity: string
  acknowledged_by: string | null
  resolution: string | null
  message: string
  title: string
  since: string
  facts: { name: string; value: string }[]
  timeline: { kind: string; actor: string | null; text: string }[]
  deliveries: { kind: string }[]
}

/** A target whose health can be switched. */
async function startTarget(t: TestContext) {
  const target = { status: 200, url: '' }
  target.url = await startAnswering(t, (_request, response) => {
    response.writeHead(target.status, { 'content-type': 'text/plain' }).end(target.status === 200 ? 'ok' : 'down')
  })
  return target
}

const OWN_MACHINE = { OUTBOUND_ALLOW: '127.0.0.0/8' }

async function newProbe(api: TestService, tagServerUrl: string) {
  const client = await api.newClient({ chat_webhook: 'http://127.0.0.1:9/hook' })
  const site = await api.newSite(client, { tag_server_url: tagServerUrl })
  const answer = await api.call('POST', '/api/probes', {
    site_id: site.id,
    probe_type: 'http_health',
    interval_seconds: 3600,
  })
  assert.equal(answer.status, 201, answer.text)
  return { client, site, probe: answer.json<{ id: string }>() }
}

testPerEngine('an alert is opened by a run, acknowledged, resolved by hand, and opened again', async (engine, t) => {
  const api = await startTestService(t, systemClock, { ...(await placeFor(engine, t)), ...OWN_MACHINE })
  const target = await startTarget(t)
  const { probe, site } = await newProbe(api, target.url)
  // Refused while the service runs it by itself, as it does soon after it was made, maybe when all was well.
  const run = () =>
    until('a run of the probe', async () =>
      (await api.call('POST', `/api/probes/${probe.id}/run`)).status === 200 ? true : undefined,
    )
  target.status = 503
  await run()
  const list = async (query: string) => (await api.call('GET', `/api/alerts?${query}`)).json<Shown[]>()
  const [alert, ...others] = await list(`site_id=${site.id}&resolved=false`)
  assert.ok(alert !== undefined)
  assert.deepEqual(others, [])
  const path = `/api/alerts/${alert.id}`

  const acknowledged = await api.call('POST', `${path}/acknowledge`, { by: ' Ada ', comment: 'restarting it' })
  assert.deepEqual(
    [acknowledged.json<Shown>().state, acknowledged.json<Shown>().acknowledged_by],
    ['acknowledged', 'Ada'],
  )
  const again = await api.call('POST', `${path}/acknowledge`, { by: 'Bob' })
  assert.equal(again.json<Shown>().acknowledged_by, 'Ada')

  const back = await api.call('POST', `${path}/unacknowledge`, { by: 'Bob' })
  assert.deepEqual([back.json<Shown>().state, back.json<Shown>().acknowledged_by], ['open', null])
  assert.equal((await api.call('POST', `${path}/unacknowledge`, {})).status, 200)
  assert.equal((await api.call('POST', `${path}/acknowledge`, { by: 'Ada' })).json<Shown>().state, 'acknowledged')

  const resolved = await api.call('POST', `${path}/resolve`, {})
  assert.deepEqual([resolved.json<Shown>().state, resolved.json<Shown>().resolution], ['resolved', 'manual'])
  assert.equal((await api.call('POST', `${path}/resolve`, {})).status, 200)
  assert.equal((await api.call('POST', `${path}/acknowledge`, {})).status, 409)
  assert.equal((await api.call('POST', `${path}/unacknowledge`, {})).status, 409)

  const detail = (await api.call('GET', path)).json<Shown>()
  assert.deepEqual(
    detail.timeline.map(({ kind, actor }) => [kind, actor]),
    [
      ['opened', null],
      ['acknowledged', 'Ada'],
      ['unacknowledged', 'Bob'],
      ['acknowledged', 'Ada'],
      ['resolved', 'anonymous'],
    ],
  )
  assert.equal(detail.timeline[1]?.text, 'restarting it')
  assert.deepEqual(detail.deliveries.map(({ kind }) => kind).sort(), ['opened', 'resolved'])
  assert.deepEqual(detail.facts, [{ name: 'HTTP status', value: '503' }])

  await run()
  assert.equal((await list(`probe_id=${probe.id}&resolved=false`)).length, 1)
  assert.equal((await list(`probe_id=${probe.id}`)).length, 2)
  const audit = (await api.call('GET', `/api/audit?entity_id=${alert.id}`)).json<{ action: string }[]>()
  assert.deepEqual(audit.map(({ action }) => action).sort(), [
    'alert.acknowledge',
    'alert.acknowledge',
    'alert.resolve',
    'alert.unacknowledge',
  ])
})

test('lists are filtered by everything that is offered, newest first, page by page', async (t) => {
  const api = await startTestService(t, new TestClock(NOW))
  const { store } = api.service
  const [clientA, clientB, siteA, siteB, probe] = [newId(), newId(), newId(), newId(), newId()]
  const insert = (index: number, over: Partial<AlertRow>) =>
    insertAlert(store, { id: siteA, client_id: clientA }, NOW - index * HOUR, { title: `alert ${index}`, ...over })
  await insert(0, {})
  await insert(1, { state: 'resolved', resolution: 'recovered', resolved_at: NOW })
  await insert(2, { client_id: clientB, site_id: siteB })
  await insert(3, { severity: 'warning' })
  await insert(4, { state: 'acknowledged', probe_id: probe })
  const titles = async (query: string) =>
    (await api.call('GET', `/api/alerts?${query}`)).json<Shown[]>().map(({ title }) => Number(title.slice(6)))
  const rows: [string, number[]][] = [
    ['', [0, 1, 2, 3, 4]],
    [`client_id=${clientA}`, [0, 1, 3, 4]],
    [`site_id=${siteB}`, [2]],
    [`probe_id=${probe}`, [4]],
    ['state=open', [0, 2, 3]],
    ['state=acknowledged', [4]],
    ['severity=warning', [3]],
    ['resolved=true', [1]],
    ['resolved=false', [0, 2, 3, 4]],
    [`since=${isoTime(NOW - 2 * HOUR)}`, [0, 1, 2]],
    [`before=${isoTime(NOW - 2 * HOUR)}`, [3, 4]],
    ['state=open&severity=critical&limit=1', [0]],
  ]
  for (const [query, expected] of rows) assert.deepEqual(await titles(query), expected, query)
  const first = await api.call('GET', '/api/alerts?limit=2')
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
  assert.deepEqual(
    (await api.call('GET', next)).json<Shown[]>().map(({ title }) => title),
    ['alert 2', 'alert 3'],
  )
})

test('what cannot be is refused with what is wrong', async (t) => {
  const api = await startTestService(t, new TestClock(NOW))
  const rows: [method: string, path: string, body: unknown, status: number, names: RegExp][] = [
    ['GET', '/api/alerts?state=closed', undefined, 400, /state/],
    ['GET', '/api/alerts?colour=red', undefined, 400, /colour/],
    ['GET', '/api/alerts?before=yesterday', undefined, 400, /before/],
    ['GET', '/api/alerts?since=yesterday', undefined, 400, /since/],
    ['GET', '/api/alerts?limit=1001', undefined, 400, /limit/],
    ['GET', `/api/alerts/${newId()}`, undefined, 404, /Alert/],
    ['GET', '/api/alerts/one', undefined, 404, /not_found/],
    ['POST', `/api/alerts/${newId()}/acknowledge`, {}, 404, /Alert/],
    ['POST', `/api/alerts/${newId()}/resolve`, {}, 404, /Alert/],
    ['POST', `/api/alerts/${newId()}/resolve`, { who: 'me' }, 400, /who/],
    ['POST', `/api/alerts/${newId()}/acknowledge`, { by: '  ' }, 400, /by/],
    ['POST', `/api/alerts/${newId()}/acknowledge`, { by: 'Ada\nResolved by Bob' }, 400, /by/],
  ]
  for (const [method, path, body, status, names] of rows) {
    const answer = await api.call(method, path, body)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    assert.match(answer.text, names)
  }
})

test('an alert says since when the data are bad, and what was measured against what is usual', async (t) => {
  const api = await startTestService(t, new TestClock(NOW))
  const finding = {
    subject: { tag_key: 'Meta CAPI', event_name: 'purchase' },
    measured: 0.31,
    expected: 0.004,
    band: { low: null, high: 0.05 },
    since: isoTime(NOW - 18 * MINUTE),
  }
  const site = { id: newId(), client_id: newId() }
  const { id } = await insertAlert(api.service.store, site, NOW, {
    probe_type: 'tag_failure_rate',
    details: JSON.stringify({ findings: [finding] }),
    started_at: NOW - 18 * MINUTE,
  })
  const { since, facts } = (await api.call('GET', `/api/alerts/${id}`)).json<Shown>()
  assert.equal(since, isoTime(NOW - 18 * MINUTE))
  assert.deepEqual(facts, [
    { name: 'Tag', value: 'Meta CAPI' },
    { name: 'Event', value: 'purchase' },
    { name: 'Measured', value: '31 %' },
    { name: 'Usual', value: '0.4 %' },
    { name: 'Threshold', value: '5 %' },
  ])
})

test('a timeline without end is read at its beginning and its end, and no one adds to it without end', async (t) => {
  const api = await startTestService(t, new TestClock(NOW))
  const { store } = api.service
  const site = await api.newSite(await api.newClient())
  const { id } = await insertAlert(store, site, NOW)
  const lines = Array.from({ length: 700 }, (_, n) => ({ id: newOrderedId(NOW + n), at: NOW + n, text: `line ${n}` }))
  const rows = lines.map((line) => ({ alert_id: id, ...line, kind: 'acknowledged', actor: 'Ada' }))
  await store.write.insertInto('alert_events').values(rows).execute()
  const detail = async () =>
    (await api.call('GET', `/api/alerts/${id}`)).json<Pick<Shown, 'timeline'> & { timeline_left_out: number }>()
  const { timeline, timeline_left_out } = await detail()
  assert.deepEqual(
    timeline.map(({ text }) => text),
    [...lines.slice(0, 250), ...lines.slice(-250)].map(({ text }) => text),
  )
  assert.equal(timeline_left_out, 200)
  await store.write
    .deleteFrom('alert_events')
    .where('at', '>=', NOW + 300)
    .execute()
  const short = await detail()
  assert.deepEqual([short.timeline.length, short.timeline_left_out], [300, 0])

  const answers = []
  for (let n = 0; n < 31; n++) answers.push(await api.call('POST', `/api/alerts/${id}/unacknowledge`, {}))
  assert.deepEqual(
    answers.slice(-2).map(({ status }) => status),
    [200, 429],
  )
})
