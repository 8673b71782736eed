import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { failureOf as explained } from '../../src/outbound/error.ts'
import { isOurs, type OutboundErrorKind, type OutboundPhase, type OutboundRequest } from '../../src/outbound/index.ts'
import { freePort } from '../../testkit/listeners.ts'
import { failureOf, httpServer, tcpServer, testOutbound } from './support.ts'

/** Never settles. */
const silence = <T>(): Promise<T> => new Promise(() => {})

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'

/** How a server can let its callers wait; each is a URL that waits in the phase. */
const WAITS: Readonly<Record<'tls' | 'first_byte' | 'body', (t: TestContext) => Promise<string>>> = {
  tls: async (t) => `https://here.example:${(await tcpServer(t, () => {})).port}/?key=s3cret`,
  first_byte: async (t) => `http://here.example:${(await tcpServer(t, () => {})).port}/?key=s3cret`,
  body: async (t) => {
    const server = await tcpServer(t, (socket) => socket.once('data', () => socket.write(`${HEAD}some`)))
    return `http://here.example:${server.port}/?key=s3cret`
  },
}

const LIMITS: readonly [phase: keyof typeof WAITS, limits: OutboundRequest['limits'], message: string][] = [
  ['tls', { tlsMs: 50 }, 'agreeing on encryption with here.example took longer than 50 ms'],
  ['tls', { totalMs: 500 }, 'agreeing on encryption with here.example took longer than 500 ms in all'],
  ['first_byte', { firstByteMs: 50 }, 'waiting for the answer of here.example took longer than 50 ms'],
  ['first_byte', { totalMs: 500 }, 'waiting for the answer of here.example took longer than 500 ms in all'],
  ['first_byte', { firstByteMs: 1_000 }, 'waiting for the answer of here.example took longer than 1 s'],
  ['body', { totalMs: 500 }, 'reading the answer of here.example took longer than 500 ms in all'],
]
for (const [phase, limits, message] of LIMITS) {
  test(`time is up in phase ${phase} with ${JSON.stringify(limits)}`, async (t) => {
    const failure = await failureOf(testOutbound().request(await WAITS[phase](t), { limits: limits ?? {} }))
    assert.deepEqual([failure.kind, failure.phase, failure.message], ['timeout', phase, message])
  })
}

for (const limits of [{ dnsMs: 20 }, { totalMs: 20 }]) {
  test(`time is up while a name is looked up, with ${JSON.stringify(limits)}`, async () => {
    const failure = await failureOf(testOutbound('', {}, silence).request('http://slow.example/', { limits }))
    assert.deepEqual([failure.kind, failure.phase], ['timeout', 'dns'])
    assert.match(failure.message, /^looking up the name of slow\.example took longer than 20 ms/)
  })
}

test('time is up while connecting', async (t) => {
  const port = await unansweredPort(t)
  const failure = await failureOf(testOutbound().request(`http://here.example:${port}/`, { limits: { connectMs: 50 } }))
  assert.deepEqual([failure.kind, failure.phase], ['timeout', 'connect'])
  assert.equal(failure.message, 'connecting to here.example took longer than 50 ms')
})

/** A port whose queue of connections to be accepted is full, so that the next are not answered at all. */
async function unansweredPort(t: TestContext): Promise<number> {
  const worker = new Worker(SLEEPING_SERVER, { eval: true })
  const [port] = (await once(worker, 'message')) as [number]
  const queue = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  t.after(async () => {
    for (const socket of queue) socket.destroy()
    await worker.terminate()
  })
  await Promise.any(queue.map((socket) => once(socket, 'connect')))
  return port
}

const SLEEPING_SERVER = `
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:worker_threads').parentPort.postMessage(server.address().port)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`

test('a redirect does not restart the total time', async (t) => {
  const { port } = await httpServer(t, (request, response) => {
    if (request.url === '/') response.writeHead(302, { location: '/never' }).end()
  })
  const request = { maxRedirects: 1, limits: { totalMs: 500 } }
  const failure = await failureOf(testOutbound().request(`http://here.example:${port}/`, request))
  assert.deepEqual([failure.kind, failure.phase], ['timeout', 'first_byte'])
})

for (const phase of ['tls', 'first_byte', 'body'] as const) {
  test(`the caller can abort it in phase ${phase}`, async (t) => {
    const controller = new AbortController()
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const { port } = await tcpServer(t, (socket) => {
      socket.on('close', () => resolve())
      socket.once('data', () => {
        if (phase === 'body') socket.write(`${HEAD}some`)
        setImmediate(() => controller.abort())
      })
    })
    const url = `${phase === 'tls' ? 'https' : 'http'}://here.example:${port}/`
    const failure = await failureOf(testOutbound().request(url, { signal: controller.signal }))
    assert.deepEqual([failure.kind, failure.message], ['aborted', 'the request was called off'])
    await closed
  })
}

test('a request that was aborted before it began sends nothing', async () => {
  const outbound = testOutbound('', {}, () => assert.fail('was looked up'))
  const failure = await failureOf(outbound.request('http://here.example/', { signal: AbortSignal.abort() }))
  assert.equal(failure.kind, 'aborted')
})

test('a request lets go of the signal it was given', async (t) => {
  const { port } = await httpServer(t, (_request, response) => response.end())
  const { signal } = new AbortController()
  for (let n = 0; n < 3; n++) await testOutbound().request(`http://here.example:${port}/`, { signal })
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

/** What a server that speaks raw TCP does with a request, and how that is reported. */
const TALKS: readonly [what: string, talk: (socket: Socket) => void, kind: OutboundErrorKind, phase: OutboundPhase][] =
  [
    ['hangs up at once', (socket) => socket.destroy(), 'reset', 'first_byte'],
    ['ends what it says at once', (socket) => socket.end(), 'reset', 'first_byte'],
    ['resets when asked', (socket) => socket.once('data', () => socket.resetAndDestroy()), 'reset', 'first_byte'],
    ['ends when asked', (socket) => socket.once('data', () => socket.end()), 'reset', 'first_byte'],
    [
      'ends within the head',
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nA')),
      'reset',
      'first_byte',
    ],
    ['ends within the body', (socket) => socket.once('data', () => socket.end(`${HEAD}some`)), 'reset', 'body'],
    [
      'resets within the body',
      (socket) => socket.once('data', () => socket.write(`${HEAD}some`, () => socket.resetAndDestroy())),
      'reset',
      'body',
    ],
    ['speaks another language', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), 'protocol', 'first_byte'],
    [
      'sends headers without end',
      (socket) => socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(50_000)}`)),
      'protocol',
      'first_byte',
    ],
    [
      'sends a broken chunk',
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')),
      'protocol',
      'body',
    ],
  ]
/** How a server that does not close the connection itself breaks the rules. */
const BROKEN_RULES: readonly [answer: string, message: string][] = [
  [
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok',
    'the answer of here.example contradicts itself about its length',
  ],
  [
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
    'here.example switches to another protocol without being asked',
  ],
  ['HTTP/1.1 100 Continue\r\n\r\n', 'here.example says something that HTTP does not allow at that point'],
]
for (const [answer, message] of BROKEN_RULES) {
  test(`what is wrong with an answer is said as it is: ${message}`, async (t) => {
    const { port } = await tcpServer(t, (socket) => socket.once('data', () => socket.write(answer)))
    const failure = await failureOf(testOutbound().request(`http://here.example:${port}/`))
    assert.deepEqual([failure.kind, failure.phase, failure.message], ['protocol', 'first_byte', message])
  })
}

for (const [what, talk, kind, phase] of TALKS) {
  test(`a server that ${what} fails as ${kind} in phase ${phase}`, async (t) => {
    const { port } = await tcpServer(t, talk)
    const failure = await failureOf(testOutbound().request(`http://here.example:${port}/?key=s3cret`))
    assert.deepEqual([failure.kind, failure.phase], [kind, phase], `${failure.message} ${failure.cause}`)
    assert.doesNotMatch(failure.message, /s3cret/)
  })
}

test('a body without a stated length ends with the connection', async (t) => {
  const { port } = await tcpServer(t, (socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\nall')))
  assert.equal((await testOutbound().request(`http://here.example:${port}/`)).body, 'all')
})

test('a port where nothing listens is reported as such', async () => {
  const port = await freePort()
  const outbound = testOutbound('here.example,both.example', { 'both.example': ['127.0.0.1', '127.0.0.1'] })
  for (const host of ['here.example', 'both.example']) {
    const failure = await failureOf(outbound.request(`http://${host}:${port}/`))
    assert.deepEqual([failure.kind, failure.phase], ['refused', 'connect'])
    assert.equal(failure.message, `nothing listens at ${host}, on this port`)
  }
})

test('the next address is tried where nothing listens at the first', async (t) => {
  const { port } = await httpServer(t, (_request, response) => response.end('reached'))
  const outbound = testOutbound('both.example', { 'both.example': ['127.0.0.2', '127.0.0.1'] })
  assert.equal((await outbound.request(`http://both.example:${port}/`)).body, 'reached')
})

const RESOLVER_ERRORS: readonly [code: string, kind: OutboundErrorKind, message: string][] = [
  ['ENOTFOUND', 'dns', 'there is no gone.example: its name does not resolve'],
  ['EAI_AGAIN', 'lookup', 'the name gone.example could not be looked up'],
  ['ESERVFAIL', 'lookup', 'the name gone.example could not be looked up'],
  ['EMFILE', 'interrupted', 'this server had no resources left to connect to gone.example (EMFILE)'],
  ['ENOBUFS', 'interrupted', 'this server had no resources left to connect to gone.example (ENOBUFS)'],
]
for (const [code, kind, message] of RESOLVER_ERRORS) {
  test(`a resolver that fails with ${code} is reported in plain words`, async () => {
    const lookup = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code }))
    const failure = await failureOf(testOutbound('', {}, lookup).request('http://gone.example/'))
    assert.deepEqual([failure.kind, failure.phase, failure.message], [kind, 'dns', message])
  })
}

const withCode = (code: string, address = '192.0.2.1') => Object.assign(new Error(code), { code, address })

const LOCAL_ERRORS: readonly [what: string, error: Error, kind: OutboundErrorKind][] = [
  ['a network that is down here', withCode('ENETDOWN'), 'no_network'],
  ['a local firewall', withCode('EPERM'), 'no_network'],
  ['a sandbox', withCode('EACCES'), 'no_network'],
  ['a firewall that may be at the other end', withCode('EACCES', '2606:4700::1'), 'unreachable'],
  [
    'a refusal after an address family that this machine does not have',
    new AggregateError([withCode('EADDRNOTAVAIL', '2606:4700::1'), withCode('ECONNREFUSED')]),
    'refused',
  ],
  [
    'a local firewall after a family without a route',
    new AggregateError([withCode('ENETUNREACH', '2606:4700::1'), withCode('EPERM')]),
    'no_network',
  ],
  ['no route to any address', new AggregateError([withCode('ENETUNREACH'), withCode('ENETUNREACH')]), 'unreachable'],
]
for (const [what, error, kind] of LOCAL_ERRORS) {
  test(`${what} is ${kind === 'no_network' ? 'the fault of this machine' : 'not taken for a fault of this machine'}`, () => {
    const failure = explained(error, 'connect', 'shop.example')
    assert.deepEqual([failure.kind, isOurs(failure)], [kind, kind === 'no_network'])
  })
}
