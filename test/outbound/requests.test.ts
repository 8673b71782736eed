import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import { systemClock } from '../../src/lib/index.ts'
import { createOutbound, parseOutboundAllow, retryAfterMs } from '../../src/outbound/index.ts'
import { until } from '../../testkit/until.ts'
import { failureOf, httpServer, testOutbound } from './support.ts'

test('method, path, query, headers and body arrive as given, and the answer as sent', async (t) => {
  let seen: unknown
  let headers: IncomingHttpHeaders = {}
  const { port } = await httpServer(t, async (request, response) => {
    seen = [request.method, request.url, (await request.toArray()).join('')]
    headers = request.headers
    response.writeHead(429, { 'Retry-After': '7', 'X-Several': ['a', 'b'] }).end('{"later":true}')
  })
  const answer = await testOutbound().request(`http://here.example:${port}/hook%2F1?a=b%20c&d#fragment`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Key': 'k' },
    body: '{"text":"ü"}',
  })
  assert.deepEqual(seen, ['POST', '/hook%2F1?a=b%20c&d', '{"text":"ü"}'])
  assert.deepEqual(
    [headers.host, headers['content-type'], headers['content-length'], headers['x-key']],
    [`here.example:${port}`, 'application/json', '13', 'k'],
  )
  assert.deepEqual([headers['user-agent'], headers['accept-encoding']], ['Tagwarden/test', 'gzip, br'])
  assert.deepEqual([answer.status, answer.body], [429, '{"later":true}'])
  assert.deepEqual([answer.headers['retry-after'], answer.headers['x-several']], ['7', 'a, b'])
})

test('bytes are sent as they are, and headers of the request win over the usual ones', async (t) => {
  let digest = ''
  let headers: IncomingHttpHeaders = {}
  const { port } = await httpServer(t, async (request, response) => {
    headers = request.headers
    digest = createHash('sha256')
      .update(Buffer.concat(await request.toArray()))
      .digest('hex')
    response.end()
  })
  const body = Uint8Array.from({ length: 100_000 }, (_, n) => n % 251)
  await testOutbound().request(`http://here.example:${port}/`, {
    method: 'PUT',
    headers: { 'User-Agent': 'Mozilla/5.0', ACCEPT: 'text/html' },
    body,
  })
  assert.equal(digest, createHash('sha256').update(body).digest('hex'))
  assert.deepEqual([headers['user-agent'], headers.accept], ['Mozilla/5.0', 'text/html'])
})

for (const headers of [
  { 'x-a': 'b\r\nx-c: d' },
  { 'x a': 'b' },
  { 'x-a': 'ключ' },
  { 'transfer-encoding': 'chunked' },
]) {
  test(`headers that would change the request are refused: ${JSON.stringify(headers)}`, async (t) => {
    let asked = 0
    const { port } = await httpServer(t, (_request, response) => {
      asked++
      response.end()
    })
    const failure = await failureOf(testOutbound().request(`http://here.example:${port}/`, { headers }))
    assert.equal(failure.kind, 'bad_request')
    assert.equal(asked, 0)
  })
}

test('timings tell what happened, and null for what did not', async (t) => {
  const { port } = await httpServer(t, (_request, response) => response.end('ok'))
  const outbound = testOutbound('127.0.0.0/8,here.example')
  const { timings } = await outbound.request(`http://here.example:${port}/`)
  for (const ms of [timings.dns, timings.connect, timings.firstByte, timings.total]) assert.ok(Number.isInteger(ms))
  assert.equal(timings.tls, null)
  assert.equal((await outbound.request(`http://127.0.0.1:${port}/`)).timings.dns, null)
})

test('hundreds at once are all answered, each over a connection of its own, and nothing of them stays', async (t) => {
  const server = await httpServer(t, (request, response) => response.end(request.url))
  const outbound = testOutbound()
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
  const timersBefore = timers()
  const paths = Array.from({ length: 300 }, (_, n) => `/${n}`)
  const answers = await Promise.all(paths.map((path) => outbound.request(`http://here.example:${server.port}${path}`)))
  assert.deepEqual(
    answers.map((answer) => answer.body),
    paths,
  )
  assert.equal(server.connections(), 300)
  assert.equal(timers(), timersBefore)
  await until('all connections are closed', () => server.open() === 0 || undefined)
})

test('without a resolver of its own it asks the system', async (t) => {
  const server = await httpServer(t, (_request, response) => response.end('reached'))
  const url = `http://localhost:${server.port}/`
  const asked = (allow: string) =>
    createOutbound({ allow: parseOutboundAllow(allow), userAgent: 'test', clock: systemClock }).request(url)
  assert.equal((await failureOf(asked(''))).kind, 'forbidden_address')
  assert.equal(server.connections(), 0)
  assert.equal((await asked('localhost')).body, 'reached')
})

const NOW = Date.parse('2026-11-20T12:00:00Z')
const WAITS: readonly [header: string | undefined, ms: number | null][] = [
  [undefined, null],
  ['', null],
  ['0', 0],
  [' 120 ', 120_000],
  ['-1', null],
  ['1.5', null],
  ['soon', null],
  ['2026', 2_026_000],
  ['2027-01-01', null],
  ['99999999999999', null],
  ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
  ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
  ['Fri Nov 20 12:00:30 2026 GMT', 30_000],
  ['Fri, 20 Nov 2026 12:00:30 +0000', 30_000],
  ['Fri, 20 Nov 2026 11:59:30 GMT', 0],
  ['Fri, 40 Nov 2026 11:59:30 GMT', null],
]
for (const [header, ms] of WAITS) {
  test(`Retry-After ${JSON.stringify(header)} asks to wait ${ms} ms`, () => {
    assert.equal(retryAfterMs(header, NOW), ms)
  })
}

test('Retry-After in the oldest form is in GMT, whatever the time zone here', (t) => {
  const { TZ } = process.env
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
  process.env.TZ = 'America/New_York'
  assert.equal(retryAfterMs('Fri Nov 20 12:00:30 2026', NOW), 30_000)
})
