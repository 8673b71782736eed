import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { DAY } from '../../src/lib/index.ts'
import { createOutbound, parseOutboundAllow } from '../../src/outbound/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { until } from '../../testkit/until.ts'
import { type Authority, createAuthority, createCertificate, trust, type Wanted } from './certificates.ts'
import { failureOf, httpServer, httpsServer, lookupIn, tcpServer, testOutbound } from './support.ts'

let authority: Authority
let stranger: Authority
before(async () => {
  authority = await createAuthority('Test Authority')
  stranger = await createAuthority('Stranger')
  trust(authority)
})

/** A server with this certificate that also reports whether it received a request. */
async function serve(t: TestContext, wanted: Partial<Wanted>) {
  let asked = 0
  const certificate = await createCertificate({ authority, ...wanted })
  const server = await httpsServer(t, certificate, (_request, response) => {
    asked++
    response.end('secure')
  })
  return { url: `https://here.example:${server.port}/`, asked: () => asked, open: server.open, port: server.port }
}

test('the answer comes with the certificate: names, dates and the days it has left', async (t) => {
  const now = Math.floor(Date.now() / 1_000) * 1_000
  const validFrom = now - 10 * DAY
  const validTo = now + 20 * DAY
  const { url } = await serve(t, { validFrom, validTo, addresses: ['192.0.2.1'] })
  const clock = new TestClock(now)
  const allow = parseOutboundAllow('here.example')
  const lookup = lookupIn({ 'here.example': ['127.0.0.1'] })
  const outbound = createOutbound({ allow, userAgent: 'test', clock, lookup })
  const answer = await outbound.request(url)
  assert.equal(answer.body, 'secure')
  assert.deepEqual(answer.certificate, {
    subject: 'O=Test, CN=here.example',
    issuer: 'CN=Test Authority',
    names: ['here.example', '192.0.2.1'],
    validFrom,
    validTo,
    daysLeft: 20,
    problem: null,
  })
  assert.notEqual(answer.timings.tls, null)
  clock.advance(1)
  assert.equal((await outbound.request(url)).certificate?.daysLeft, 19)
})

const PROBLEMS: readonly [what: string, wanted: () => Partial<Wanted>, problem: RegExp, daysLeft: number][] = [
  ['has expired', () => ({ validTo: Date.now() - 2.5 * DAY }), /^the certificate, or one.* has expired$/, -3],
  [
    'is not valid yet',
    () => ({ validFrom: Date.now() + DAY, validTo: Date.now() + 9.5 * DAY }),
    /^the certificate is not valid yet$/,
    9,
  ],
  ['is of another host', () => ({ host: 'other.example' }), /^the certificate is for other names$/, 29],
  ['vouches for itself', () => ({ authority: null }), /^the certificate is self-signed$/, 29],
  ['comes from a stranger', () => ({ authority: stranger }), /missing, or its authority is not known$/, 29],
]
for (const [what, wanted, problem, daysLeft] of PROBLEMS) {
  test(`a certificate that ${what} ends the request before it is sent, and is reported with the reason`, async (t) => {
    const { url, asked, open } = await serve(t, wanted())
    const failure = await failureOf(
      testOutbound().request(`${url}?key=s3cret`, { headers: { authorization: 's3cret' } }),
    )
    assert.equal(failure.kind, 'tls')
    assert.equal(failure.phase, 'tls')
    assert.match(failure.certificate?.problem ?? '', problem)
    assert.equal(failure.certificate?.daysLeft, daysLeft)
    assert.equal(failure.message, `here.example cannot be trusted: ${failure.certificate?.problem}`)
    assert.equal(asked(), 0)
    await until('the connection is closed', () => open() === 0 || undefined)
  })
}

test('a certificate of an address is compared with the address', async (t) => {
  const right = await serve(t, { addresses: ['127.0.0.1'] })
  const wrong = await serve(t, { addresses: ['127.0.0.2'] })
  const outbound = testOutbound('127.0.0.1')
  assert.equal((await outbound.request(`https://127.0.0.1:${right.port}/`)).body, 'secure')
  assert.equal((await failureOf(outbound.request(`https://127.0.0.1:${wrong.port}/`))).kind, 'tls')
})

test('a server that speaks no TLS fails as one, and without a certificate', async (t) => {
  const plain = await httpServer(t, (_request, response) => response.end())
  const failure = await failureOf(testOutbound().request(`https://here.example:${plain.port}/`))
  assert.equal(failure.kind, 'tls')
  assert.equal(failure.certificate, null)
  assert.equal(failure.message, 'here.example and this server could not agree on encryption')
})

test('a connection that is closed before there is encryption fails as reset', async (t) => {
  const server = await tcpServer(t, (socket) => socket.once('data', () => socket.destroy()))
  const failure = await failureOf(testOutbound().request(`https://here.example:${server.port}/`))
  assert.deepEqual([failure.kind, failure.phase], ['reset', 'tls'])
})

test('a certificate that names very many hosts is reported with some of them', async (t) => {
  const names = Array.from({ length: 60 }, (_, n) => `192.0.2.${n}`)
  const { url } = await serve(t, { addresses: names })
  assert.equal((await testOutbound().request(url)).certificate?.names.length, 50)
})
