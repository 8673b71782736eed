import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY, HOUR, MINUTE } from '../../../src/lib/index.ts'
import type { Outbound } from '../../../src/outbound/index.ts'
import type { JsonObject, ProbeOutcome } from '../../../src/probes/probe-type.ts'
import { tagManagerVersion } from '../../../src/probes/types/tag-manager-version.ts'
import { NOW } from '../../../testkit/clock.ts'
import { deadAddress } from '../../../testkit/listeners.ts'
import { httpServer, testOutbound } from '../../outbound/support.ts'
import { gtmScript } from './gtm-script.ts'
import { type RunGiven, runType, siteRow } from './run-type.ts'

const WEB = 'GTM-WEB1234'
const CONFIG = { check_page: false }

interface Served {
  status: number
  body: string
}

/** A host of gtm.js whose answers the test changes: the next of `answers`, and the last one for ever. */
async function scriptHost(t: TestContext) {
  const served = { answers: [{ status: 200, body: gtmScript('41') }] as Served[], paths: [] as string[] }
  const server = await httpServer(t, (request, response) => {
    served.paths.push(request.url ?? '')
    const [next] = served.answers.length > 1 ? served.answers.splice(0, 1) : served.answers
    response.writeHead(next?.status ?? 500, { 'content-type': 'application/javascript' })
    response.end(next?.body)
  })
  const show = (...versions: string[]) => {
    served.answers = versions.map((version) => ({ status: 200, body: gtmScript(version) }))
  }
  return { url: `http://127.0.0.1:${server.port}`, served, show }
}

/** A probe of a web container that remembers from run to run. */
async function watchedContainer(t: TestContext, given: Partial<RunGiven> = {}) {
  const host = await scriptHost(t)
  let memory: JsonObject = given.memory ?? {}
  const run = async (now = NOW, config: JsonObject = {}): Promise<ProbeOutcome> => {
    const outcome = await runType(t, tagManagerVersion, {
      site: siteRow({ tag_manager_web_container_id: WEB }),
      settings: { tagManagerBaseUrl: host.url },
      ...given,
      config: { ...CONFIG, ...given.config, ...config },
      memory,
      now,
    })
    memory = JSON.parse(JSON.stringify(outcome.memory ?? memory)) as JsonObject
    return outcome
  }
  return { ...host, run }
}

const webDetails = ({ details }: ProbeOutcome) => details.web as Record<string, unknown>

test('the first version seen is the baseline', async (t) => {
  const { run, served } = await watchedContainer(t)
  const outcome = await run()
  assert.deepEqual([outcome.status, outcome.message], ['ok', `Web container ${WEB} is at version 41`])
  assert.deepEqual(outcome.deployMarkers, [])
  assert.equal(typeof outcome.responseTimeMs, 'number')
  assert.deepEqual(served.paths, [`/gtm.js?id=${WEB}`])
})

test('a new version is a warning with a deploy marker, which clears after change_ttl_hours', async (t) => {
  const { run, show } = await watchedContainer(t)
  await run()
  show('42')
  const changed = await run(NOW + MINUTE)
  assert.deepEqual([changed.status, changed.message], ['warning', `Web container ${WEB} went from version 41 to 42`])
  assert.deepEqual(changed.deployMarkers, [
    {
      source: 'web container',
      fromVersion: '41',
      toVersion: '42',
      details: { container_id: WEB, is_rollback: false, seen_at: '2026-11-20T10:01:00.000Z' },
    },
  ])
  assert.deepEqual(webDetails(changed).changes, [{ from: '41', to: '42', seen_at: '2026-11-20T10:01:00.000Z' }])
  assert.equal(webDetails(changed).clears_at, '2026-11-21T10:01:00.000Z')

  const later = await run(NOW + 24 * HOUR)
  assert.deepEqual([later.status, later.deployMarkers], ['warning', []])
  const cleared = await run(NOW + 24 * HOUR + MINUTE)
  assert.deepEqual([cleared.status, cleared.message], ['ok', `Web container ${WEB} has been at version 42 for 24 h`])
})

test('a change that people have looked at is no longer reported, and the next one is', async (t) => {
  const given: Partial<RunGiven> = {}
  const { run, show } = await watchedContainer(t, given)
  await run()
  show('42')
  assert.equal((await run(NOW + MINUTE)).status, 'warning')
  given.lastReview = NOW
  assert.equal((await run(NOW + 2 * MINUTE)).status, 'warning')
  given.lastReview = NOW + 2 * MINUTE
  assert.equal((await run(NOW + 3 * MINUTE)).status, 'ok')
  show('43')
  assert.equal((await run(NOW + 4 * MINUTE)).status, 'warning')
})

test('a version lower than before is critical, and its marker says so', async (t) => {
  const { run, show } = await watchedContainer(t)
  await run()
  show('9')
  const outcome = await run(NOW + MINUTE)
  assert.deepEqual(
    [outcome.status, outcome.message],
    ['critical', `Web container ${WEB} went back from version 41 to 9`],
  )
  assert.equal(outcome.deployMarkers?.[0]?.details?.is_rollback, true)
})

test('a lower version that a second look does not see is an old copy of a cache', async (t) => {
  const { run, show } = await watchedContainer(t)
  await run()
  show('40', '41')
  const outcome = await run(NOW + MINUTE)
  assert.deepEqual([outcome.status, outcome.deployMarkers], ['ok', []])
})

test('another version than the expected one is critical, the expected one is ok although it is new', async (t) => {
  const { run, show } = await watchedContainer(t, { config: { expected_version: 42 } })
  const before = await run()
  assert.deepEqual(
    [before.status, before.message],
    ['critical', `Web container ${WEB} is at version 41, and version 42 is expected`],
  )
  show('42')
  const after = await run(NOW + MINUTE)
  assert.deepEqual([after.status, after.deployMarkers?.length], ['ok', 1])
})

test('another container id starts with a baseline of its own', async (t) => {
  const { run } = await watchedContainer(t)
  const memory = { web: { containerId: 'GTM-OTHER', version: '99', since: 0, changes: [] } }
  const host = await scriptHost(t)
  const outcome = await runType(t, tagManagerVersion, {
    site: siteRow({ tag_manager_web_container_id: WEB }),
    settings: { tagManagerBaseUrl: host.url },
    config: CONFIG,
    memory,
  })
  assert.equal(outcome.status, 'ok')
  assert.equal((await run()).status, 'ok')
})

test('a memory that another program left is no obstacle', async (t) => {
  const host = await scriptHost(t)
  const outcome = await runType(t, tagManagerVersion, {
    site: siteRow({ tag_manager_web_container_id: WEB }),
    settings: { tagManagerBaseUrl: host.url },
    config: CONFIG,
    memory: { web: 7, copy_differs_since: 'x' },
  })
  assert.equal(outcome.status, 'ok')
})

test('a container that Google does not know is critical', async (t) => {
  const { run, served } = await watchedContainer(t)
  served.answers = [{ status: 404, body: '' }]
  const outcome = await run()
  assert.equal(outcome.status, 'critical')
  assert.match(outcome.message, /does not exist, or was never published/)
  assert.equal(served.paths.length, 2)
})

test('a 404 of Google that a second look does not see is no missing container', async (t) => {
  const { run, served } = await watchedContainer(t)
  const found = { status: 200, body: gtmScript('41') }
  served.answers = [{ status: 404, body: '' }, found]
  assert.equal((await run()).status, 'ok')
  served.answers = [
    { status: 404, body: '' },
    { status: 503, body: '' },
  ]
  const unclear = await run(NOW + MINUTE)
  assert.equal(unclear.status, 'error')
  assert.match(unclear.message, /could not be read from Google: it answers 503/)
  // An old copy is served after a 404: the lower version, too, counts only if it is seen twice.
  served.answers = [{ status: 404, body: '' }, { status: 200, body: gtmScript('40') }, found]
  assert.equal((await run(NOW + 2 * MINUTE)).status, 'ok')
})

const UNREADABLE: readonly [what: string, answer: Served, said: RegExp][] = [
  ['an answer of 500', { status: 500, body: '' }, /it answers 500/],
  ['a refusal', { status: 403, body: '' }, /it answers 403/],
  ['a page without a version', { status: 200, body: '<html></html>' }, /contains no version/],
  ['an endless script without a version', { status: 200, body: `"${'x'.repeat(3_000_000)}` }, /contains no version/],
]

for (const [what, answer, said] of UNREADABLE) {
  test(`${what} of Google's host is an error, and the version known before stays known`, async (t) => {
    const { run, served, show } = await watchedContainer(t)
    await run()
    served.answers = [answer]
    const outcome = await run(NOW + MINUTE)
    assert.equal(outcome.status, 'error')
    assert.match(outcome.message, said)
    show('42')
    assert.equal((await run(NOW + 2 * MINUTE)).status, 'warning')
  })
}

test("Google's host that cannot be reached is an error that is tried again", async (t) => {
  const outcome = await runType(t, tagManagerVersion, {
    site: siteRow({ tag_manager_web_container_id: WEB }),
    settings: { tagManagerBaseUrl: await deadAddress() },
    config: CONFIG,
  })
  assert.deepEqual([outcome.status, outcome.isNetworkFailure], ['error', true])
  assert.match(outcome.message, /nothing listens/)
})

test("Google's host that does not answer in time is an error", async (t) => {
  const server = await httpServer(t, () => {})
  const outcome = await runType(t, tagManagerVersion, {
    site: siteRow({ tag_manager_web_container_id: WEB }),
    settings: { tagManagerBaseUrl: `http://127.0.0.1:${server.port}` },
    config: CONFIG,
    timeoutMs: 200,
  })
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /did not answer in time/)
})

test('a copy on the tag server may be late for copy_lag_minutes, then it is stale', async (t) => {
  const copy = await scriptHost(t)
  const { run, show } = await watchedContainer(t, {
    site: siteRow({ tag_manager_web_container_id: WEB, tag_server_url: `${copy.url}/metrics/` }),
    config: { change_ttl_hours: 0 },
  })
  assert.equal((await run()).status, 'ok')
  assert.deepEqual(copy.served.paths, [`/metrics/gtm.js?id=${WEB}`])
  show('42')
  const late = await run(NOW + MINUTE)
  assert.equal(late.status, 'ok')
  assert.match(late.message, /still serves version 41, where 42 is published/)
  const stale = await run(NOW + 61 * MINUTE)
  assert.equal(stale.status, 'warning')
  assert.match(stale.message, /serves version 41 of the web container, where 42 is published, for 60 min/)
  copy.show('42')
  assert.equal((await run(NOW + 62 * MINUTE)).status, 'ok')
})

test('a copy that follows one release after another is as late as the version that it serves', async (t) => {
  const copy = await scriptHost(t)
  const { run, show } = await watchedContainer(t, {
    site: siteRow({ tag_manager_web_container_id: WEB, tag_server_url: copy.url }),
    config: { change_ttl_hours: 0 },
  })
  await run()
  show('42')
  await run(NOW + MINUTE)
  copy.show('42')
  show('43')
  await run(NOW + 50 * MINUTE)
  const late = await run(NOW + 62 * MINUTE)
  assert.equal(late.status, 'ok', late.message)
  assert.match(late.message, /still serves version 42, where 43 is published, for 12 min/)
  // Caches that serve several old copies in turn are stale as soon as the newest of them is.
  copy.show('41')
  assert.equal((await run(NOW + 109 * MINUTE)).status, 'ok')
  copy.show('42')
  assert.equal((await run(NOW + 110 * MINUTE)).status, 'warning')
})

test('a copy of another container than before is no later than that container is watched', async (t) => {
  const copy = await scriptHost(t)
  copy.show('40')
  const { run } = await watchedContainer(t, {
    site: siteRow({ tag_manager_web_container_id: WEB, tag_server_url: copy.url }),
    memory: {
      web: { containerId: 'GTM-BEFORE', version: '7', since: NOW - 9 * DAY, changes: [] },
      copy_differs_since: NOW - DAY,
    },
  })
  const first = await run()
  assert.equal(first.status, 'ok', first.message)
  assert.equal((await run(NOW + HOUR)).status, 'warning')
})

test('a tag server that hands out no container is not judged by it', async (t) => {
  const copy = await scriptHost(t)
  copy.served.answers = [{ status: 404, body: '' }]
  const { run } = await watchedContainer(t, {
    site: siteRow({ tag_manager_web_container_id: WEB, tag_server_url: copy.url }),
  })
  const outcome = await run()
  assert.deepEqual([outcome.status, outcome.details.copy], ['ok', null])
})

test('a preview left on the page is a warning that does not reveal its key', async (t) => {
  const page = await httpServer(t, (_, response) => {
    response.end("<script>'gtm.js?id='+i+'&gtm_auth=s3cret&gtm_preview=env-3'</script>")
  })
  const { run } = await watchedContainer(t, {
    site: siteRow({ tag_manager_web_container_id: WEB, url: `http://127.0.0.1:${page.port}/` }),
    config: { check_page: true },
  })
  const outcome = await run()
  assert.equal(outcome.status, 'warning')
  assert.match(outcome.message, /environment or preview env-3 of the web container/)
  assert.ok(!JSON.stringify(outcome).includes('s3cret'))
})

test('the script may take as long as the probe may, and not ten seconds', async (t) => {
  const times: unknown[] = []
  const toAll = testOutbound('127.0.0.0/8')
  const outbound: Outbound = {
    ...toAll,
    fetchBytes: (url, request) => {
      times.push(request?.limits?.totalMs)
      return toAll.fetchBytes(url, request)
    },
  }
  const { run } = await watchedContainer(t, { outbound, timeoutMs: 30_000 })
  assert.equal((await run()).status, 'ok')
  assert.deepEqual(times, [30_000])
})

test('a page that is longer than what is read is not said to be checked where nothing was found', async (t) => {
  const snippet = "<script>'gtm.js?id='+i+'&gtm_preview=env-3'</script>"
  const page = await httpServer(t, ({ url }, response) => {
    const long = ' '.repeat(1_100_000)
    response.end(url === '/early' ? snippet + long : long + snippet)
  })
  const checked = async (path: string) => {
    const site = siteRow({ tag_manager_web_container_id: WEB, url: `http://127.0.0.1:${page.port}/${path}` })
    const { run } = await watchedContainer(t, { site, config: { check_page: true } })
    const { status, checked, why } = (await run()).details.page as Record<string, unknown>
    return [status, checked, why]
  }
  assert.deepEqual(await checked('late'), ['ok', false, 'only its first 1 MB was read'])
  assert.deepEqual(await checked('early'), ['warning', true, undefined])
})

test('a page that cannot be read is left to other checks', async (t) => {
  const { run } = await watchedContainer(t, { config: { check_page: true } })
  const outcome = await run()
  assert.equal(outcome.status, 'ok')
  assert.equal((outcome.details.page as Record<string, unknown>).checked, false)
})
