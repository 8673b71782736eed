import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { DAY, HOUR } from '../../../src/lib/index.ts'
import { type Outbound, OutboundError } from '../../../src/outbound/index.ts'
import type { JsonObject, ProbeOutcome } from '../../../src/probes/probe-type.ts'
import { tagServerInfra } from '../../../src/probes/types/tag-server-infra.ts'
import { NOW } from '../../../testkit/clock.ts'
import { deadAddress } from '../../../testkit/listeners.ts'
import { type Authority, createAuthority, createCertificate, trust } from '../../outbound/certificates.ts'
import { httpServer, httpsServer, testOutbound } from '../../outbound/support.ts'
import { type RunGiven, runType, siteRow } from './run-type.ts'
import { CONTAINER, container, stapeServer } from './stape-server.ts'

let authority: Authority
before(async () => {
  authority = await createAuthority('Infra Authority')
  trust(authority)
})

interface Seen {
  first_party: { is_first_party: boolean | null }
  dns: { addresses: string[]; aliases: string[] } | null
  gtm_js: { is_served: boolean } | null
  certificate: { days_left: number } | null
  usual_ms: number | null
}
const seen = ({ details }: ProbeOutcome) => details.outside as Seen

const checksOf = ({ details }: ProbeOutcome) =>
  (details.findings as { check: string; status: string }[]).map(({ check, status }) => `${check} ${status}`)

/** A healthy tag server at sst.shop.example, over TLS, of the site at www.shop.example. */
async function shop(t: TestContext, daysLeft = 60) {
  const state = { script: 200, health: 200 }
  const certificate = await createCertificate({
    authority,
    host: 'sst.shop.example',
    validTo: Date.now() + (daysLeft + 0.5) * DAY,
  })
  const { port } = await httpsServer(t, certificate, (request, response) => {
    if (request.url === '/healthy') response.writeHead(state.health).end('ok')
    else response.writeHead(state.script, { 'content-type': 'text/javascript' }).end('var data = {}')
  })
  const site = siteRow({
    url: 'https://www.shop.example/',
    tag_server_url: `https://sst.shop.example:${port}`,
    tag_manager_web_container_id: 'GTM-WEB1234',
  })
  return { state, site, port }
}

const NAMES = { 'sst.shop.example': ['127.0.0.1'] }
const ALIASES: Readonly<Record<string, string>> = {
  'sst.shop.example': 'EU.host.example.',
  'eu.host.example': 'lb.host.example.',
}
const outboundTo = (names = {}) =>
  testOutbound('127.0.0.0/8', { ...NAMES, ...names }, undefined, async (host) => {
    const alias = ALIASES[host]
    if (alias === undefined) throw Object.assign(new Error('ENODATA'), { code: 'ENODATA' })
    return [alias]
  })

const run = (t: TestContext, site: RunGiven['site'], given: Partial<RunGiven> = {}) =>
  runType(t, tagServerInfra, { site, outbound: outboundTo(), ...given })

test('from outside: a healthy first-party server that serves gtm.js is ok, with what was seen', async (t) => {
  const { site } = await shop(t)
  const outcome = await run(t, site)
  assert.equal(outcome.status, 'ok', outcome.message)
  assert.match(
    outcome.message,
    /^sst\.shop\.example:\d+\/healthy answered 200 in \d+ ms; its certificate has 60 days left$/,
  )
  const { first_party, dns, gtm_js, certificate } = seen(outcome)
  assert.equal(first_party.is_first_party, true)
  assert.deepEqual(dns?.addresses, ['127.0.0.1'])
  assert.equal(gtm_js?.is_served, true)
  assert.equal(certificate?.days_left, 60)
})

for (const [daysLeft, status] of [
  [21, 'warning'],
  [7, 'critical'],
] as const) {
  test(`from outside: a certificate with ${daysLeft} days left is ${status}`, async (t) => {
    const { site } = await shop(t, daysLeft)
    const outcome = await run(t, site)
    assert.equal(outcome.status, status)
    assert.deepEqual(checksOf(outcome), [`certificate ${status}`])
  })
}

test('from outside: a server that is down is critical, and said once', async (t) => {
  const site = siteRow({
    url: 'http://127.0.0.1/',
    tag_server_url: await deadAddress(),
    tag_manager_web_container_id: 'GTM-WEB1234',
  })
  const outcome = await run(t, site, { memory: { outside: { gtm_js: { container: 'GTM-WEB1234', served_at: NOW } } } })
  assert.equal(outcome.status, 'critical')
  assert.deepEqual(checksOf(outcome), ['answer critical'])
  assert.equal(outcome.isNetworkFailure, true)
})

test('from outside: a name that leads nowhere is critical, and said once', async (t) => {
  const outcome = await run(
    t,
    siteRow({ url: 'https://www.gone.example/', tag_server_url: 'https://sst.gone.example' }),
  )
  assert.equal(outcome.status, 'critical')
  assert.deepEqual(checksOf(outcome), ['answer critical'])
})

test('from outside: an answer that says it is not well is critical', async (t) => {
  const { site, state } = await shop(t)
  state.health = 503
  assert.equal((await run(t, site)).status, 'critical')
})

test('from outside: a tag server under another domain is a warning, unless the settings allow it', async (t) => {
  const { site } = await shop(t)
  const other = { ...site, url: 'https://www.other.example/' }
  const outcome = await run(t, other)
  assert.equal(outcome.status, 'warning')
  assert.match(outcome.message, /^the tag server is at shop\.example, the site at other\.example: /)
  assert.equal((await run(t, other, { config: { expect_first_party: false } })).status, 'ok')
})

test('from outside: a tag server that stops serving gtm.js is a warning, and one that never did is not', async (t) => {
  const { site, state } = await shop(t)
  state.script = 404
  const never = await run(t, site)
  assert.equal(never.status, 'ok', never.message)
  assert.equal(seen(never).gtm_js?.is_served, false)
  state.script = 200
  const served = await run(t, site, { memory: never.memory ?? {} })
  state.script = 404
  const stopped = await run(t, site, { memory: served.memory ?? {} })
  assert.equal(stopped.status, 'warning')
  assert.match(stopped.message, /^the tag server no longer serves the web container's script: .*gtm\.js answered 404$/)
  const still = await run(t, site, { memory: stopped.memory ?? {} })
  assert.equal(still.status, 'warning')
  const unwatched = await run(t, site, { memory: still.memory ?? {}, config: { watch_gtm_js: false } })
  assert.equal(unwatched.status, 'ok')
  const renewed = { ...site, tag_manager_web_container_id: 'GTM-OTHER12' }
  assert.equal((await run(t, renewed, { memory: still.memory ?? {} })).status, 'ok')
})

const TARGETS: readonly [targets: readonly string[], status: string][] = [
  [['eu.host.example'], 'ok'],
  [['LB.host.example.'], 'ok'],
  [['127.0.0.1'], 'ok'],
  [['same.example'], 'ok'],
  [['192.0.2.1', 'same.example'], 'ok'],
  [['other.example'], 'critical'],
  [['gone.example'], 'critical'],
  [['192.0.2.1'], 'critical'],
]
for (const [targets, status] of TARGETS) {
  test(`from outside: a name that should lead to ${targets.join(' or ')} is ${status}`, async (t) => {
    const { site } = await shop(t)
    const outbound = outboundTo({ 'same.example': ['127.0.0.1'], 'other.example': ['127.0.0.2'] })
    const outcome = await run(t, site, { outbound, config: { dns_targets: targets } })
    assert.equal(outcome.status, status, outcome.message)
    assert.deepEqual(seen(outcome).dns?.aliases, ['eu.host.example', 'lb.host.example'])
    if (status === 'critical') {
      assert.match(outcome.message, /^sst\.shop\.example points to eu\.host\.example, .* and no longer to /)
    }
  })
}

const UNCLEAR: readonly [what: string, lookups: Partial<Record<'of' | 'alias', string>>, status: string][] = [
  ['the look-up of the target', { of: 'ESERVFAIL' }, 'error'],
  ['the look-up of the target', { of: 'ENOTFOUND' }, 'critical'],
  ['the look-up of aliases', { alias: 'ETIMEOUT' }, 'error'],
  ['the look-up of aliases', { alias: 'ENODATA' }, 'critical'],
]
for (const [what, { of: code, alias }, status] of UNCLEAR) {
  test(`from outside: a target is ${status} when ${what} fails by ${code ?? alias}`, async (t) => {
    const { site } = await shop(t)
    const fail = (code: string) => Promise.reject(Object.assign(new Error(code), { code }))
    const outbound = testOutbound(
      '127.0.0.0/8',
      {},
      async (host) => (host === 'sst.shop.example' ? ['127.0.0.1'] : code === undefined ? ['127.0.0.2'] : fail(code)),
      () => fail(alias ?? 'ENODATA'),
    )
    const outcome = await run(t, site, { outbound, config: { dns_targets: ['lb.host.example'] } })
    assert.deepEqual([outcome.status, checksOf(outcome)], [status, [`dns_target ${status}`]], outcome.message)
    if (status === 'error') assert.match(outcome.message, / could not be looked up, so whether .* is not judged$/)
  })
}

test('from outside: a target that could not be looked up in time says nothing', async (t) => {
  const { site } = await shop(t)
  const toAll = outboundTo({})
  const times: unknown[] = []
  const outbound: Outbound = {
    ...toAll,
    resolve: (host, options) => {
      if (host !== 'slow.example') return toAll.resolve(host, options)
      times.push(options?.totalMs)
      return Promise.reject(new OutboundError('timeout', 'looking up the name of slow.example took longer than 10 s'))
    },
  }
  const config = { dns_targets: ['slow.example'] }
  const { status, message } = await run(t, site, { outbound, config, timeoutMs: 30_000 })
  assert.deepEqual([status, times], ['error', [30_000]])
  assert.match(
    message,
    /^where slow\.example points could not be looked up, so whether sst\.shop\.example points there is not/,
  )
})

test('from outside: a name that leads elsewhere than for a week is a warning for a day', async (t) => {
  const { site } = await shop(t)
  let memory: JsonObject = {}
  const at = async (now: number, address: string) => {
    const outbound = outboundTo({ 'sst.shop.example': [address] })
    const outcome = await run(t, site, { outbound, now, memory })
    memory = outcome.memory ?? {}
    return checksOf(outcome).filter((check) => check.startsWith('dns_'))
  }
  assert.deepEqual(await at(NOW, '127.0.0.1'), [])
  assert.deepEqual(await at(NOW + DAY, '127.1.0.1'), [])
  assert.deepEqual(await at(NOW + 8 * DAY, '127.0.0.9'), [])
  assert.deepEqual(await at(NOW + 9 * DAY, '127.2.0.1'), ['dns_move warning'])
  assert.deepEqual(await at(NOW + 9 * DAY + HOUR, '127.1.0.7'), [])
  assert.deepEqual(await at(NOW + 9 * DAY + 23 * HOUR, '127.2.0.1'), ['dns_move warning'])
  assert.deepEqual(await at(NOW + 10 * DAY, '127.2.0.1'), [])
})

test('from outside: a second look-up that fails, of a server that answers, is tried again and says nothing about the server', async (t) => {
  const { site } = await shop(t)
  const { resolve } = testOutbound('127.0.0.0/8', {
    'sst.shop.example': () => {
      throw Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' })
    },
  })
  const outcome = await run(t, site, { outbound: { ...outboundTo(), resolve } })
  assert.deepEqual([outcome.status, checksOf(outcome)], ['error', ['dns error']], outcome.message)
  assert.match(
    outcome.message,
    /^the DNS of sst\.shop\.example could not be reached: the name .* could not be looked up$/,
  )
  assert.equal(outcome.isNetworkFailure, true)
})

test('from outside: gtm.js that is cut off while the server is well is tried again before it is a warning', async (t) => {
  const { port } = await httpServer(t, ({ url, socket }, response) => {
    if (url === '/healthy') response.end('ok')
    else socket.destroy()
  })
  const site = siteRow({
    url: 'http://127.0.0.1/',
    tag_server_url: `http://127.0.0.1:${port}`,
    tag_manager_web_container_id: 'GTM-WEB1234',
  })
  const memory = { outside: { gtm_js: { container: 'GTM-WEB1234', served_at: NOW } } }
  const { status, isNetworkFailure } = await run(t, site, { memory })
  assert.deepEqual([status, isNetworkFailure], ['warning', true])
  assert.equal((await run(t, site)).isNetworkFailure, false)
})

test('from outside: a tag server at another address is not compared with the one before', async (t) => {
  const { site } = await shop(t)
  const { memory = {} } = await run(t, site)
  const usual = { since: NOW - 30 * DAY, networks: { '10.1': [NOW - 30 * DAY, NOW - HOUR] } }
  const times = Array.from({ length: 20 }, () => 100)
  const known = { ...memory, outside: { ...(memory.outside as JsonObject), dns: usual, times } }
  assert.deepEqual(checksOf(await run(t, site, { memory: known })), ['dns_move warning'])
  const { port } = await httpServer(t, ({ url }, response) =>
    response.writeHead(url === '/healthy' ? 200 : 404).end('ok'),
  )
  const moved = { ...site, tag_server_url: `http://tags.shop.example:${port}` }
  const outbound = outboundTo({ 'tags.shop.example': ['127.0.0.1'] })
  const outcome = await run(t, moved, { memory: known, outbound })
  assert.deepEqual([outcome.status, checksOf(outcome), seen(outcome).usual_ms], ['ok', [], null], outcome.message)
})

test('from outside: answers that take much longer than usual, time and again, are a warning', async (t) => {
  const { port } = await httpServer(t, (_request, response) => setTimeout(() => response.end('ok'), 1_010))
  const site = siteRow({ url: 'http://127.0.0.1', tag_server_url: `http://127.0.0.1:${port}` })
  const fast = Array.from({ length: 12 }, () => 100)
  const once = await run(t, site, { memory: { outside: { times: fast } } })
  assert.equal(once.status, 'ok')
  const again = await run(t, site, { memory: { outside: { times: [...fast, 1_200, 1_300] } } })
  assert.equal(again.status, 'warning')
  assert.match(again.message, /took 1200, 1300, \d+ ms for its last answers; usually 100 ms$/)
  assert.equal(seen(again).usual_ms, 100)
})

test('an address is neither looked up nor asked whether it is first-party', async (t) => {
  const { port } = await httpServer(t, (_request, response) => response.end('ok'))
  const outcome = await run(t, siteRow({ url: 'https://shop.example', tag_server_url: `http://127.0.0.1:${port}` }))
  assert.equal(outcome.status, 'ok')
  assert.equal(seen(outcome).dns, null)
  assert.equal(seen(outcome).first_party.is_first_party, null)
})

test('the host and the view from outside are one result, and the worse of them decides', async (t) => {
  const { port } = await httpServer(t, (_request, response) => response.end('ok'))
  const stape = await stapeServer(t)
  const site = siteRow({
    url: 'http://127.0.0.1',
    tag_server_url: `http://127.0.0.1:${port}`,
    hosting_a_container_id: CONTAINER,
  })
  const fine = await run(t, site, { settings: stape.settings })
  assert.match(fine.message, /\/healthy answered 200 in \d+ ms; container abcdefgh at hosting provider A is "Running"$/)
  Object.assign(stape.answers, { container: container({ status: { type: 4, label: 'Stopped' } }) })
  assert.equal((await run(t, site, { settings: stape.settings })).status, 'critical')
  const down = { ...site, tag_server_url: await deadAddress() }
  const both = await run(t, down, { settings: { ...stape.settings, hostingAToken: null } })
  assert.equal(both.status, 'critical')
  assert.deepEqual(checksOf(both), ['answer critical', 'hosting error'])
})
