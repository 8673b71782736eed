import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatOutboundAllow } from '../../src/outbound/allow.ts'
import { OutboundThread, parseOutboundAllow } from '../../src/outbound/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { until } from '../../testkit/until.ts'
import { createAuthority, createCertificate } from './certificates.ts'
import { countSockets, failureOf, httpServer, httpsServer, tcpServer } from './support.ts'

function openThread(t: TestContext, allow = '127.0.0.1', clock = new TestClock(Date.now())): OutboundThread {
  const thread = new OutboundThread({ allow: parseOutboundAllow(allow), userAgent: 'Tagwarden/test', clock })
  t.after(() => thread.close())
  return thread
}

test('requests are asked by another thread, and answered as here', async (t) => {
  const { port } = await httpServer(t, async (request, response) => {
    response.end(`${request.headers['user-agent']} ${request.method} ${(await request.toArray()).join('')}`)
  })
  const opened = countSockets(t)
  const thread = openThread(t)
  const asked = ['text', new TextEncoder().encode('bytes')].map((body) =>
    thread.request(`http://127.0.0.1:${port}/`, { method: 'POST', body }),
  )
  const answers = await Promise.all(asked)
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body]),
    [
      [200, 'Tagwarden/test POST text'],
      [200, 'Tagwarden/test POST bytes'],
    ],
  )
  assert.equal(opened(), 0)
  assert.deepEqual(await thread.resolve('127.0.0.1'), { addresses: ['127.0.0.1'], aliases: [], knowsAliases: false })
})

test('an empty body that is said to be compressed is handed over each time it comes', async (t) => {
  const { port } = await httpServer(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end()
  })
  const thread = openThread(t)
  for (let left = 2; left > 0; left--) {
    const { bytes } = await thread.fetchBytes(`http://127.0.0.1:${port}/`)
    assert.equal(bytes.length, 0)
  }
  assert.equal((await thread.request(`http://127.0.0.1:${port}/`)).body, '')
})

test('what must not be reached is refused there, too', async (t) => {
  const { port, connections } = await httpServer(t, (_request, response) => response.end())
  const refused = await failureOf(
    openThread(t, '10.0.0.0/8,fc00::/7,here.example').request(`http://127.0.0.1:${port}/`),
  )
  assert.deepEqual([refused.kind, connections()], ['forbidden_address', 0])
})

test("a failure comes back with its kind, phase and certificate, judged by the caller's clock", async (t) => {
  const now = Math.floor(Date.now() / 1_000) * 1_000
  const certificate = await createCertificate({
    authority: await createAuthority('Stranger'),
    addresses: ['127.0.0.1'],
  })
  const { port } = await httpsServer(t, certificate, (_request, response) => response.end())
  const failure = await failureOf(openThread(t, '127.0.0.1', new TestClock(now)).request(`https://127.0.0.1:${port}/`))
  assert.deepEqual([failure.kind, failure.phase], ['tls', 'tls'])
  assert.match(failure.message, /^127\.0\.0\.1 cannot be trusted: /)
  const { validTo = 0, daysLeft } = failure.certificate ?? {}
  assert.equal(daysLeft, Math.floor((validTo - now) / 86_400_000))
})

test('a request that is called off ends there, and one that was before is not made', async (t) => {
  const server = await tcpServer(t, (socket) => socket.resume())
  const url = `http://127.0.0.1:${server.port}/`
  const thread = openThread(t)
  const caller = new AbortController()
  const asked = failureOf(thread.request(url, { signal: caller.signal }))
  await until('the connection', () => (server.open() === 1 ? true : undefined))
  caller.abort()
  assert.equal((await asked).kind, 'aborted')
  await until('its end', () => (server.open() === 0 ? true : undefined))
  assert.equal((await failureOf(thread.request(url, { signal: caller.signal }))).kind, 'aborted')
  assert.equal(server.connections(), 1)
})

test('closing it ends what is under way, and what comes later is refused', async (t) => {
  const server = await tcpServer(t, (socket) => socket.resume())
  const thread = openThread(t)
  const asked = assert.rejects(thread.request(`http://127.0.0.1:${server.port}/`), /the service stops/)
  await until('the connection', () => (server.open() === 1 ? true : undefined))
  await thread.close()
  await asked
  await until('its end', () => (server.open() === 0 ? true : undefined))
  await assert.rejects(thread.request(`http://127.0.0.1:${server.port}/`), /the service stops/)
})

test('a list of what is allowed is read again as it was', () => {
  for (const text of ['', '10.0.0.0/8,127.0.0.1,::1,::ffff:10.0.0.0/104,2001:db8::/32,status.internal,redis']) {
    const allow = parseOutboundAllow(text)
    assert.deepEqual(parseOutboundAllow(formatOutboundAllow(allow)), allow)
  }
})
