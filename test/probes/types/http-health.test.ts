import assert from 'node:assert/strict'
import type { RequestListener, ServerResponse } from 'node:http'
import { before, type TestContext, test } from 'node:test'
import { DAY, HOUR, isoTime } from '../../../src/lib/index.ts'
import type { JsonObject, ProbeOutcome } from '../../../src/probes/probe-type.ts'
import { httpHealth } from '../../../src/probes/types/http-health.ts'
import { NOW } from '../../../testkit/clock.ts'
import { deadAddress } from '../../../testkit/listeners.ts'
import { type Authority, createAuthority, createCertificate, trust } from '../../outbound/certificates.ts'
import { httpServer, httpsServer, tcpServer, testOutbound } from '../../outbound/support.ts'
import { ADDED_BY_PROTECTIONS, CHALLENGES } from './challenges.ts'
import { type RunGiven, runType, siteRow } from './run-type.ts'

type Paths = Readonly<Record<string, (response: ServerResponse) => void>>

const plain =
  (body: string, status = 200) =>
  (response: ServerResponse) =>
    response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
const html = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Parked</title>')

/** A tag server that answers at these paths, and 404 elsewhere; with the paths that it was asked for. */
async function tagServer(t: TestContext, paths: Paths) {
  const asked: string[] = []
  const answer: RequestListener = (request, response) => {
    asked.push(request.url ?? '')
    const found = paths[request.url ?? '']
    if (found === undefined) plain('Not Found', 404)(response)
    else found(response)
  }
  const { port } = await httpServer(t, answer)
  return { url: `http://127.0.0.1:${port}`, asked }
}

const run = (t: TestContext, url: string, config: JsonObject = {}, given: Partial<RunGiven> = {}) =>
  runType(t, httpHealth, { site: siteRow({ tag_server_url: url }), config, ...given })

interface Details {
  path: string
  status: number
  since: string
  findings: { check: string; status: string; message: string }[]
  tried: { path: string; status: number }[]
  timings: Record<string, number | null>
  certificate: { days_left: number; problem: string | null } | null
  failure: { kind: string; phase: string; certificate: { days_left: number } | null }
  body_start?: string
  redirects_to?: string
}
const detailsOf = ({ details }: ProbeOutcome) => details as unknown as Details

test('a tag server that answers ok at /healthy is fine, and details say how long each part took', async (t) => {
  const server = await tagServer(t, { '/healthy': plain('ok') })
  const outcome = await run(t, server.url)
  const details = detailsOf(outcome)
  assert.equal(outcome.status, 'ok')
  assert.match(outcome.message, /^127\.0\.0\.1:\d+\/healthy answered 200 in \d+ ms$/)
  assert.deepEqual(server.asked, ['/healthy'])
  assert.deepEqual([details.path, details.status, details.certificate], ['/healthy', 200, null])
  assert.deepEqual(Object.keys(details.timings), ['dns_ms', 'connect_ms', 'tls_ms', 'first_byte_ms', 'total_ms'])
  assert.equal(outcome.responseTimeMs, details.timings.total_ms)
})

const FALLBACKS: readonly [what: string, given: string, paths: Paths, asked: readonly string[]][] = [
  ['/healthz, where /healthy is 404', '', { '/healthz': plain('ok') }, ['/healthy', '/healthz']],
  [
    'the address as given, where both are 404',
    '/a?b=c',
    { '/a?b=c': plain('ok') },
    ['/a/healthy', '/a/healthz', '/a?b=c'],
  ],
  ['behind a prefix', '/metrics/', { '/metrics/healthy': plain('ok') }, ['/metrics/healthy']],
  [
    'past a web page at /healthy',
    '',
    { '/healthy': html, '/healthz': plain('{"success":true}') },
    ['/healthy', '/healthz'],
  ],
]
for (const [what, given, paths, asked] of FALLBACKS) {
  test(`health is found at ${what}, and at an address of the image asked for first the next time`, async (t) => {
    const server = await tagServer(t, paths)
    const first = await run(t, server.url + given)
    assert.equal(first.status, 'ok', first.message)
    assert.deepEqual(server.asked, asked)
    assert.equal(detailsOf(first).path, asked.at(-1))
    const second = await run(t, server.url + given, {}, { memory: first.memory ?? {} })
    assert.equal(second.status, 'ok')
    const again = asked.length === 3 ? asked : asked.slice(-1)
    assert.deepEqual(server.asked, [...asked, ...again])
  })
}

test('a server that answers 200 with the same at every address is none that is known to be well', async (t) => {
  const error = plain('{"error":"no such app"}')
  const server = await tagServer(t, { '/healthy': error, '/healthz': error, '/': error })
  const outcome = await run(t, server.url)
  assert.deepEqual([outcome.status, detailsOf(outcome).findings[0]?.check], ['warning', 'unexpected_body'])
  assert.equal(outcome.memory?.path, undefined)
  assert.equal((await run(t, server.url, {}, { memory: { path: '/' } })).status, 'warning')
  assert.equal((await run(t, server.url, { expected_body: 'no such app' })).status, 'ok')
})

test('an endpoint that served once and is gone is left for one that serves', async (t) => {
  const server = await tagServer(t, { '/healthy': plain('ok') })
  const outcome = await run(t, server.url, {}, { memory: { path: '/healthz' } })
  assert.equal(outcome.status, 'ok')
  assert.deepEqual(server.asked, ['/healthz', '/healthy'])
  assert.equal(outcome.memory?.path, '/healthy')
})

test('a server that knows none of the endpoints is critical, and each is named', async (t) => {
  const server = await tagServer(t, {})
  const outcome = await run(t, server.url)
  assert.equal(outcome.status, 'critical')
  assert.match(outcome.message, /\/healthy answered 404 in/)
  assert.deepEqual(detailsOf(outcome).tried, [
    { path: '/healthy', status: 404 },
    { path: '/healthz', status: 404 },
    { path: '/', status: 404 },
  ])
  assert.match(outcome.message, / ms: no tag server is at this address, or its path is wrong$/)
})

for (const status of [400, 401, 403, 429, 500, 502, 503]) {
  test(`${status} is critical, and no other endpoint is asked`, async (t) => {
    const server = await tagServer(t, { '/healthy': plain('no', status) })
    const outcome = await run(t, server.url)
    assert.equal(outcome.status, 'critical')
    const who =
      status >= 500
        ? 'the tag server or something in front of it fails'
        : status === 400
          ? '$'
          : 'something in front of the container refuses it'
    assert.match(outcome.message, new RegExp(` answered ${status} in \\d+ ms(: )?(${who})`))
    assert.equal(detailsOf(outcome).body_start, 'no')
    assert.deepEqual(server.asked, ['/healthy'])
    assert.equal(outcome.isNetworkFailure, false)
  })
}

for (const [vendor, status, headers, body] of CHALLENGES) {
  test(`a challenge of ${vendor} (${status}) is an error: it stands between this check and the tag server`, async (t) => {
    const server = await tagServer(t, {
      '/healthy': (response) => {
        response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body)
      },
    })
    const outcome = await run(t, server.url)
    assert.equal(outcome.status, 'error')
    assert.match(
      outcome.message,
      new RegExp(`^${vendor} blocks the check as a bot at .*/healthy \\(${status}\\): allow `),
    )
    assert.notEqual((await run(t, server.url, { expected_status: [status] })).status, 'error')
  })
}

for (const [vendor, part] of ADDED_BY_PROTECTIONS) {
  test(`what ${vendor} adds to real pages is no challenge`, async (t) => {
    const server = await tagServer(t, { '/healthy': plain(`<!doctype html><title>Shop</title>${part}`) })
    assert.equal((await run(t, server.url)).status, 'warning')
  })
}

test('gtm.js behind a challenge is an error, too', async (t) => {
  const challenge = (response: ServerResponse) => response.writeHead(403, { 'cf-mitigated': 'challenge' }).end()
  const server = await tagServer(t, { '/healthy': plain('ok'), '/gtm.js?id=GTM-WEB1234': challenge })
  const site = siteRow({ tag_server_url: server.url, tag_manager_web_container_id: 'GTM-WEB1234' })
  const outcome = await runType(t, httpHealth, { site, config: { check_gtm_js: true } })
  assert.deepEqual([outcome.status, detailsOf(outcome).findings[0]?.check], ['error', 'gtm_js'])
})

test('a redirect from http to https names the address to set', async (t) => {
  const server = await tagServer(t, {
    '/metrics/healthy': (response) =>
      response.writeHead(301, { location: `https://127.0.0.1:${new URL(server.url).port}/metrics/healthy` }).end(),
  })
  const outcome = await run(t, `${server.url}/metrics`)
  assert.equal(outcome.status, 'critical')
  assert.match(
    outcome.message,
    /redirects \(301\) to https: set tag_server_url to an address that begins with https:\/\/$/,
  )
})

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect (${status}) is critical, not followed, and shown without its query`, async (t) => {
    const server = await tagServer(t, {
      '/healthy': (response) => response.writeHead(status, { location: 'https://login.example/in?key=s3cret' }).end(),
    })
    const outcome = await run(t, server.url)
    assert.equal(outcome.status, 'critical')
    assert.match(
      outcome.message,
      new RegExp(`redirects \\(${status}\\) to login\\.example/in, but a tag server should answer itself$`),
    )
    assert.equal(detailsOf(outcome).redirects_to, 'login.example/in')
    assert.doesNotMatch(JSON.stringify(outcome), /s3cret/)
  })
}

test('a web page without ok is a warning: another server answers for the host', async (t) => {
  const server = await tagServer(t, { '/healthy': html, '/healthz': html, '/': html })
  const outcome = await run(t, server.url)
  assert.equal(outcome.status, 'warning')
  assert.match(outcome.message, /\/healthy answered 200 with a web page instead of "ok"/)
  assert.equal(detailsOf(outcome).findings[0]?.check, 'unexpected_body')
  assert.equal(detailsOf(outcome).body_start, '<!doctype html><title>Parked</title>')
  assert.equal(outcome.memory?.path, undefined)
})

for (const body of ['It works!', '{"error":"no such app"}', '{"status":"down"}', '{}']) {
  test(`${body} at the image’s own address is a warning`, async (t) => {
    const server = await tagServer(t, { '/healthy': plain(body) })
    const outcome = await run(t, server.url)
    assert.equal(outcome.status, 'warning')
    assert.equal(detailsOf(outcome).findings[0]?.check, 'unexpected_body')
    // A path of one's own may answer as it likes.
    assert.equal((await run(t, server.url, { path: '/healthy' })).status, 'ok')
  })
}

test('an answer that a cache has had for minutes says nothing about the tag server: a warning', async (t) => {
  let age = '60'
  const cached = (response: ServerResponse) => {
    response.setHeader('age', age)
    plain('ok')(response)
  }
  const server = await tagServer(t, { '/healthy': cached, '/status': cached })
  assert.equal((await run(t, server.url)).status, 'ok')
  age = '7200'
  const outcome = await run(t, server.url)
  assert.equal(outcome.status, 'warning', outcome.message)
  assert.match(outcome.message, /\/healthy was answered by a cache, with an answer that is 2 h old: /)
  assert.equal((await run(t, server.url, { path: '/status' })).status, 'ok')
  age = '-1, none'
  assert.equal((await run(t, server.url)).status, 'ok')
})

test('a path of its own is the only one asked, from the root of the host', async (t) => {
  const server = await tagServer(t, { '/status?full=1': plain('fine'), '//elsewhere.example/healthy': plain('ok') })
  const own = await run(t, `${server.url}/metrics`, { path: '/status?full=1' })
  assert.equal(own.status, 'ok')
  const odd = await run(t, `${server.url}/metrics`, { path: '//elsewhere.example/healthy' })
  assert.equal(odd.status, 'ok', odd.message)
  const gone = await run(t, server.url, { path: '/gone' })
  assert.equal(gone.status, 'critical')
  assert.deepEqual(server.asked, ['/status?full=1', '//elsewhere.example/healthy', '/gone'])
})

test('a status that is expected is fine, and any other critical', async (t) => {
  const server = await tagServer(t, { '/healthy': plain('ok', 204), '/down': plain('ok', 503) })
  const strict = await run(t, server.url, { expected_status: [200, 201] })
  assert.equal(strict.status, 'critical')
  assert.match(strict.message, /answered 204 in \d+ ms, expected 200 or 201$/)
  assert.equal((await run(t, server.url, { path: '/down', expected_status: [503] })).status, 'ok')
})

test('text that is expected has to be in the answer', async (t) => {
  const server = await tagServer(t, { '/healthy': html })
  assert.equal((await run(t, server.url, { expected_body: 'Parked' })).status, 'ok')
  const other = await run(t, server.url, { expected_body: '"healthy"' })
  assert.equal(other.status, 'critical')
  assert.match(other.message, /does not contain "\\"healthy\\""$/)
})

test('text that is expected is looked for in a whole page, and no more is said than what was read', async (t) => {
  const page = (length: number) => plain(`${'x'.repeat(length)}Checkout`)
  const server = await tagServer(t, { '/long': page(500_000), '/endless': page(2_000_000) })
  assert.equal((await run(t, server.url, { path: '/long', expected_body: 'Checkout' })).status, 'ok')
  const outcome = await run(t, server.url, { path: '/endless', expected_body: 'Checkout' })
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /^"Checkout" is not in the first 1 MB of .*\/endless, and no more is read$/)
})

test('a slow answer is a warning, unless the settings allow it', async (t) => {
  const server = await tagServer(t, { '/healthy': (response) => setTimeout(() => plain('ok')(response), 60) })
  const outcome = await run(t, server.url, { slow_ms: 20 })
  assert.equal(outcome.status, 'warning')
  assert.match(outcome.message, /took \d+ ms to answer, more than 20 ms$/)
  assert.equal((await run(t, server.url, { slow_ms: 0 })).status, 'ok')
})

const FAILURES: readonly [what: string, kind: string, retried: boolean, url: (t: TestContext) => Promise<string>][] = [
  ['a name that leads nowhere', 'dns', true, async () => 'http://gone.example'],
  ['a port where nothing listens', 'refused', true, deadAddress],
  [
    'a connection that is reset',
    'reset',
    true,
    async (t) =>
      `http://127.0.0.1:${(await tcpServer(t, (socket) => socket.once('data', () => socket.destroy()))).port}`,
  ],
  [
    'what is not HTTP',
    'protocol',
    false,
    async (t) => `http://127.0.0.1:${(await tcpServer(t, (socket) => socket.end('SSH-2.0-x\r\n'))).port}`,
  ],
]
for (const [what, kind, isRetried, url] of FAILURES) {
  test(`${what} is critical`, async (t) => {
    const outcome = await run(t, await url(t))
    assert.equal(outcome.status, 'critical', outcome.message)
    assert.equal(detailsOf(outcome).failure.kind, kind)
    assert.equal(outcome.isNetworkFailure, isRetried)
    assert.equal(outcome.responseTimeMs, undefined)
  })
}

test('a server that takes longer than the run may is critical, with the part that took too long', async (t) => {
  const { port } = await httpServer(t, () => {})
  const outcome = await run(t, `http://127.0.0.1:${port}`, {}, { timeoutMs: 100 })
  assert.equal(outcome.status, 'critical')
  assert.match(outcome.message, /100 ms/)
  assert.equal(detailsOf(outcome).failure.phase, 'first_byte')
})

test('an address that must not be reached is an error: the server may be fine', async (t) => {
  const outcome = await run(t, 'http://10.0.0.1')
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /^10\.0\.0\.1 cannot be checked: .* add it to OUTBOUND_ALLOW$/)
})

test('details say since when a status lasts', async (t) => {
  const server = await tagServer(t, { '/healthy': plain('no', 500) })
  const first = await run(t, server.url)
  const second = await run(t, server.url, {}, { memory: first.memory ?? {}, now: NOW + HOUR })
  assert.equal(detailsOf(second).since, isoTime(NOW))
  const good = await tagServer(t, { '/healthy': plain('ok') })
  const third = await run(t, good.url, {}, { memory: second.memory ?? {}, now: NOW + 2 * HOUR })
  assert.equal(detailsOf(third).since, isoTime(NOW + 2 * HOUR))
})

const script = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/javascript; charset=UTF-8' }).end('// Copyright\nvar data={}')
const SCRIPTS: readonly [what: string, status: string, answer: Paths[string] | undefined][] = [
  ['serves it', 'ok', script],
  ['does not know it', 'critical', undefined],
  ['answers a page instead', 'critical', html],
]
for (const [what, status, answer] of SCRIPTS) {
  test(`gtm.js, where it is to be served: a tag server that ${what} is ${status}`, async (t) => {
    const server = await tagServer(t, {
      '/m/healthy': plain('ok'),
      ...(answer === undefined ? {} : { '/m/gtm.js?id=GTM-WEB1234': answer }),
    })
    const site = siteRow({ tag_server_url: `${server.url}/m`, tag_manager_web_container_id: 'GTM-WEB1234' })
    const outcome = await runType(t, httpHealth, { site, config: { check_gtm_js: true } })
    assert.equal(outcome.status, status, outcome.message)
    assert.ok(server.asked.includes('/m/gtm.js?id=GTM-WEB1234'))
  })
}

test('gtm.js cannot be checked for a site without a web container: an error', async (t) => {
  const server = await tagServer(t, { '/healthy': plain('ok') })
  const outcome = await run(t, server.url, { check_gtm_js: true })
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /tag_manager_web_container_id/)
})

let authority: Authority
before(async () => {
  authority = await createAuthority('Probe Authority')
  trust(authority)
})

const CERTIFICATES: readonly [daysLeft: number, status: string, message: RegExp][] = [
  [60, 'ok', /its certificate has 60 days left$/],
  [22, 'ok', /22 days left$/],
  [21, 'warning', /^the certificate of here\.example:\d+ ends in 21 days, on \d{4}-\d\d-\d\d$/],
  [8, 'warning', / ends in 8 days, /],
  [7, 'critical', / ends in 7 days, /],
  [1, 'critical', / ends in 1 day, /],
  [0, 'critical', / ends in 0 days, /],
]
for (const [daysLeft, status, message] of CERTIFICATES) {
  test(`a certificate with ${daysLeft} days left is ${status}`, async (t) => {
    const certificate = await createCertificate({ authority, validTo: Date.now() + (daysLeft + 0.5) * DAY })
    const { port } = await httpsServer(t, certificate, (_request, response) => response.end('ok'))
    const outcome = await run(t, `https://here.example:${port}`, {}, { outbound: testOutbound() })
    assert.equal(outcome.status, status)
    assert.match(outcome.message, message)
    assert.equal(detailsOf(outcome).certificate?.days_left, daysLeft)
  })
}

const SHORT_LIVES: readonly [lifetime: number, daysLeft: number, status: string][] = [
  // Renewed with a third of its life left, as ACME clients do.
  [45, 15, 'ok'],
  [45, 10, 'warning'],
  [45, 3, 'critical'],
  [6.67, 5, 'ok'],
  [6.67, 2, 'ok'],
  [6.67, 1, 'warning'],
  [6.67, 0, 'critical'],
  [365, 22, 'ok'],
  [365, 21, 'warning'],
]
for (const [lifetime, daysLeft, status] of SHORT_LIVES) {
  test(`a certificate of ${lifetime} days with ${daysLeft} left is ${status}`, async (t) => {
    const validTo = Date.now() + (daysLeft + 0.5) * DAY
    const certificate = await createCertificate({ authority, validFrom: validTo - lifetime * DAY, validTo })
    const { port } = await httpsServer(t, certificate, (_request, response) => response.end('ok'))
    const outcome = await run(t, `https://here.example:${port}`, {}, { outbound: testOutbound() })
    assert.equal(outcome.status, status, outcome.message)
  })
}

test('a certificate that has ended, or is of another host, is critical with what it says', async (t) => {
  const ended = { authority, validTo: Date.now() - 1.5 * DAY }
  for (const [wanted, why] of [
    [ended, /has expired$/],
    [{ authority, host: 'other.example' }, /is for other names$/],
    [{ authority: null }, /self-signed/],
  ] as const) {
    const certificate = await createCertificate(wanted)
    const { port } = await httpsServer(t, certificate, (_request, response) => response.end('ok'))
    const outcome = await run(t, `https://here.example:${port}`, {}, { outbound: testOutbound() })
    assert.equal(outcome.status, 'critical')
    assert.match(outcome.message, why)
    const { failure } = detailsOf(outcome)
    assert.deepEqual([failure.kind, typeof failure.certificate?.days_left], ['tls', 'number'])
  }
})

test('the days of certificates can be set, but not the wrong way round', async (t) => {
  const certificate = await createCertificate({ authority, validTo: Date.now() + 5.5 * DAY })
  const { port } = await httpsServer(t, certificate, (_request, response) => response.end('ok'))
  const config = { certificate_warning_days: 4, certificate_critical_days: 2 }
  const outcome = await run(t, `https://here.example:${port}`, config, { outbound: testOutbound() })
  assert.equal(outcome.status, 'ok')
  assert.deepEqual(httpHealth.checkConfig?.({ certificate_warning_days: 4, certificate_critical_days: 7 }), [
    { path: '/certificate_critical_days', message: 'must not be more than certificate_warning_days, which is 4' },
  ])
})
