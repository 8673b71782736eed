import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/index.ts'
import type { ProbeRecord, PushRecord, ResultRecord } from '../../../src/probes/index.ts'
import { type Answer, bearer } from '../../../testkit/api.ts'
import { MachineClock, NOW, TestClock } from '../../../testkit/clock.ts'
import { logicEngines, placeFor, postgres, sqlite, type TestEngine, testPerEngine } from '../../../testkit/engines.ts'
import { startTestService } from '../../../testkit/service.ts'
import { until } from '../../../testkit/until.ts'
import { ADMIN, VIEWER } from '../../management/support.ts'

const UNKNOWN = 'x'.repeat(43)

/** A service that runs its probes by itself, and a job that is to call every half hour with ten minutes of grace. */
async function start(
  t: TestContext,
  engine: TestEngine = sqlite,
  clock: TestClock | MachineClock = new TestClock('2026-11-20T10:00:30.000Z'),
) {
  const place = await placeFor(engine, t)
  const tokens = { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER, PUBLIC_URL: 'https://watch.example' }
  const api = await startTestService(t, clock, { ...tokens, ...place })
  const { store } = api.service
  const asAdmin = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await api.call(method, path, body, bearer(ADMIN))
    assert.ok(answer.status < 300, answer.text)
    return (answer.text === '' ? undefined : JSON.parse(answer.text)) as T
  }
  const client = await asAdmin<{ id: string }>('POST', '/api/clients', { name: 'Acme' })
  const site = await asAdmin<{ id: string }>('POST', '/api/sites', {
    client_id: client.id,
    name: 'shop',
    url: 'https://shop.example',
    timezone: 'UTC',
  })
  const { id } = await asAdmin<ProbeRecord>('POST', '/api/probes', {
    site_id: site.id,
    probe_type: 'push',
    name: 'Backup',
    // By itself it runs when a call asks for it: the tests ask for all else.
    interval_seconds: 3_600,
    config: { period_minutes: 30, grace_minutes: 10 },
  })
  await store.write
    .updateTable('probes')
    .set({ next_run_at: clock.now() + 12 * HOUR })
    .where('id', '=', id)
    .execute()
  const read = () => asAdmin<PushRecord>('GET', `/api/probes/${id}/push`)
  const address = async () => `/push/${(await read()).token}`
  const run = () =>
    until('a run of the probe', async () => {
      const answer = await api.call('POST', `/api/probes/${id}/run`, undefined, bearer(ADMIN))
      return answer.status === 200 ? answer.json<ResultRecord>() : undefined
    })
  const stands = (status: string, reason: string | null = null) =>
    until(`a probe that is ${status}`, async () => {
      const probe = await asAdmin<ProbeRecord>('GET', `/api/probes/${id}`)
      return probe.last_status === status && probe.reason === reason ? probe : undefined
    })
  const openAlerts = () =>
    store.read.selectFrom('alerts').select(['severity', 'message']).where('state', '!=', 'resolved').execute()
  const results = () => store.read.selectFrom('probe_results').select('id').where('probe_id', '=', id).execute()
  const rows = () => store.read.selectFrom('pushes').selectAll().execute()
  return { place, clock, api, store, asAdmin, client, site, id, read, address, run, stands, openAlerts, results, rows }
}

const said = ({ status, reason, message }: ResultRecord) =>
  `${status}${reason === null ? '' : ` ${reason}`}: ${message}`

testPerEngine(
  'a job is waited for, late, missed and back',
  async (engine, t) => {
    const { clock, api, address, run, stands, openAlerts, read } = await start(t, engine)
    assert.match(said(await run()), /^ok no_data: Waiting for its first call; missed from 20 Nov, 10:40 on$/)
    const called = await api.call('GET', await address())
    assert.deepEqual([called.status, called.json()], [200, { status: 'ok' }])
    await stands('ok')
    clock.advance(35 * MINUTE)
    assert.match(said(await run()), /^ok: Late, due by 20 Nov, 10:30, missed from 20 Nov, 10:40 on\./)
    assert.deepEqual(await openAlerts(), [])
    clock.advance(6 * MINUTE)
    assert.match(said(await run()), /^critical: No call since 20 Nov, 10:00: one was due by/)
    const [alert] = await openAlerts()
    assert.match(alert?.message ?? '', /No call since/)
    // What comes at last has the probe run, which resolves it.
    assert.equal((await api.call('POST', `${await address()}?message=7+GB`)).status, 200)
    assert.match((await stands('ok')).last_message ?? '', /“7 GB”$/)
    await until('no open alert', async () => ((await openAlerts()).length === 0 ? true : undefined))
    const { last_call_at, last_status, last_message } = await read()
    assert.deepEqual([last_call_at, last_status, last_message], [new Date(clock.now()).toISOString(), 'ok', '7 GB'])
  },
  logicEngines,
)

testPerEngine(
  'a call that says it failed opens the alert at once, and the next that went well resolves it',
  async (engine, t) => {
    const { clock, api, address, stands, openAlerts } = await start(t, engine)
    await api.call('HEAD', await address())
    await stands('ok')
    clock.advance(6 * SECOND)
    assert.equal(
      (await api.call('POST', `${await address()}/fail`, 'tar: disk full\n', { 'content-type': 'text/plain' })).status,
      200,
    )
    await stands('critical')
    const [alert] = await until('an open alert', async () =>
      (await openAlerts()).length > 0 ? openAlerts() : undefined,
    )
    assert.equal(alert?.severity, 'critical')
    assert.match(alert?.message ?? '', /The job says that it is critical: “tar: disk full”/)
    clock.advance(6 * SECOND)
    await api.call('POST', await address(), { status: 'warning', message: 'half' })
    await stands('warning')
    clock.advance(6 * SECOND)
    await api.call('GET', `${await address()}/0`)
    await stands('ok')
    await until('no open alert', async () => ((await openAlerts()).length === 0 ? true : undefined))
  },
)

testPerEngine('a flood of calls leaves one row, few results and the newest that was taken', async (engine, t) => {
  const { clock, api, address, results, rows, run } = await start(t, engine)
  const path = await address()
  const answers: Answer[] = []
  for (let round = 0; round < 10; round++) {
    answers.push(
      ...(await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          api.call('GET', `${path}?status=${n % 2 ? 'ok' : 'critical'}&message=${round}-${n}`),
        ),
      )),
    )
    clock.advance(100)
  }
  const statuses = new Map<number, number>()
  for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  assert.deepEqual([...statuses.keys()].sort(), [200, 429])
  assert.ok((statuses.get(200) ?? 0) <= 11, JSON.stringify([...statuses]))
  assert.equal(answers.find(({ status }) => status === 429)?.headers.get('retry-after'), '1')
  assert.equal((await rows()).length, 1)
  // The same again costs nothing, and is refused to no one.
  clock.advance(2 * SECOND)
  for (let n = 0; n < 30; n++) assert.equal((await api.call('GET', `${path}?message=same`)).status, 200)
  // The first that is asked for may join one that began before.
  await until('a run that saw it', async () => (/^ok: .*“same”$/.test(said(await run())) ? true : undefined))
  assert.ok((await results()).length <= 5)
})

testPerEngine(
  'who guesses waits, and jobs at the same address do not',
  async (engine, t) => {
    const { clock, api, address } = await start(t, engine)
    const path = await address()
    assert.equal((await api.call('GET', path)).status, 200)
    const guess = async () => (await api.call('GET', `/push/${UNKNOWN}`)).status
    for (let n = 0; n < 30; n++) assert.equal(await guess(), 404)
    assert.equal(await guess(), 429)
    assert.equal((await api.call('GET', `${path}?message=still`)).status, 200)
    clock.advance(MINUTE)
    assert.equal(await guess(), 404)
  },
  logicEngines,
)

testPerEngine(
  'an address that was replaced opens as little as one that never was',
  async (engine, t) => {
    const { api, asAdmin, id, address, read, rows, clock, run } = await start(t, engine)
    const before = await address()
    await api.call('GET', before)
    const renewed = await asAdmin<PushRecord>('POST', `/api/probes/${id}/push/new-address`)
    assert.equal(renewed.url, `https://watch.example/push/${renewed.token}`)
    assert.notEqual(`/push/${renewed.token}`, before)
    const answers = await Promise.all([before, `/push/${UNKNOWN}`].map((path) => api.call('GET', path)))
    assert.deepEqual(answers.map(({ status, text }) => [status, text])[0], [404, answers[1]?.text])
    assert.equal((await api.call('GET', `/push/${UNKNOWN}/other`)).status, 404)
    assert.equal((await api.call('GET', '/push/short')).status, 404)
    clock.advance(SECOND)
    assert.equal((await api.call('GET', await address())).status, 200)
    assert.equal((await read()).last_status, 'ok')
    assert.equal((await rows()).length, 1)
    assert.match(said(await run()), /^ok: /)
    const audit = await api.call('GET', '/api/audit', undefined, bearer(ADMIN))
    assert.match(audit.text, /"action":"probe.new_address"/)
    for (const { token } of [...(await rows()), { token: before.slice(6) }]) {
      assert.ok(!audit.text.includes(token) && !(await api.call('GET', '/metrics')).text.includes(token))
      for (const path of [
        `/api/probes/${id}`,
        `/api/probes/${id}/push`,
        `/api/probes/${id}/results`,
        '/api/audit',
        '/api/settings',
      ]) {
        assert.ok(!(await api.call('GET', path, undefined, bearer(VIEWER))).text.includes(token), path)
      }
    }
    assert.equal((await api.call('POST', `/api/probes/${id}/push/new-address`, undefined, bearer(VIEWER))).status, 403)
  },
  logicEngines,
)

testPerEngine(
  'hostile calls get an answer, and what they say is one short line',
  async (engine, t) => {
    const { clock, api, address, read, run } = await start(t, engine)
    const path = await address()
    const text = { 'content-type': 'text/plain' }
    const messages: [body: string, kept: string][] = [
      ['<script>alert(1)</script>', '<script>alert(1)</script>'],
      ['a\0b\x1b[2Jc\u202ed', 'a\ufffdb [2Jc d'],
      ['\n\t\r ', ''],
      ['@channel *bold* [link](https://evil.example)', '@channel *bold* [link](https://evil.example)'],
    ]
    for (const [body, kept] of messages) {
      clock.advance(SECOND)
      assert.equal((await api.call('POST', path, body, text)).status, 200)
      assert.equal((await read()).last_message, kept)
    }
    clock.advance(SECOND)
    assert.equal((await api.call('POST', path, 'x'.repeat(65_000), text)).status, 200)
    assert.equal((await read()).last_message, `…${'x'.repeat(299)}`)
    const before = await read()
    clock.advance(20 * SECOND)
    for (const [status, at, body, headers] of [
      [413, '', 'x'.repeat(70_000), text],
      [400, '', '{"status":"ok"', {}],
      [400, '?status=fine', undefined, {}],
      [400, '?message=a%00b', undefined, {}],
      [404, '/1000', undefined, {}],
      [404, '/fail/fail', undefined, {}],
    ] as const) {
      const answer = await api.call('POST', path + at, body, headers)
      assert.equal(answer.status, status, `${at} ${answer.text}`)
    }
    // What was refused is no sign of life.
    assert.deepEqual(await read(), before)
    assert.equal((await api.call('PUT', path)).status, 404)
    const deep = `{"status":"ok","message":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
    assert.equal((await api.call('POST', path, deep)).status, 200)
    assert.match(said(await run()), /^ok: The last call came/)
  },
  logicEngines,
)

testPerEngine('a start is no sign of life, and says how long the job took', async (engine, t) => {
  const { clock, api, address, read } = await start(t, engine)
  assert.equal((await api.call('GET', `${await address()}/start`)).status, 200)
  assert.deepEqual([(await read()).last_call_at, typeof (await read()).started_at], [null, 'string'])
  clock.advance(90 * SECOND)
  await api.call('GET', await address())
  const { last_duration_ms, started_at } = await read()
  assert.deepEqual([last_duration_ms, started_at], [90_000, null])
})

testPerEngine('an address goes with its probe and with its site', async (engine, t) => {
  const { api, asAdmin, site, id, address, rows } = await start(t, engine)
  const another = await asAdmin<ProbeRecord>('POST', '/api/probes', { site_id: site.id, probe_type: 'push' })
  const plain = await asAdmin<ProbeRecord>('POST', '/api/probes', { site_id: site.id, probe_type: 'data_freshness' })
  for (const call of ['GET /push', 'POST /push/new-address']) {
    const [method = '', path = ''] = call.split(' ')
    assert.equal((await api.call(method, `/api/probes/${plain.id}${path}`, undefined, bearer(ADMIN))).status, 404)
  }
  const path = await address()
  assert.equal((await rows()).length, 2)
  await asAdmin('DELETE', `/api/probes/${id}`)
  assert.deepEqual(
    (await rows()).map(({ probe_id }) => probe_id),
    [another.id],
  )
  assert.equal((await api.call('GET', path)).status, 404)
  await asAdmin('DELETE', `/api/sites/${site.id}`)
  assert.deepEqual(await rows(), [])
})

testPerEngine('after a pause a job gets its whole time again', async (engine, t) => {
  const { clock, api, asAdmin, id, address, run, stands, openAlerts } = await start(t, engine)
  await api.call('GET', await address())
  await stands('ok')
  await asAdmin('PATCH', `/api/probes/${id}`, { is_active: false })
  clock.advance(50 * HOUR)
  await asAdmin('PATCH', `/api/probes/${id}`, { is_active: true })
  assert.match(
    said(await run()),
    /^ok no_data: Waiting for a call, the last came 20 Nov, 10:00; missed from 22 Nov, 12:40 on$/,
  )
  clock.advance(41 * MINUTE)
  assert.match(said(await run()), /^critical: No call since 20 Nov, 10:00/)
  assert.equal((await openAlerts()).length, 1)
})

test('a shorter interval is no pause: what is due stays due', async (t) => {
  const { clock, api, asAdmin, id, address, run, stands } = await start(t)
  await api.call('GET', await address())
  await stands('ok')
  clock.advance(25 * MINUTE)
  await asAdmin('PATCH', `/api/probes/${id}`, { interval_seconds: 900 })
  assert.match(said(await run()), /^ok: The last call came 20 Nov, 10:00$/)
  clock.advance(16 * MINUTE)
  assert.match(said(await run()), /^critical: No call since 20 Nov, 10:00/)
})

testPerEngine('a call that was due while the service was down is none that was missed', async (engine, t) => {
  const { clock, api, store, address, run, stands } = await start(t, engine)
  await api.call('GET', await address())
  await stands('ok')
  const due = clock.now() + 30 * MINUTE
  const outage = { began_at: due - MINUTE, ended_at: due + MINUTE }
  await store.write.insertInto('outages').values(outage).execute()
  clock.advance(50 * MINUTE)
  assert.match(said(await run()), /^ok: The last call came .* A call may have come while this service was down$/)
  clock.advance(21 * MINUTE)
  assert.match(said(await run()), /^critical: No call since/)
})

test('a machine that wakes up has slept through no call: the outage is known before a probe runs', async (t) => {
  const { clock, api, address, stands, results, openAlerts } = await start(t, sqlite, new MachineClock(NOW))
  await api.call('GET', await address())
  await stands('ok')
  const before = (await results()).length
  clock.set(NOW + 13 * HOUR)
  await until('the run after the sleep', async () => ((await results()).length > before ? true : undefined))
  assert.deepEqual(await openAlerts(), [])
})

test('a call at a node that only takes events has the probe run by another', async (t) => {
  const { place, clock, address, stands, openAlerts } = await start(t, postgres)
  const other = await startTestService(t, clock, { ...place, ADMIN_TOKEN: ADMIN, ROLE: 'ingest' })
  assert.equal(other.service.worker, null)
  assert.equal((await other.call('POST', `${await address()}/fail`, { message: 'no space' })).status, 200)
  assert.match((await stands('critical')).last_message ?? '', /“no space”/)
  await until('an open alert', async () => ((await openAlerts()).length > 0 ? true : undefined))
  assert.equal((await other.call('GET', `/push/${UNKNOWN}`)).status, 404)
})
