import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DAY } from '../../src/lib/index.ts'
import type { SiteKey } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { placeFor, tempDir, testPerEngine } from '../../testkit/engines.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
const event = () => eventPayload({ timestamp_ms: NOW })
const padded = (size: number) => {
  const text = JSON.stringify({ ...event(), pad: '' })
  return JSON.stringify({ ...event(), pad: 'x'.repeat(size - text.length) })
}

async function start(t: TestContext, environment: Record<string, string> = {}) {
  const clock = new TestClock(NOW)
  const api = await startTestService(t, clock, environment)
  const client = await api.newClient()
  return { clock, api, client, site: await api.newSite(client) }
}

interface Recent {
  accepted: Record<string, unknown>[]
  rejections: { reason: string; path: string }[]
}

async function recentOf(api: TestService, site: SiteKey): Promise<Recent> {
  await api.service.ingest.flush()
  return (await api.call('GET', `/api/monitoring/sites/${site.id}/recent`)).json<Recent>()
}

async function totalOf(api: TestService, site: SiteKey): Promise<number> {
  await api.service.ingest.flush()
  const answer = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=48`)
  return answer.json<{ total_events: number }>().total_events
}

/** Sends bytes as they are and resolves with everything that came back until the server closed. */
async function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString()
  })
  socket.write(bytes)
  await once(socket, 'close')
  return answer
}

testPerEngine(
  'the key is judged before state, size and body, and the first failing check answers',
  async (engine, t) => {
    const { api, site, client } = await start(t, await placeFor(engine, t))
    const big = padded(1_048_577)
    assert.equal((await api.call('POST', '/ingest', '{')).status, 401)
    assert.equal((await api.call('POST', '/ingest', big, { 'x-service-key': 'no' })).status, 401)
    assert.equal((await api.ingest(site, big)).status, 413)
    assert.equal((await api.ingest(site, '{')).status, 400)
    await api.call('PATCH', `/api/sites/${site.id}`, { is_active: false })
    assert.equal((await api.ingest(site, big)).status, 403)
    await api.call('PATCH', `/api/sites/${site.id}`, { is_active: true })
    await api.call('PATCH', `/api/clients/${client.id}`, { requests_per_second: 1 })
    assert.equal((await api.ingest(site, event())).status, 200)
    assert.equal((await api.ingest(site, big)).status, 429)
  },
)

test('a body of exactly 1 MB is read, one byte more is not, announced or not', async (t) => {
  const { api, site } = await start(t)
  assert.equal((await api.ingest(site, padded(1_048_576))).status, 200)
  assert.equal((await api.ingest(site, padded(1_048_577))).status, 413)
  const chunk = 'x'.repeat(65_536)
  const head = ['POST /ingest HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked', `X-Service-Key: ${site.ingest_key}`]
  const chunks = `${(65_536).toString(16)}\r\n${chunk}\r\n`.repeat(17)
  const answer = await raw(api.url, `${head.join('\r\n')}\r\n\r\n${chunks}0\r\n\r\n`)
  assert.match(answer, /^HTTP\/1\.1 413 .*"error":"payload_too_large"/s)
  const { rejections } = await recentOf(api, site)
  assert.deepEqual(
    rejections.map(({ reason }) => reason),
    ['payload_too_large', 'payload_too_large'],
  )
})

test('a refused key is answered before its large body has arrived', async (t) => {
  const { api } = await start(t)
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  t.after(() => socket.destroy())
  socket.write('POST /ingest HTTP/1.1\r\nHost: x\r\nX-Service-Key: no\r\nContent-Length: 1000000\r\n\r\n{')
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  assert.match(chunk.toString(), /^HTTP\/1\.1 401 .*"error":"unauthorized"/s)
})

test('a connection stays usable after a refusal with a small body', async (t) => {
  const { api, site } = await start(t)
  const body = JSON.stringify(event())
  const request = (key: string, last = '') =>
    `POST /ingest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Service-Key: ${key}\r\n${last}` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  const answer = await raw(api.url, request('no') + request(site.ingest_key, 'Connection: close\r\n'))
  assert.match(answer, /^HTTP\/1\.1 401 .*HTTP\/1\.1 200 .*"status":"ok"/s)
})

test('keys are taken from every configured header, whatever its case', async (t) => {
  const { api, site } = await start(t, { INGEST_KEY_HEADERS: 'X-Service-Key, X-Other-Key' })
  const send = (headers: Record<string, string>) => api.call('POST', '/api/ingest', event(), headers)
  assert.equal((await send({ 'X-OTHER-key': site.ingest_key })).status, 200)
  assert.equal((await send({ 'x-service-key': site.ingest_key })).status, 200)
  assert.equal((await send({ 'x-third-key': site.ingest_key })).status, 401)
})

test('an address with a query string behind it reaches the same code', async (t) => {
  const { api, site } = await start(t)
  const answer = await api.call('POST', '/ingest?source=tag', event(), { 'x-service-key': site.ingest_key })
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json(), { status: 'ok' })
  assert.equal((await api.call('POST', '/ingest?source=tag', event())).status, 401)
})

test('a slash behind the address changes nothing', async (t) => {
  const { api, site } = await start(t)
  const headers = { 'x-service-key': site.ingest_key }
  for (const path of ['/ingest/', '/api/ingest/', '/api/ingest/?source=tag']) {
    assert.equal((await api.call('POST', path, event(), headers)).status, 200)
    assert.deepEqual((await api.call('POST', path, event())).json(), { error: 'unauthorized' })
  }
})

test('only POST is taken', async (t) => {
  const { api, site } = await start(t)
  for (const path of ['/ingest', '/api/ingest', '/api/ingest/', '/ingest?a=b']) {
    for (const method of ['GET', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'HEAD']) {
      const answer = await api.call(method, path, undefined, { 'x-service-key': site.ingest_key })
      assert.equal(answer.status, 405, `${method} ${path}`)
      assert.equal(answer.headers.get('allow'), 'POST')
      assert.equal(answer.text, method === 'HEAD' ? '' : '{"error":"method_not_allowed"}')
    }
  }
})

test('headers over 16 KiB are answered 431 with one field', async (t) => {
  const { api, site } = await start(t)
  const head = `POST /api/ingest HTTP/1.1\r\nHost: x\r\nX-Service-Key: ${site.ingest_key}\r\nX-Pad: ${'x'.repeat(17_000)}`
  const answer = await raw(api.url, `${head}\r\n\r\n`)
  assert.match(answer, /^HTTP\/1\.1 431 /)
  assert.deepEqual(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))), { error: 'invalid_request' })
})

test('a byte order mark is read past, and a compressed body is refused by name', async (t) => {
  const { api, site } = await start(t)
  assert.equal((await api.ingest(site, `\ufeff${JSON.stringify(event())}`)).status, 200)
  assert.equal((await api.ingest(site, event(), { 'content-encoding': 'identity' })).status, 200)
  for (const encoding of ['gzip', 'br', 'deflate, gzip']) {
    const answer = await api.ingest(site, event(), { 'content-encoding': encoding })
    assert.equal(answer.status, 400)
    assert.deepEqual(answer.json(), { error: 'invalid_payload' })
  }
  assert.equal((await recentOf(api, site)).rejections[0]?.path, 'header Content-Encoding')
})

test('payloads over 64 kB are counted and not kept', async (t) => {
  const { api, site } = await start(t)
  assert.equal((await api.ingest(site, padded(65_537))).status, 200)
  assert.equal((await api.ingest(site, padded(65_536))).status, 200)
  assert.equal((await recentOf(api, site)).accepted.length, 1)
  assert.equal(await totalOf(api, site), 2)
})

test('only JSON is taken, and a refusal says which header was wrong', async (t) => {
  const { api, site } = await start(t)
  const send = (type: string) => api.ingest(site, event(), { 'content-type': type })
  assert.equal((await send('application/json; charset=utf-8')).status, 200)
  assert.equal((await send('text/plain')).status, 400)
  assert.equal((await recentOf(api, site)).rejections[0]?.path, 'header Content-Type')
})

testPerEngine(
  'the same idempotency key counts once per site for 24 hours, also within one commit and after a restart',
  async (engine, t) => {
    const environment = await placeFor(engine, t)
    const clock = new TestClock(NOW)
    const first = await startTestService(t, clock, environment)
    const client = await first.newClient({ events_per_month: 4 })
    const [a, b] = [await first.newSite(client), await first.newSite(client)]
    const send = async (api: TestService, site: SiteKey, key: string) =>
      (await api.ingest(site, eventPayload({ timestamp_ms: clock.now() }), { 'idempotency-key': key })).status
    const together = await Promise.all(Array.from({ length: 3 }, () => send(first, a, 'k')))
    assert.deepEqual(new Set(together), new Set([200]))
    assert.equal(await send(first, b, 'k'), 200)
    assert.equal(await totalOf(first, a), 1)
    assert.equal(await totalOf(first, b), 1)
    await first.service.stop(0)

    const second = await startTestService(t, clock, environment)
    assert.equal(await send(second, a, 'k'), 200)
    assert.equal(await totalOf(second, a), 1)
    clock.advance(DAY)
    assert.equal(await send(second, a, 'k'), 200)
    assert.equal(await totalOf(second, a), 2)
    // Duplicates cost nothing: of four events three are used.
    assert.equal(await send(second, a, 'new'), 200)
    assert.equal(await send(second, a, 'one too many'), 429)
  },
)

testPerEngine('an idempotency key of more than 128 characters is refused', async (engine, t) => {
  const { api, site } = await start(t, await placeFor(engine, t))
  assert.equal((await api.ingest(site, event(), { 'idempotency-key': 'k'.repeat(128) })).status, 200)
  assert.equal((await api.ingest(site, event(), { 'idempotency-key': 'k'.repeat(129) })).status, 400)
})

testPerEngine('a refusal by the plan says by which limit', async (engine, t) => {
  const clock = new TestClock(NOW)
  const api = await startTestService(t, clock, await placeFor(engine, t))
  const client = await api.newClient({ events_per_month: 2, requests_per_second: 1 })
  const site = await api.newSite(client)
  assert.equal((await api.ingest(site, event())).status, 200)
  assert.equal((await api.ingest(site, event())).status, 429)
  clock.advance(2_000)
  assert.equal((await api.ingest(site, event())).status, 200)
  clock.advance(2_000)
  assert.equal((await api.ingest(site, event())).status, 429)
  await api.service.ingest.flush()
  const recent = (await api.call('GET', `/api/monitoring/sites/${site.id}/recent`)).json<{
    rejections: { reason: string; path: string }[]
  }>()
  assert.deepEqual(
    recent.rejections.map(({ reason, path }) => `${reason}: ${path}`),
    ['rate_limited: events per month', 'rate_limited: requests per second'],
  )
})

testPerEngine("the month's use survives a restart and is shown", async (engine, t) => {
  const environment = await placeFor(engine, t)
  const clock = new TestClock(NOW)
  const first = await startTestService(t, clock, environment)
  const client = await first.newClient({ events_per_month: 2 })
  const site = await first.newSite(client)
  assert.equal((await first.ingest(site, event())).status, 200)
  await first.service.stop(0)
  const second = await startTestService(t, clock, environment)
  assert.equal((await second.ingest(site, event())).status, 200)
  const refused = await second.ingest(site, event())
  assert.equal(refused.status, 429)
  assert.equal(Number(refused.headers.get('retry-after')), (Date.parse('2026-12-01') - NOW) / 1_000)
  await second.service.ingest.flush()
  const usage = (await second.call('GET', `/api/clients/${client.id}/usage`)).json<{ events: number; level: string }>()
  assert.deepEqual([usage.events, usage.level], [2, 'exceeded'])
})

test('content sent by mistake is in no answer and in no file', async (t) => {
  const dataDir = await tempDir(t)
  const { api, site } = await start(t, { DATA_DIR: dataDir })
  const secret = 'jane.doe@example.com'
  const tags = [{ id: '1', name: 'GA4', status: 'success', note: secret }]
  const sent = { ...event(), tags, secret, user_data: { has_email: true, email: secret } }
  assert.equal((await api.ingest(site, sent)).status, 200)
  assert.equal((await api.ingest(site, { ...event(), user_data: { has_email: secret } })).status, 400)
  const recent = await recentOf(api, site)
  assert.deepEqual(recent.accepted[0]?.user_data, { has_email: true })
  assert.deepEqual(recent.accepted[0]?.tags, [{ id: '1', name: 'GA4', status: 'success' }])
  assert.equal(recent.rejections[0]?.path, '/user_data/has_email')
  await api.service.stop(0)
  for (const file of await readdir(dataDir)) {
    assert.ok(!(await readFile(join(dataDir, file), 'latin1')).includes(secret), file)
  }
})

testPerEngine('the last 50 payloads and the last 50 refusals are kept, newest first', async (engine, t) => {
  const { api, site } = await start(t, await placeFor(engine, t))
  for (let i = 0; i < 120; i++) {
    await api.ingest(site, eventPayload({ timestamp_ms: NOW, event_name: `event ${i}` }))
    await api.ingest(site, { ...event(), tags: [{ id: '1', status: `bad ${i}` }] })
    if (i % 30 === 0) await api.service.ingest.flush()
  }
  const { accepted, rejections } = await recentOf(api, site)
  assert.deepEqual(
    accepted.map((payload) => payload.event_name),
    Array.from({ length: 50 }, (_, i) => `event ${119 - i}`),
  )
  assert.equal(rejections.length, 50)
  assert.equal(rejections[0]?.path, '/tags/0/status')
})

testPerEngine('a site over its daily names says so', async (engine, t) => {
  const { api, site } = await start(t, await placeFor(engine, t))
  const event_counts = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`event ${i}`, 1]))
  const batch = {
    container_id: 'GTM-A',
    batch: true,
    window_start_ms: NOW,
    window_end_ms: NOW,
    total_events: 600,
    event_counts,
  }
  assert.equal((await api.ingest(site, batch)).status, 200)
  assert.equal(await totalOf(api, site), 600)
  const answer = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=1`)
  const { events, warnings } = answer.json<{
    events: { event_name: string; total: number }[]
    warnings: { code: string }[]
  }>()
  assert.equal(events.find(({ event_name }) => event_name === '(other)')?.total, 100)
  assert.equal(warnings.length, 1)
})
