import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY } from '../../../src/lib/index.ts'
import { configFaults, type JsonObject } from '../../../src/probes/probe-type.ts'
import { imageVersion } from '../../../src/probes/types/image-version.ts'
import { deadAddress } from '../../../testkit/listeners.ts'
import { createAuthority, createCertificate, trust } from '../../outbound/certificates.ts'
import { httpServer, httpsServer, testOutbound } from '../../outbound/support.ts'
import { type RunGiven, runType, siteRow } from './run-type.ts'
import { CONTAINER, container, KEY, stapeServer } from './stape-server.ts'

/** All releases of the table were out. */
const NOW = Date.parse('2026-11-25T12:00:00Z')

const run = (t: TestContext, given: Partial<RunGiven>) =>
  runType(t, imageVersion, { site: siteRow(), now: NOW, ...given })

/** An address that answers so. */
async function answering(t: TestContext, body: string, status = 200, headers: Record<string, string> = {}) {
  const { port } = await httpServer(t, (_request, response) => response.writeHead(status, headers).end(body))
  return `http://127.0.0.1:${port}/version?key=s3cret`
}

test('an image that is a year behind is a warning that names the releases between', async (t) => {
  const version_url = await answering(t, '3.0.0\n')
  const outcome = await run(t, { config: { version_url } })
  assert.equal(outcome.status, 'warning')
  assert.equal(
    outcome.message,
    'The image is 3.0.0 of 2025-05-15, 511 days behind 4.5.0 of 2026-10-08; between them came 3.1.0, 3.2.0, 4.0.0, 4.2.0, 4.3.0, 4.4.0',
  )
  assert.equal(outcome.details.behind_days, 511)
  assert.match(String(outcome.details.source), /^127\.0\.0\.1:\d+\/version$/)
  assert.doesNotMatch(JSON.stringify(outcome), /s3cret/)
  assert.deepEqual(outcome.memory, { version: '3.0.0', source: outcome.details.source })
  assert.equal(typeof outcome.responseTimeMs, 'number')
  assert.equal((await run(t, { config: { version_url, max_behind_days: 512 } })).status, 'ok')
})

test('an image within the year is ok', async (t) => {
  const version_url = await answering(t, '{"version":"4.4.0"}')
  const outcome = await run(t, { config: { version_url } })
  assert.deepEqual(
    [outcome.status, outcome.message],
    ['ok', 'The image is 4.4.0 of 2026-07-22, 78 days behind 4.5.0 of 2026-10-08'],
  )
})

test('another version than the last time is marked as a deploy, once and not at first', async (t) => {
  const version_url = await answering(t, '4.5.0')
  const markers = async (memory: JsonObject) => (await run(t, { config: { version_url }, memory })).deployMarkers
  assert.deepEqual(await markers({}), [])
  assert.deepEqual(await markers({ version: 7 }), [])
  assert.deepEqual(await markers({ version: '4.5.0' }), [])
  assert.deepEqual(await markers({ version: '4.2.0' }), [
    { source: 'tag server image', fromVersion: '4.2.0', toVersion: '4.5.0' },
  ])
})

test('the version at another address is no deploy', async (t) => {
  const [staging, live] = await Promise.all([answering(t, '4.5.0'), answering(t, '4.2.0')])
  const { memory = {} } = await run(t, { config: { version_url: staging } })
  const moved = await run(t, { config: { version_url: live }, memory })
  assert.deepEqual(moved.deployMarkers, [])
  const back = await run(t, { config: { version_url: live }, memory: { ...moved.memory, version: '4.0.0' } })
  assert.equal(back.deployMarkers?.length, 1)
})

test('a JSON pointer says where the version is', async (t) => {
  const body = JSON.stringify({ spec: { 'a/b': [{ image: 'gcr.io/cloud-tagging-10302018/gtm-cloud-image:4.3.0' }] } })
  const version_url = await answering(t, body)
  const found = await run(t, { config: { version_url, json_pointer: '/spec/a~1b/0/image' } })
  assert.deepEqual([found.status, found.details.version], ['ok', '4.3.0'])
  const missing = await run(t, { config: { version_url, json_pointer: '/spec/image' } })
  assert.equal(missing.status, 'error')
  assert.match(missing.message, /^The answer of 127\.0\.0\.1:\d+\/version has nothing at \/spec\/image$/)
})

const UNREADABLE: readonly [what: string, body: string, status: number, said: RegExp][] = [
  ['404', '4.5.0', 404, / is 404$/],
  ['500', '4.5.0', 500, / is 500$/],
  ['401', '4.5.0', 401, / is 401: it requires a version_token$/],
  ['a web page', '<!doctype html><title>jQuery 3.6.0</title>', 200, / names no version: "<!doctype html>/],
  ['nothing', '', 200, / names no version: ""$/],
  ['a tag that moves', 'gcr.io/cloud-tagging-10302018/gtm-cloud-image:stable', 200, / names no version: ".*:stable"$/],
  ['another digest', `image@sha256:${'a'.repeat(64)}`, 200, / by a digest of no release that this version knows/],
  ['an object without it', '{"name":"shop"}', 200, / has none of version, .*: set json_pointer$/],
  ['100 kB', `4.5.0${' '.repeat(100_000)}`, 200, / is longer than 64 kB$/],
  ['a long line', `${'4.5.'.repeat(1_000)}`, 200, / is longer than the 300 characters/],
]
for (const [what, body, status, said] of UNREADABLE) {
  test(`an address that answers ${what} is an error`, async (t) => {
    const outcome = await run(t, {
      config: { version_url: await answering(t, body, status) },
      memory: { version: '4.2.0' },
    })
    assert.equal(outcome.status, 'error')
    assert.match(outcome.message, said)
    assert.equal(outcome.memory, undefined)
    assert.doesNotMatch(JSON.stringify(outcome), /s3cret/)
  })
}

test('a redirect is an error that says where it leads, and is not followed', async (t) => {
  const version_url = await answering(t, '', 301, { location: 'http://elsewhere.example/v?key=s3cret' })
  const outcome = await run(t, { config: { version_url } })
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /redirects \(301\) to elsewhere\.example\/v, which is not followed$/)
})

test('an address that does not answer is an error, and is tried again', async (t) => {
  const away = await run(t, { config: { version_url: await deadAddress() } })
  assert.deepEqual([away.status, away.isNetworkFailure], ['error', true])
  const { port } = await httpServer(t, () => {})
  const slow = await run(t, { config: { version_url: `http://127.0.0.1:${port}/` }, timeoutMs: 100 })
  assert.equal(slow.status, 'error')
  assert.match(slow.message, /100 ms/)
})

test('an address that must not be reached from here is an error', async (t) => {
  const outcome = await run(t, { config: { version_url: await answering(t, '4.5.0') }, outbound: testOutbound() })
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /could not be reached/)
})

test('a token is sent to the address as a bearer token, and shown nowhere', async (t) => {
  const authority = await createAuthority('Image Authority')
  trust(authority)
  const certificate = await createCertificate({ authority, host: 'here.example', validTo: Date.now() + 60 * DAY })
  const { port } = await httpsServer(t, certificate, (request, response) =>
    request.headers.authorization === 'Bearer image-t0ken' ? response.end('v4.5.0') : response.writeHead(403).end(),
  )
  const config = { version_url: `https://here.example:${port}/v`, version_token: 'image-t0ken' }
  const outcome = await run(t, { config, outbound: testOutbound() })
  assert.deepEqual([outcome.status, outcome.message], ['ok', 'The image is 4.5.0 of 2026-10-08, the newest'])
  assert.doesNotMatch(JSON.stringify(outcome), /t0ken/)
  const wrong = await run(t, { config: { ...config, version_token: 'another-t0ken' }, outbound: testOutbound() })
  assert.equal(wrong.status, 'error')
  assert.match(wrong.message, /does not accept the version_token$/)
  assert.doesNotMatch(JSON.stringify(wrong), /t0ken/)
})

const SITE = siteRow({ hosting_a_container_id: CONTAINER })

test('hosting A: its container says the version, where its answer has it', async (t) => {
  const server = await stapeServer(t, { container: container({ imageVersion: '2.4.0', plan: { image: 'v4.5.0' } }) })
  const usual = await run(t, { site: SITE, settings: server.settings })
  assert.deepEqual([usual.status, usual.details.version], ['warning', '2.4.0'])
  assert.equal(usual.details.source, `container ${CONTAINER} at hosting provider A`)
  const config = { json_pointer: '/body/plan/image' }
  const pointed = await run(t, { site: SITE, settings: server.settings, config })
  assert.deepEqual([pointed.status, pointed.details.version], ['ok', '4.5.0'])
  assert.doesNotMatch(JSON.stringify([usual, pointed]), /s3cret|stape-key/)
  assert.equal(server.asked.length, 2)
})

test('hosting A: a container that does not say it is an error that names the way out', async (t) => {
  const server = await stapeServer(t)
  const outcome = await run(t, { site: SITE, settings: server.settings })
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /has none of imageVersion, .*: set json_pointer, or set version_url$/)
})

test('hosting A: a container that it does not know, and a refused key, are errors', async (t) => {
  const gone = await stapeServer(t, { statuses: { '*': 404 } })
  assert.equal((await run(t, { site: SITE, settings: gone.settings })).status, 'error')
  const server = await stapeServer(t)
  const refused = await run(t, { site: SITE, settings: { ...server.settings, hostingAToken: 'wrong-key-0123456789' } })
  assert.equal(refused.status, 'error')
  assert.match(refused.message, /refuses the key \(401\)/)
  const own = await run(t, {
    site: SITE,
    settings: { ...server.settings, hostingAToken: null },
    config: { hosting_a_token: KEY, json_pointer: '/body/name' },
  })
  assert.match(own.message, /names no version: "Shop"/)
})

test('without anyone who says it the check is an error that says what to set', async (t) => {
  const none = await run(t, {})
  assert.deepEqual([none.status, none.details.reason], ['error', 'no_source'])
  assert.match(none.message, /set version_url/)
  const keyless = await run(t, { site: SITE })
  assert.match(keyless.message, /HOSTING_A_TOKEN/)
})

const FAULTS: readonly [what: string, config: JsonObject, path: string][] = [
  ['an address that is none', { version_url: 'https://' }, '/config/version_url'],
  ['another scheme', { version_url: 'file:///etc/passwd' }, '/config/version_url'],
  ['a name and password in the address', { version_url: 'https://me:s3cret@host.example/' }, '/config/version_url'],
  [
    'a token that would go over http',
    { version_url: 'http://host.example/', version_token: 't0ken' },
    '/config/version_url',
  ],
  ['a token without an address', { version_token: 't0ken' }, '/config/version_token'],
  ['a token of two lines', { version_url: 'https://host.example/', version_token: 't0\nken' }, '/config/version_token'],
  [
    'a pointer without a slash',
    { version_url: 'https://host.example/', json_pointer: 'version' },
    '/config/json_pointer',
  ],
  [
    'a pointer with a bad escape',
    { version_url: 'https://host.example/', json_pointer: '/a~2' },
    '/config/json_pointer',
  ],
  ['a bound of no days', { max_behind_days: 0 }, '/config/max_behind_days'],
]
for (const [what, config, path] of FAULTS) {
  test(`an image probe with ${what} is refused, and shows no secret`, () => {
    const faults = configFaults(imageVersion, config)
    assert.deepEqual(
      faults.map((fault) => fault.path),
      [path],
    )
    assert.doesNotMatch(JSON.stringify(faults), /s3cret|t0/)
  })
}
