import assert from 'node:assert/strict'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { before, type TestContext, test } from 'node:test'
import type { OutboundMethod } from '../../src/outbound/index.ts'
import { type Authority, createAuthority, createCertificate, trust } from './certificates.ts'
import { countSockets, failureOf, httpServer, httpsServer, testOutbound } from './support.ts'

let authority: Authority
before(async () => {
  authority = await createAuthority('Redirect Authority')
  trust(authority)
})

interface Asked {
  method: string | undefined
  path: string | undefined
  headers: IncomingHttpHeaders
  body: string
}

/** Keeps what it is asked, and answers every path of `to` with a redirect. */
function redirecting(to: Readonly<Record<string, string>>, status = 302): { asked: Asked[]; answer: RequestListener } {
  const asked: Asked[] = []
  const answer: RequestListener = async (request, response) => {
    const body = (await request.toArray()).join('')
    asked.push({ method: request.method, path: request.url, headers: request.headers, body })
    const location = to[request.url ?? '']
    if (location === undefined) response.end('arrived')
    else response.writeHead(status, { location }).end('moved')
  }
  return { asked, answer }
}

async function redirectingServer(t: TestContext, to: Readonly<Record<string, string>>, status = 302) {
  const { asked, answer } = redirecting(to, status)
  return { asked, ...(await httpServer(t, answer)) }
}

test('a redirect is reported and not followed unless requested', async (t) => {
  const { port, asked } = await redirectingServer(t, { '/a': '../b?c=d' })
  const answer = await testOutbound().request(`http://here.example:${port}/a`)
  assert.equal(answer.status, 302)
  assert.equal(answer.body, 'moved')
  assert.equal(answer.location, `http://here.example:${port}/b?c=d`)
  assert.deepEqual(answer.redirects, [])
  assert.equal(asked.length, 1)
})

test('redirects are followed as far as requested, and each is reported', async (t) => {
  const { port, connections } = await redirectingServer(t, { '/a': '/b', '/b': '/c', '/c': '/d' })
  const at = (path: string) => `http://here.example:${port}${path}`
  const answer = await testOutbound().request(at('/a'), { maxRedirects: 3 })
  assert.deepEqual([answer.status, answer.body, answer.url, answer.location], [200, 'arrived', at('/d'), null])
  assert.deepEqual(
    answer.redirects,
    ['/b', '/c', '/d'].map((path) => ({ status: 302, to: at(path) })),
  )
  assert.equal(connections(), 4)
  const failure = await failureOf(testOutbound().request(at('/a'), { maxRedirects: 2 }))
  assert.equal(failure.kind, 'too_many_redirects')
})

test('a loop of redirects ends', async (t) => {
  const { port, asked } = await redirectingServer(t, { '/a': '/b', '/b': '/a' })
  const failure = await failureOf(testOutbound().request(`http://here.example:${port}/a`, { maxRedirects: 5 }))
  assert.equal(failure.kind, 'too_many_redirects')
  assert.equal(failure.message, 'here.example redirects again, after 5 redirects that were followed')
  assert.equal(asked.length, 6)
})

const HOSTILE = [
  'http://127.0.0.1:PORT/',
  'http://localhost:PORT/',
  'http://2130706433:PORT/',
  'http://0x7f.1:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::ffff:7f00:1]:PORT/',
  'http://[::1]:PORT/',
  'http://0.0.0.0:PORT/',
  '//127.1:PORT/',
  '\\\\127.0.0.1:PORT\\',
  'http://inside.example:PORT/',
  'http://169.254.169.254/latest/meta-data/',
  'http://metadata.google.internal/',
]
for (const location of HOSTILE) {
  test(`a redirect to ${location} is not followed`, async (t) => {
    const canary = await httpServer(t, (_request, response) => response.end('reached'))
    const to = location.replace('PORT', String(canary.port))
    const { port } = await redirectingServer(t, { '/': to })
    const opened = countSockets(t)
    const names = {
      'inside.example': ['127.0.0.1'],
      'metadata.google.internal': ['169.254.169.254'],
      localhost: ['::1'],
    }
    const outbound = testOutbound('here.example', names)
    const failure = await failureOf(outbound.request(`http://here.example:${port}/`, { maxRedirects: 5 }))
    assert.equal(failure.kind, 'forbidden_address', failure.message)
    assert.equal(canary.connections(), 0)
    assert.equal(opened(), 1)
  })
}

for (const location of [
  'ftp://here.example/',
  'file:///etc/passwd',
  'http://a:b@here.example/',
  'http://here.example:25/',
]) {
  test(`a redirect to ${location} is refused`, async (t) => {
    const { port } = await redirectingServer(t, { '/': location })
    const failure = await failureOf(testOutbound().request(`http://here.example:${port}/`, { maxRedirects: 5 }))
    assert.equal(failure.kind, 'bad_url')
  })
}

for (const location of ['http://[', 'https://']) {
  test(`a redirect that leads nowhere is an answer like any other: ${location}`, async (t) => {
    const { port } = await redirectingServer(t, { '/': location })
    const answer = await testOutbound().request(`http://here.example:${port}/`, { maxRedirects: 5 })
    assert.deepEqual([answer.status, answer.body, answer.location], [302, 'moved', null])
  })
}

const SECRET_HEADERS = {
  Authorization: 'Bearer s3cret',
  Cookie: 'a=s3cret',
  'X-Auth-Token': 's3cret',
  Accept: 'text/x',
}
const secretsIn = (asked: Asked | undefined) =>
  Object.keys(asked?.headers ?? {}).filter((name) => asked?.headers[name]?.includes('s3cret'))

test('headers that may be keys stay with the origin they were meant for', async (t) => {
  const other = await redirectingServer(t, { '/back': 'http://here.example:PORT/back' })
  const { port, asked } = await redirectingServer(t, { '/a': '/b', '/b': `http://here.example:${other.port}/c` })
  await testOutbound().request(`http://here.example:${port}/a`, { headers: SECRET_HEADERS, maxRedirects: 5 })
  const all = ['authorization', 'cookie', 'x-auth-token']
  assert.deepEqual(asked.map(secretsIn), [all, all])
  assert.deepEqual(other.asked.map(secretsIn), [[]])
  assert.equal(other.asked[0]?.headers.accept, 'text/x')
  assert.equal(other.asked[0]?.headers['user-agent'], 'Tagwarden/test')
})

test('they do not come back when a second redirect leads to the first origin again', async (t) => {
  const first: Record<string, string> = {}
  const second: Record<string, string> = {}
  const here = await redirectingServer(t, first)
  const other = await redirectingServer(t, second)
  first['/a'] = `http://here.example:${other.port}/b`
  second['/b'] = `http://here.example:${here.port}/c`
  await testOutbound().request(`http://here.example:${here.port}/a`, { headers: SECRET_HEADERS, maxRedirects: 5 })
  assert.deepEqual(
    here.asked.map((asked) => [asked.path, secretsIn(asked).length]),
    [
      ['/a', 3],
      ['/c', 0],
    ],
  )
})

const METHODS: readonly [status: number, method: OutboundMethod, becomes: string][] = [
  [301, 'POST', 'GET'],
  [302, 'POST', 'GET'],
  [303, 'POST', 'GET'],
  [307, 'POST', 'POST'],
  [308, 'POST', 'POST'],
  [302, 'PUT', 'PUT'],
  [303, 'PUT', 'GET'],
  [303, 'HEAD', 'HEAD'],
  [302, 'GET', 'GET'],
]
for (const [status, method, becomes] of METHODS) {
  test(`a ${method} that is answered ${status} goes on as ${becomes}`, async (t) => {
    const { port, asked } = await redirectingServer(t, { '/a': '/b' }, status)
    const hasBody = method === 'POST' || method === 'PUT'
    await testOutbound().request(`http://here.example:${port}/a`, {
      method,
      maxRedirects: 1,
      headers: { 'content-type': 'text/x', 'x-key': 'k' },
      ...(hasBody ? { body: 'sent' } : {}),
    })
    const second = asked[1]
    const keepsBody = hasBody && becomes === method
    assert.deepEqual([second?.method, second?.body], [becomes, keepsBody ? 'sent' : ''])
    assert.equal(second?.headers['x-key'], 'k')
    assert.equal(second?.headers['content-type'], becomes === method ? 'text/x' : undefined)
  })
}

test('what was sent to one origin is not handed to another', async (t) => {
  const other = await redirectingServer(t, {})
  const { port } = await redirectingServer(t, { '/': `http://here.example:${other.port}/` }, 307)
  const request = { method: 'POST', body: 'sent', maxRedirects: 5 } as const
  const failure = await failureOf(testOutbound().request(`http://here.example:${port}/`, request))
  assert.equal(failure.kind, 'redirect_refused')
  assert.equal(other.connections(), 0)
})

test('from https to http is followed only with leave, and to https always', async (t) => {
  const plain: Record<string, string> = {}
  const secured: Record<string, string> = {}
  const http = await redirectingServer(t, plain)
  const https = await httpsServer(t, await createCertificate({ authority }), redirecting(secured).answer)
  plain['/up'] = `https://here.example:${https.port}/`
  secured['/down'] = `http://here.example:${http.port}/`
  const outbound = testOutbound()
  const up = await outbound.request(`http://here.example:${http.port}/up`, { maxRedirects: 1 })
  assert.deepEqual([up.body, up.certificate?.problem], ['arrived', null])
  const down = `https://here.example:${https.port}/down`
  const failure = await failureOf(outbound.request(down, { maxRedirects: 1 }))
  assert.equal(failure.kind, 'redirect_refused')
  assert.equal(failure.message, 'here.example redirects from https to http, which is not followed')
  const allowed = await outbound.request(down, { maxRedirects: 1, allowsDowngrade: true })
  assert.deepEqual([allowed.body, allowed.certificate, allowed.timings.tls], ['arrived', null, null])
})
