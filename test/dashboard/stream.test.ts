import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { EventStream, KEPT_FOR_ADMINS, STREAMS_MAX, STREAMS_PER_CALLER } from '../../src/dashboard/stream.ts'
import { accessOf, SESSION_MS } from '../../src/http/index.ts'
import { SECOND, systemClock } from '../../src/lib/index.ts'
import { ProbeStates } from '../../src/probes/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { bearer } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { memoryCredentials } from '../../testkit/credentials.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { logicEngines, placeFor, testLogic, testOnEveryEngine, testPerEngine } from '../../testkit/engines.ts'
import { listen } from '../../testkit/listeners.ts'
import { insertProbe } from '../../testkit/probes.ts'
import { startTestService } from '../../testkit/service.ts'
import { insertSite } from '../../testkit/sites.ts'
import { until } from '../../testkit/until.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')

/** One listener's end of a stream. */
interface Listener {
  response: IncomingMessage
  /** All that has come so far. */
  text: () => string
  /** Resolves with all that came, when the server has ended the stream. */
  ended: Promise<string>
  /** Goes away as a closed browser tab does. */
  leave: () => void
}

async function listenTo(t: TestContext, url: string, headers: Record<string, string> = {}): Promise<Listener> {
  const request = get(url, { agent: false, headers })
  t.after(() => request.destroy())
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  response.on('error', () => undefined) // of the connection that `leave` cuts
  const ended = new Promise<string>((resolve) => response.on('end', () => resolve(text)))
  return { response, text: () => text, ended, leave: () => request.destroy() }
}

/** The data of the events of one name, in order. */
const eventsIn = (text: string, name: string): unknown[] =>
  text
    .split('\n\n')
    .map((message) => /^event: (.+)\ndata: (.+)$/.exec(message))
    .flatMap((match) => (match?.[1] === name && match[2] !== undefined ? [JSON.parse(match[2])] : []))

/** An event stream alone behind a server, looking at the store when the test says so. */
async function serve(t: TestContext, store: Store) {
  const clock = new TestClock(NOW)
  const errors: Error[] = []
  const stream = new EventStream({
    store,
    probes: new ProbeStates(store),
    clock,
    credentials: memoryCredentials(clock),
    onError: (error) => errors.push(error),
  })
  let last: ServerResponse | undefined
  const server = createServer((_request, response) => {
    last = response
    stream.add(response, { caller: 'caller', access: accessOf('admin') })
  })
  const port = await listen(server)
  t.after(async () => {
    await stream.stop()
    server.closeAllConnections()
    server.close()
  })
  const lastGone = async () => {
    if (last !== undefined && !last.closed) await once(last, 'close')
  }
  return {
    clock,
    errors,
    stream,
    lastGone,
    listen: async () => {
      const listener = await listenTo(t, `http://127.0.0.1:${port}/`)
      // The look that begins with the first listener is over: what the test does next is seen by the next one.
      await stream.tick()
      return listener
    },
  }
}

/** Puts a site into the state in which a fold leaves it. */
async function receive(store: Store, { site_no }: SiteRow, at: number): Promise<void> {
  await store.write
    .insertInto('site_containers')
    .values({ site_no, container_id: 'GTM-A', last_seen_at: at })
    .onConflict((conflict) => conflict.columns(['site_no', 'container_id']).doUpdateSet({ last_seen_at: at }))
    .execute()
}

testPerEngine(
  'an accepted event reaches a listening dashboard, and closing the service ends its stream',
  async (engine, t) => {
    const api = await startTestService(t, systemClock, await placeFor(engine, t))
    const site = await api.newSite(await api.newClient())
    const listener = await listenTo(t, `${api.url}/api/stream`)
    assert.equal(listener.response.statusCode, 200)
    assert.equal(listener.response.headers['content-type'], 'text/event-stream')
    assert.equal(listener.response.headers['cache-control'], 'no-store')
    const before = Date.now()
    assert.equal((await api.ingest(site, eventPayload({ timestamp_ms: before }))).status, 200)
    const [message] = await until('an ingest message', () => {
      const messages = eventsIn(listener.text(), 'ingest')
      return messages.length > 0 ? messages : undefined
    })
    const [published] = (message as { sites: { id: string; last_event_at: string; events_5m: number }[] }).sites
    assert.deepEqual([published?.id, published?.events_5m], [site.id, 1])
    assert.ok(Date.parse(published?.last_event_at ?? '') >= before)

    await api.service.stop()
    assert.match(await listener.ended, /^retry: \d+\n\n/)
  },
  logicEngines,
)

test('the stream is described as what it is, and is there for GET alone', async (t) => {
  const api = await startTestService(t, new TestClock(NOW))
  const { paths } = (await api.call('GET', '/api/openapi.json')).json<{
    paths: Record<string, { get: { responses: Record<string, { content: object }> } }>
  }>()
  assert.deepEqual(Object.keys(paths['/api/stream']?.get.responses['200']?.content ?? {}), ['text/event-stream'])
  assert.equal((await api.call('HEAD', '/api/stream')).status, 404)
})

const ADMIN_TOKEN = 'admin-token-0123456789'
const VIEWER_TOKEN = 'viewer-token-0123456789'
/** Callers behind a proxy of ours, as many as there are numbers. */
const from = (number: number, token = ADMIN_TOKEN) => ({
  'x-forwarded-for': `10.1.${number >> 8}.${number & 255}`,
  authorization: `Bearer ${token}`,
})

test('more streams than the maximum are refused, the last ones to viewers, and one that ends makes room', async (t) => {
  const api = await startTestService(t, new TestClock(NOW), { ADMIN_TOKEN, VIEWER_TOKEN, TRUST_PROXY: '127.0.0.1' })
  const open = (number: number, token?: string) => listenTo(t, `${api.url}/api/stream`, from(number, token))
  const forViewers = STREAMS_MAX - KEPT_FOR_ADMINS
  const viewers = await Promise.all(Array.from({ length: forViewers }, (_, n) => open(n >> 2, VIEWER_TOKEN)))
  assert.ok(viewers.every(({ response }) => response.statusCode === 200))
  assert.equal((await open(900, VIEWER_TOKEN)).response.statusCode, 503)
  const admins = await Promise.all(Array.from({ length: KEPT_FOR_ADMINS }, (_, n) => open(1_000 + n)))
  assert.ok(admins.every(({ response }) => response.statusCode === 200))
  const refused = await api.call('GET', '/api/stream', undefined, from(2_000))
  assert.equal(refused.status, 503)
  assert.equal(refused.json<{ error: string }>().error, 'unavailable')
  viewers[0]?.leave()
  await until('room for another', async () => {
    const { response, leave } = await open(2_000)
    if (response.statusCode === 200) return true
    leave()
    return undefined
  })
})

testPerEngine(
  'a stream ends with the session it was opened with, and no other does',
  async (engine, t) => {
    const clock = new TestClock(NOW)
    const settings = { ADMIN_TOKEN, VIEWER_TOKEN, ...(await placeFor(engine, t)) }
    const api = await startTestService(t, clock, settings)
    const signIn = async (token: string) => {
      const { status, headers } = await api.call('POST', '/api/session', { token })
      assert.equal(status, 200)
      return { cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: api.url }
    }
    const open = async (headers: Record<string, string>) => {
      const listener = await listenTo(t, `${api.url}/api/stream`, headers)
      assert.equal(listener.response.statusCode, 200)
      return listener
    }
    const [leaving, staying] = [await signIn(ADMIN_TOKEN), await signIn(ADMIN_TOKEN)]
    const [first, second, other, program] = [
      await open(leaving),
      await open(leaving),
      await open(staying),
      await open(bearer(VIEWER_TOKEN)),
    ]
    const isOver = ({ response }: Listener) => response.readableEnded
    assert.equal((await api.call('DELETE', '/api/session', undefined, leaving)).status, 204)
    await until('the end of its streams', () => (isOver(first) && isOver(second)) || undefined, 10_000)
    assert.deepEqual([isOver(other), isOver(program)], [false, false])
    clock.advance(SESSION_MS.admin)
    await until('the end of the session that is too old', () => isOver(other) || undefined, 10_000)
    assert.equal(isOver(program), false)
    assert.equal((await listenTo(t, `${api.url}/api/stream`, staying)).response.statusCode, 401)
  },
  logicEngines,
)

test('one address has twenty streams, and others are not kept out by it', async (t) => {
  const api = await startTestService(t, new TestClock(NOW), { ADMIN_TOKEN, VIEWER_TOKEN, TRUST_PROXY: '127.0.0.1' })
  const open = (number: number) => listenTo(t, `${api.url}/api/stream`, from(number, VIEWER_TOKEN))
  const streams = await Promise.all(Array.from({ length: STREAMS_PER_CALLER }, () => open(1)))
  assert.ok(streams.every(({ response }) => response.statusCode === 200))
  const refused = await api.call('GET', '/api/stream', undefined, from(1, VIEWER_TOKEN))
  assert.equal(refused.status, 429)
  assert.match(refused.text, /20 event streams of this address are open/)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.equal((await open(2)).response.statusCode, 200)
})

testLogic('someone who left while the key was looked up keeps no place among the streams', async (store, t) => {
  const { stream, errors } = await serve(t, store)
  const access = accessOf('admin')
  const added = Promise.withResolvers<void>()
  let left = STREAMS_PER_CALLER
  const server = createServer((_request, response) => {
    response.once('close', () => {
      stream.add(response, { caller: 'caller', access })
      left -= 1
      if (left === 0) added.resolve()
    })
    response.req.socket.destroy()
  })
  const port = await listen(server)
  t.after(() => server.close())
  for (let n = 0; n < STREAMS_PER_CALLER; n++) {
    get(`http://127.0.0.1:${port}/`, { agent: false }).on('error', () => undefined)
  }
  await added.promise
  await stream.tick()
  assert.doesNotThrow(() => stream.admit('caller', true))
  assert.deepEqual(errors, [])
})

testLogic('a message has the sites that received something since the last, and each once', async (store, t) => {
  const { clock, stream, listen: open } = await serve(t, store)
  const [a, b] = [await insertSite(store), await insertSite(store)]
  const [one, other] = [await open(), await open()]
  await receive(store, a, NOW + 1)
  await stream.tick()
  await stream.tick()
  clock.advance(2 * SECOND)
  await receive(store, b, NOW + 1_500)
  await receive(store, a, NOW + 1_700)
  await stream.tick()
  await stream.stop()
  const state = (site: SiteRow, at: number) => ({
    id: site.id,
    last_event_at: new Date(at).toISOString(),
    events_5m: 0,
  })
  const expected = [{ sites: [state(a, NOW + 1)] }, { sites: [state(b, NOW + 1_500), state(a, NOW + 1_700)] }]
  assert.deepEqual(eventsIn(await one.ended, 'ingest'), expected)
  assert.deepEqual(eventsIn(await other.ended, 'ingest'), expected)
})

testLogic('what was accepted before the stream opened and turned up after it is published', async (store, t) => {
  const { stream, listen: open } = await serve(t, store)
  const [late, old] = [await insertSite(store), await insertSite(store)]
  await receive(store, old, NOW - 60 * SECOND)
  const listener = await open()
  // A fold brings to the reports what was answered up to a second ago.
  await receive(store, late, NOW - 500)
  await stream.tick()
  await stream.stop()
  const sites = eventsIn(await listener.ended, 'ingest').flatMap((message) => (message as { sites: SiteRow[] }).sites)
  assert.deepEqual(
    sites.map(({ id }) => id),
    [late.id],
  )
})

testOnEveryEngine('a site that a busy node folds later than others is published all the same', async (store, t) => {
  const { clock, stream, listen: open } = await serve(t, store)
  const [early, late] = [await insertSite(store), await insertSite(store)]
  const listener = await open()
  await stream.tick()
  clock.advance(12 * SECOND)
  await receive(store, early, NOW + 11 * SECOND)
  await stream.tick()
  await receive(store, late, NOW + SECOND)
  await stream.tick()
  await stream.tick()
  await stream.stop()
  const sites = eventsIn(await listener.ended, 'ingest').flatMap((message) => (message as { sites: SiteRow[] }).sites)
  assert.deepEqual(
    sites.map(({ id }) => id),
    [early.id, late.id],
  )
})

testLogic('a probe whose status changes is published once', async (store, t) => {
  const { stream, listen: open } = await serve(t, store)
  const site = await insertSite(store)
  const far = { next_run_at: NOW + 3_600 * SECOND, created_at: NOW }
  const [breaks, fresh] = [
    await insertProbe(store, site.id, { ...far, last_status: 'ok' }),
    await insertProbe(store, site.id, far),
  ]
  await insertProbe(store, site.id, { ...far, last_status: 'critical' })
  const set = (id: string, last_status: string) =>
    store.write.updateTable('probes').set({ last_status }).where('id', '=', id).execute()
  const listener = await open()
  await stream.tick()
  await set(breaks.id, 'critical')
  await set(fresh.id, 'ok')
  await stream.tick()
  await stream.tick()
  await set(breaks.id, 'ok')
  await stream.tick()
  await stream.stop()
  const change = ({ id }: { id: string }, status: string) => ({ id, site_id: site.id, status })
  assert.deepEqual(eventsIn(await listener.ended, 'status'), [
    { probes: [change(breaks, 'critical'), change(fresh, 'ok')] },
    { probes: [change(breaks, 'ok')] },
  ])
})

testOnEveryEngine('a stream without news says at once, and every 25 seconds, that it is alive', async (store, t) => {
  const { clock, stream, listen: open } = await serve(t, store)
  const listener = await open()
  await stream.tick()
  await stream.tick()
  clock.advance(25 * SECOND)
  await stream.tick()
  await stream.tick()
  await stream.stop()
  const alive = 'event: alive\ndata: {}\n\n'
  assert.equal(await listener.ended, `retry: 2000\n\n${alive}${alive}`)
  assert.throws(() => stream.admit('caller', false), { code: 'unavailable' })
})

testOnEveryEngine(
  'a later listener learns at once that the stream is alive, and the others get no extra message',
  async (store, t) => {
    const { stream, listen: open } = await serve(t, store)
    const first = await open()
    await stream.tick()
    const second = await open()
    await stream.tick()
    await stream.stop()
    assert.equal(eventsIn(await first.ended, 'alive').length, 1)
    assert.equal(eventsIn(await second.ended, 'alive').length, 1)
  },
)

testLogic('a stream of a store that cannot be read is not said to be alive', async (store, t) => {
  const { stream, listen: open } = await serve(t, store)
  await store.close()
  const listener = await open()
  await stream.tick()
  await stream.stop()
  assert.equal(await listener.ended, 'retry: 2000\n\n')
})

testLogic('without a listener the store is left alone', async (store, t) => {
  const { errors, stream, lastGone, listen: open } = await serve(t, store)
  // A closed store makes every look at it an error.
  await store.close()
  await stream.tick()
  assert.equal(errors.length, 0)
  const listener = await open()
  await stream.tick()
  listener.leave()
  await lastGone()
  const looks = errors.length
  assert.ok(looks > 0)
  await stream.tick()
  assert.equal(errors.length, looks)
})

testOnEveryEngine(
  'alerts that open, change or resolve are published; what was there before is not',
  async (store, t) => {
    const { stream, listen: open, clock } = await serve(t, store)
    const site = await insertSite(store)
    await insertAlert(store, site, clock.now() - SECOND, { title: 'old' })
    const listener = await open()
    await stream.tick()
    const alert = await insertAlert(store, site, clock.now(), { severity: 'warning' })
    const published = () =>
      eventsIn(listener.text(), 'alerts').flatMap((message) =>
        (message as { alerts: { id: string; severity: string; state: string }[] }).alerts.map(
          ({ id, severity, state }) => {
            assert.equal(id, alert.id)
            return [severity, state]
          },
        ),
      )
    const steps = [{}, { severity: 'critical' }, { state: 'acknowledged' }, { occurrences: 9 }, { state: 'resolved' }]
    for (const change of steps) {
      if (Object.keys(change).length > 0) {
        await store.write.updateTable('alerts').set(change).where('id', '=', alert.id).execute()
      }
      await stream.tick()
    }
    const expected = [
      ['warning', 'open'],
      ['critical', 'open'],
      ['critical', 'acknowledged'],
      ['critical', 'resolved'],
    ]
    await until('the last message', () => (published().length >= expected.length ? true : undefined))
    assert.deepEqual(published(), expected)
  },
)
