import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { healthRoutes } from '../../src/operations/index.ts'
import type { Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'
import { openApp } from '../http/support.ts'

const open = (
  t: TestContext,
  store: Store,
  trouble: { writing?: string; clock?: string; connection?: string; keys?: string; isStopping?: boolean } = {},
) =>
  openApp(t, (app) =>
    healthRoutes(app, {
      store,
      writeTrouble: () => trouble.writing ?? null,
      clockDoubt: () => trouble.clock ?? null,
      connectionDoubt: () => trouble.connection ?? null,
      keysDoubt: () => trouble.keys ?? null,
      isStopping: () => trouble.isStopping ?? false,
    }),
  )

testLogic('a service that can do its work is ready', async (store, t) => {
  const app = await open(t, store)
  const ready = await app.inject('/ready')
  assert.deepEqual([ready.statusCode, ready.json()], [200, { status: 'ok', reasons: [], degraded: [] }])
  assert.deepEqual((await app.inject('/health')).json(), { status: 'ok' })
})

testOnEveryEngine('a clock in doubt is said, and the service stays ready', async (store, t) => {
  const ready = await (await open(t, store, { clock: 'the clock was set' })).inject('/ready')
  assert.deepEqual(
    [ready.statusCode, ready.json()],
    [200, { status: 'degraded', reasons: [], degraded: ['the clock was set'] }],
  )
})

testLogic('a connection that is away is said, and the service stays ready', async (store, t) => {
  const ready = await (await open(t, store, { connection: 'no connection' })).inject('/ready')
  assert.deepEqual(
    [ready.statusCode, ready.json()],
    [200, { status: 'degraded', reasons: [], degraded: ['no connection'] }],
  )
})

testLogic('changes of keys that cannot be read are said, and the service stays ready', async (store, t) => {
  const ready = await (await open(t, store, { keys: 'keys cannot be read' })).inject('/ready')
  assert.deepEqual(
    [ready.statusCode, ready.json()],
    [200, { status: 'degraded', reasons: [], degraded: ['keys cannot be read'] }],
  )
})

testLogic('every reason not to be ready is given, and the process is alive all the same', async (store, t) => {
  const app = await open(t, store, { writing: 'disk full', isStopping: true })
  await store.close()
  const ready = await app.inject('/ready')
  assert.equal(ready.statusCode, 503)
  const { status, reasons } = ready.json<{ status: string; reasons: string[] }>()
  assert.equal(status, 'unavailable')
  assert.deepEqual(reasons.slice(0, 2), ['the service is stopping', 'the store does not accept writes: disk full'])
  assert.match(reasons[2] ?? '', /^the store cannot be read: ./)
  assert.equal(reasons.length, 3)
  assert.equal((await app.inject('/health')).statusCode, 200)
})

test('a stopping service says so to every caller', async (t) => {
  const { service, url } = await startTestService(t, new TestClock('2026-11-20T10:00:00Z'))
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.after(() => socket.destroy())
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString()
  })
  // A request that has begun is answered; its last line comes when the service is stopping already.
  socket.write('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\n')
  await until('the first answer', () => (answer.includes('{"status":"ok"}') ? true : undefined))
  const stopped = service.stop()
  socket.write('\r\n')
  await once(socket, 'close')
  await stopped
  assert.match(answer, /HTTP\/1\.1 503 .*\r\nconnection: close\r\n.*"reasons":\["the service is stopping"\]/is)
})

test('neither needs a key', async (t) => {
  const api = await startTestService(t, new TestClock('2026-11-20T10:00:00Z'), {
    ADMIN_TOKEN: 'admin-token-0123456789',
  })
  assert.equal((await api.call('GET', '/api/clients')).status, 401)
  assert.equal((await api.call('GET', '/health')).status, 200)
  assert.equal((await api.call('GET', '/ready')).status, 200)
})
