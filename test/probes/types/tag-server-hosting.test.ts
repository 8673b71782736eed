import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY, HOUR } from '../../../src/lib/index.ts'
import type { ProbeOutcome } from '../../../src/probes/probe-type.ts'
import { tagServerInfra } from '../../../src/probes/types/tag-server-infra.ts'
import { NOW } from '../../../testkit/clock.ts'
import { deadAddress } from '../../../testkit/listeners.ts'
import { httpServer, testOutbound } from '../../outbound/support.ts'
import { type RunGiven, runType, siteRow } from './run-type.ts'
import { type Answers, CONTAINER, container, domain, KEY, stapeServer } from './stape-server.ts'

const SITE = siteRow({ hosting_a_container_id: CONTAINER })

const run = (t: TestContext, given: Partial<RunGiven>) => runType(t, tagServerInfra, { site: SITE, ...given })

const pathsOf = (server: { asked: readonly { path: string }[] }) =>
  server.asked.map(({ path }) => path.replace('/api/v2/', ''))

const checksOf = ({ details }: ProbeOutcome) =>
  (details.findings as { check: string; status: string }[]).map(({ check, status }) => `${check} ${status}`)

test('hosting A: a running container with fine domains and little usage is ok, and no key of it is kept', async (t) => {
  const server = await stapeServer(t)
  const outcome = await run(t, { settings: server.settings })
  assert.equal(outcome.status, 'ok', outcome.message)
  assert.equal(outcome.message, `container ${CONTAINER} at hosting provider A is "Running"`)
  assert.deepEqual(outcome.details.hosting_a, {
    container_id: CONTAINER,
    name: 'Shop',
    status: 'Running',
    zone: 'EU West',
    warnings: [],
    usage: 60_000,
    requests_limit: 500_000,
    used_percent: 12,
    min_replicas: 1,
    max_replicas: 3,
    domains: [{ name: 'sst.shop.example', status: 'Ready', error: null, records: ['CNAME sst → eu.stape.example'] }],
  })
  assert.doesNotMatch(JSON.stringify(outcome), /s3cret|stape-key/)
  assert.equal(typeof outcome.responseTimeMs, 'number')
})

const JUDGED: readonly [
  what: string,
  answers: Partial<Answers>,
  status: string,
  message: RegExp,
  checks: readonly string[],
][] = [
  [
    'deploying',
    { container: container({ status: { type: 1, label: 'Deploying' } }) },
    'warning',
    /is "Deploying"$/,
    ['hosting warning'],
  ],
  [
    'stopped',
    { container: container({ status: { type: 4, label: 'Stopped' } }) },
    'critical',
    /is "Stopped"$/,
    ['hosting critical'],
  ],
  ['given by number only', { container: container({ status: 4 }) }, 'critical', /is "Stopped"$/, ['hosting critical']],
  [
    'in an unknown state',
    { container: container({ status: { type: 9, label: 'Frobbing' } }) },
    'warning',
    /"Frobbing", a status that this version does not know/,
    ['hosting warning'],
  ],
  ['without a status', { container: container({ status: null }) }, 'error', /has no status$/, ['hosting error']],
  [
    'warned of',
    { container: container({ warnings: [{ preview: '<b>Card</b> expired', type: 'x' }] }) },
    'warning',
    /warns: Card expired$/,
    ['hosting_warning warning'],
  ],
  [
    'near its limit',
    { container: container({ subscription: { usageCount: 450_000 } }) },
    'warning',
    /^90 % of the plan's 500,000 requests are used$/,
    ['hosting_usage warning'],
  ],
  [
    'over its limit',
    { container: container({ requestsLimit: null, subscription: { limitExceeded: true } }) },
    'warning',
    /requests are used up$/,
    ['hosting_usage warning'],
  ],
  [
    'with a domain in error',
    { domains: [domain(), domain({ name: 'b.example', error: { type: 7 } })] },
    'critical',
    /^hosting provider A reports an error for b\.example: CNAME record not found$/,
    ['hosting_domain critical'],
  ],
  [
    'whose last of thirty domains is in error',
    { domains: [...Array.from({ length: 29 }, () => domain()), domain({ name: 'z.example', error: { type: 7 } })] },
    'critical',
    /^hosting provider A reports an error for z\.example: CNAME record not found$/,
    ['hosting_domain critical'],
  ],
  [
    'whose domains come as no list',
    { domains: { items: [domain({ error: { type: 7 } })] } },
    'error',
    /^the API of hosting provider A returns no list of the container's domains$/,
    ['hosting_domain error'],
  ],
  [
    'with a pending domain',
    { domains: [domain({ status: 1 })] },
    'warning',
    /^domain sst\.shop\.example at hosting provider A is "Pending"$/,
    ['hosting_domain warning'],
  ],
  [
    'with the error that says that there is none',
    { domains: [domain({ error: { type: 0, label: null } })] },
    'ok',
    /"Running"$/,
    [],
  ],
]
for (const [what, answers, status, message, checks] of JUDGED) {
  test(`hosting A: a container ${what} is ${status}`, async (t) => {
    const server = await stapeServer(t, answers)
    const outcome = await run(t, { settings: server.settings })
    assert.equal(outcome.status, status, outcome.message)
    assert.match(outcome.message, message)
    assert.deepEqual(checksOf(outcome), checks)
  })
}

test('hosting A: the worst is said first, with how much else there is', async (t) => {
  const server = await stapeServer(t, {
    container: container({ status: { type: 1, label: 'Updating' }, todayUsage: 600_000 }),
    domains: [domain({ error: { type: 7, label: 'No CNAME' } })],
  })
  const outcome = await run(t, { settings: server.settings })
  assert.equal(outcome.message, 'hosting provider A reports an error for sst.shop.example: No CNAME (and 2 more)')
  assert.deepEqual(checksOf(outcome), ['hosting_domain critical', 'hosting warning', 'hosting_usage warning'])
})

test('hosting A: a status that people call fine is, and usage is judged by the percentage they set', async (t) => {
  const server = await stapeServer(t, { container: container({ status: { type: 9, label: 'Frobbing' } }) })
  assert.equal((await run(t, { settings: server.settings, config: { ok_statuses: ['frobbing'] } })).status, 'ok')
  const strict = await run(t, {
    settings: server.settings,
    config: { ok_statuses: ['frobbing'], usage_warning_percent: 10 },
  })
  assert.equal(strict.status, 'warning')
})

test('hosting A: what its values mean is fetched once a day', async (t) => {
  const server = await stapeServer(t)
  const legend = ['resources/container-statuses', 'resources/domain-statuses', 'resources/domain-errors']
  const first = await run(t, { settings: server.settings })
  assert.deepEqual(pathsOf(server).slice(2).toSorted(), legend.toSorted())
  const second = await run(t, { settings: server.settings, memory: first.memory ?? {}, now: NOW + DAY - 1 })
  assert.equal(second.status, 'ok')
  assert.equal(server.asked.length, 7)
  await run(t, { settings: server.settings, memory: second.memory ?? {}, now: NOW + DAY })
  assert.equal(server.asked.length, 12)
})

test('hosting A: without the legend there is a check, and with an old one its words', async (t) => {
  const server = await stapeServer(t, { container: container({ status: 3 }) })
  const first = await run(t, { settings: server.settings })
  assert.equal(first.status, 'ok')
  const statuses = Object.fromEntries(
    ['container-statuses', 'domain-statuses', 'domain-errors'].map((name) => [`/api/v2/resources/${name}`, 503]),
  )
  Object.assign(server.answers, { statuses })
  const old = await run(t, { settings: server.settings, memory: first.memory ?? {}, now: NOW + 2 * DAY })
  assert.equal(old.status, 'ok', old.message)
  const none = await run(t, { settings: server.settings })
  assert.match(none.message, /is "3", a status that this version does not know/)
})

const REFUSALS: readonly [status: number, result: string, message: RegExp][] = [
  [401, 'error', /refuses the key \(401\)/],
  [403, 'error', /refuses the key \(403\): .* the plan does not include the API$/],
  [404, 'critical', /^hosting provider A knows no container abcdefgh: /],
  [429, 'error', /answered 429, too many requests, for another 30 s$/],
  [302, 'error', /answered 302$/],
  [500, 'error', /answered 500$/],
  [503, 'error', /answered 503$/],
]
for (const [status, result, message] of REFUSALS) {
  test(`hosting A: its API answering ${status} is ${result}`, async (t) => {
    const server = await stapeServer(t, { statuses: { '*': status }, headers: { 'retry-after': '30' } })
    const outcome = await run(t, { settings: server.settings })
    assert.equal(outcome.status, result)
    assert.match(outcome.message, message)
    assert.equal(outcome.isNetworkFailure, false)
  })
}

test('hosting A: its API failing for domains only is an error, and having no such part is none', async (t) => {
  const path = `/api/v2/containers/${CONTAINER}/domains`
  const down = await stapeServer(t, { statuses: { [path]: 502 } })
  assert.equal((await run(t, { settings: down.settings })).status, 'error')
  const less = await stapeServer(t, { statuses: { [path]: 404 } })
  assert.equal((await run(t, { settings: less.settings })).status, 'ok')
})

test('hosting A: an API that is down, too slow, or speaks no JSON is an error', async (t) => {
  const away = await run(t, { settings: { hostingAApiUrl: await deadAddress(), hostingAToken: KEY } })
  assert.equal(away.status, 'error')
  assert.match(away.message, /^the API of hosting provider A could not be reached: /)
  assert.equal(away.isNetworkFailure, true)
  const silent = await httpServer(t, () => {})
  const settings = { hostingAApiUrl: `http://127.0.0.1:${silent.port}`, hostingAToken: KEY }
  const slow = await run(t, { settings, timeoutMs: 100 })
  assert.equal(slow.status, 'error')
  assert.match(slow.message, /100 ms/)
  for (const said of ['<html>', '['.repeat(500_000) + ']'.repeat(500_000), `{"body":[${'{},'.repeat(340_000)}{}]}`]) {
    const page = await httpServer(t, (_request, response) => response.end(said))
    const odd = await run(t, { settings: { hostingAApiUrl: `http://127.0.0.1:${page.port}`, hostingAToken: KEY } })
    assert.equal(odd.status, 'error')
    assert.match(odd.message, /not JSON, or is too nested or too long$/)
  }
})

test('hosting A: without a key the check is an error that says how to set one; a key of the probe is enough', async (t) => {
  const server = await stapeServer(t)
  const settings = { ...server.settings, hostingAToken: null }
  const without = await run(t, { settings })
  assert.equal(without.status, 'error')
  assert.match(without.message, /HOSTING_A_TOKEN/)
  assert.equal(server.asked.length, 0)
  const config = { hosting_a_token: KEY, hosting_a_workspace: 'w-1' }
  const own = await run(t, { settings, config })
  assert.equal(own.status, 'ok')
  assert.ok(server.asked.every(({ workspace }) => workspace === 'w-1'))
})

/** Both regions of the real host, under their names. */
async function regions(t: TestContext, statuses: Readonly<Record<'global' | 'eu', number | null>>) {
  const asked: string[] = []
  const server = await httpServer(t, (request, response) => {
    const region = request.headers.host?.startsWith('api.app.eu.') ? 'eu' : 'global'
    if (request.url === `/api/v2/containers/${CONTAINER}`) asked.push(region)
    const status = statuses[region]
    const body = request.url?.endsWith('/domains') || request.url?.includes('/resources/') ? [] : container()
    response.writeHead(status ?? 200).end(JSON.stringify({ body }))
  })
  const outbound = testOutbound('127.0.0.1', {
    'api.app.stape.io': ['127.0.0.1'],
    'api.app.eu.stape.io': ['127.0.0.1'],
  })
  const settings = { hostingAApiUrl: `http://api.app.stape.io:${server.port}/api/v2`, hostingAToken: KEY }
  return { asked, given: { outbound, settings } }
}

const REGIONS: readonly [
  what: string,
  global: number | null,
  eu: number | null,
  status: string,
  asked: readonly string[],
][] = [
  ['known to the first region', null, null, 'ok', ['global']],
  ['known to the other region', 404, null, 'ok', ['global', 'eu']],
  ['of a key of the other region', 401, null, 'ok', ['global', 'eu']],
  ['known to neither', 404, 404, 'critical', ['global', 'eu']],
  ['gone, with a key of the first region', 404, 401, 'critical', ['global', 'eu']],
  ['of a key that no region takes', 401, 403, 'error', ['global', 'eu']],
  ['perhaps of the other region, which is down', 404, 503, 'error', ['global', 'eu']],
  ['of a region that is down', 503, null, 'error', ['global']],
]
for (const [what, global, eu, status, asked] of REGIONS) {
  test(`hosting A: a container ${what} is ${status}`, async (t) => {
    const server = await regions(t, { global, eu })
    const outcome = await run(t, server.given)
    assert.equal(outcome.status, status, outcome.message)
    assert.deepEqual(server.asked, asked)
  })
}

test('hosting A: a web page with 404, as of a gateway, does not say that the container is gone', async (t) => {
  const server = await httpServer(t, (_request, response) => response.writeHead(404).end('<html>404 Not Found</html>'))
  const settings = { hostingAApiUrl: `http://127.0.0.1:${server.port}/api/v2`, hostingAToken: KEY }
  const outcome = await run(t, { settings })
  assert.deepEqual([outcome.status, outcome.message], ['error', 'the API of hosting provider A answered 404'])
})

test('hosting A: the region that knew the container is asked first the next time', async (t) => {
  const server = await regions(t, { global: 404, eu: null })
  const first = await run(t, server.given)
  const second = await run(t, { ...server.given, memory: first.memory ?? {}, now: NOW + HOUR })
  assert.equal(second.status, 'ok')
  assert.deepEqual(server.asked, ['global', 'eu', 'eu'])
})

const B_SITE = siteRow({ hosting_b_container_id: 'c/1' })

/** A status address of provider B, and the way it was asked. */
async function statusServer(t: TestContext, status: number, body: unknown) {
  const asked: (readonly [path: string, authorization: string | undefined])[] = []
  const { port } = await httpServer(t, (request, response) => {
    asked.push([request.url ?? '', request.headers.authorization])
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  return { asked, settings: { hostingBStatusUrl: `http://127.0.0.1:${port}/status/{container_id}` } }
}

const STATUSES: readonly [body: unknown, path: string, status: string][] = [
  [{ status: 'running' }, 'status', 'ok'],
  [{ data: [{ state: 'Active' }] }, 'data.0.state', 'ok'],
  [{ healthy: true }, 'healthy', 'ok'],
  [{ healthy: false }, 'healthy', 'critical'],
  [{ status: 'deploying' }, 'status', 'warning'],
  [{ status: 'not running' }, 'status', 'critical'],
  [{ status: 'Inactive' }, 'status', 'critical'],
  [{ status: 'frobbing' }, 'status', 'warning'],
  [{ status: null }, 'status', 'error'],
  [{ state: 'running' }, 'status', 'error'],
  [{ state: 'running' }, 'constructor.name', 'error'],
  ['running', 'status', 'error'],
]
for (const [body, path, status] of STATUSES) {
  test(`hosting B: ${JSON.stringify(body)} read at ${path} is ${status}`, async (t) => {
    const server = await statusServer(t, 200, body)
    const outcome = await run(t, { site: B_SITE, settings: server.settings, config: { hosting_b_json_path: path } })
    assert.equal(outcome.status, status, outcome.message)
    assert.deepEqual(server.asked, [['/status/c%2F1', undefined]])
  })
}

for (const [status, result] of [
  [401, 'error'],
  [403, 'error'],
  [404, 'critical'],
  [429, 'error'],
  [500, 'error'],
] as const) {
  test(`hosting B: its address answering ${status} is ${result}`, async (t) => {
    const server = await statusServer(t, status, {})
    assert.equal((await run(t, { site: B_SITE, settings: server.settings })).status, result)
  })
}

test('hosting B: a 404 that is a web page says nothing about the container', async (t) => {
  const server = await statusServer(t, 404, '<html><title>Not found</title></html>')
  const outcome = await run(t, { site: B_SITE, settings: server.settings })
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /^the status address of hosting provider B answered 404/)
})

test('hosting B: a token goes along, of the probe before that of the server', async (t) => {
  const server = await statusServer(t, 200, { status: 'ok' })
  const settings = { ...server.settings, hostingBToken: 'of-the-server' }
  await run(t, { site: B_SITE, settings })
  const outcome = await run(t, { site: B_SITE, settings, config: { hosting_b_token: 'of-the-probe' } })
  assert.deepEqual(
    server.asked.map(([, authorization]) => authorization),
    ['Bearer of-the-server', 'Bearer of-the-probe'],
  )
  assert.doesNotMatch(JSON.stringify(outcome), /of-the-probe/)
})

test('hosting B: without a status address the site is judged from outside, and an error where that cannot be', async (t) => {
  const nothing = await run(t, { site: B_SITE })
  assert.equal(nothing.status, 'error')
  assert.match(nothing.message, /HOSTING_B_STATUS_URL/)
  const { port } = await httpServer(t, (_request, response) => response.end('ok'))
  const outside = await run(t, { site: { ...B_SITE, tag_server_url: `http://127.0.0.1:${port}` } })
  assert.equal(outside.status, 'ok', outside.message)
})
