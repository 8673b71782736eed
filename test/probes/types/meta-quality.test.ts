import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { number } from '../../../src/lib/index.ts'
import { configFaults, type JsonObject, type ProbeOutcome } from '../../../src/probes/probe-type.ts'
import { metaQuality } from '../../../src/probes/types/meta-quality.ts'
import { deadAddress } from '../../../testkit/listeners.ts'
import { browserOnly, DATASET, graphError, graphServer, metaServer, quality, TOKEN } from './meta-server.ts'
import { type RunGiven, runType, siteRow } from './run-type.ts'

const CONFIG = { dataset_id: DATASET, access_token: TOKEN }

const run = (t: TestContext, settings: RunGiven['settings'], given: Partial<RunGiven> = {}): Promise<ProbeOutcome> =>
  runType(t, metaQuality, {
    site: siteRow(),
    settings: settings ?? {},
    ...given,
    config: { ...CONFIG, ...given.config },
  })

test('events that Meta matches well are ok; the token goes in the header, and is in no address or outcome', async (t) => {
  const server = await metaServer(t, [quality('Purchase'), quality('Lead')])
  const outcome = await run(t, server.settings)
  assert.deepEqual(
    [outcome.status, outcome.message],
    ['ok', 'Event match quality of 2 events is 6 of 10 or more, the lowest 7.4 of “Purchase”'],
  )
  assert.deepEqual(outcome.details, {
    findings: [],
    judged: 6,
    unjudged: 0,
    left_out: 0,
    dataset_id: DATASET,
    events_known: 2,
    fields_not_offered: [],
    events: ['Purchase', 'Lead'].map((event_name) => ({
      event_name,
      match_quality: 7.4,
      coverage_percent: 82.5,
      upload_frequency: 'real_time',
    })),
    not_judged: [],
    unknown_events: [],
  })
  const [asked] = server.asked
  assert.equal(server.asked.length, 1)
  assert.equal(
    asked?.fields,
    'web{event_name,event_match_quality{composite_score},event_coverage{percentage,goal_percentage},data_freshness{upload_frequency}}',
  )
  assert.doesNotMatch(`${asked?.url}${JSON.stringify(outcome)}`, /EAAB/)
  assert.equal(typeof outcome.responseTimeMs, 'number')
})

test('each event and figure that is bad has a finding of its own, with its unit', async (t) => {
  const server = await metaServer(t, [
    quality('Purchase', { event_match_quality: { composite_score: 3.1 } }),
    quality('Lead', { event_coverage: { percentage: 12.25 }, data_freshness: { upload_frequency: 'DAILY' } }),
    browserOnly('PageView'),
  ])
  const outcome = await run(t, server.settings)
  assert.equal(outcome.status, 'critical')
  assert.deepEqual(
    outcome.findings?.map(({ subject, status }) => [subject, status]),
    [
      [{ event_name: 'Purchase', field: 'match_quality' }, 'critical'],
      [{ event_name: 'Lead', field: 'coverage' }, 'warning'],
      [{ event_name: 'Lead', field: 'upload_frequency' }, 'warning'],
    ],
  )
  assert.equal(metaQuality.figure?.(3.1, number, { field: 'match_quality' }), '3.1 of 10')
  assert.equal(metaQuality.figure?.(12.25, number, { field: 'coverage' }), '12 %')
})

test('fields that the API does not have are asked for no more in the run, not judged, and named', async (t) => {
  const server = await metaServer(
    t,
    [{ event_name: 'Purchase', event_match_quality: { composite_score: 8 } }],
    ['goal_percentage', 'data_freshness'],
  )
  const outcome = await run(t, server.settings)
  assert.equal(outcome.status, 'ok')
  assert.equal(
    outcome.message,
    'Event match quality of “Purchase” is 8 of 10, 6 is enough (not judged: Meta says no coverage of “Purchase”, no freshness of “Purchase”)',
  )
  assert.deepEqual(outcome.details.fields_not_offered, ['event_coverage', 'data_freshness'])
  assert.deepEqual(outcome.details.not_judged, [{ event_name: 'Purchase', figures: ['coverage', 'upload_frequency'] }])
  assert.equal(server.asked.length, 3)
})

test('an API that refuses every field, or always the same one, is not asked for ever', async (t) => {
  const none = await metaServer(t, [{ event_name: 'Purchase' }], ['composite_score', 'percentage', 'upload_frequency'])
  const outcome = await run(t, none.settings)
  assert.deepEqual([outcome.status, outcome.reason], ['ok', 'no_data'])
  assert.equal(none.asked.length, 4)
  const stubborn = await graphServer(t, (_asked, response) =>
    response.writeHead(400).end(JSON.stringify(graphError(100, 'Tried accessing nonexistent field (percentage)'))),
  )
  assert.equal((await run(t, stubborn.settings)).status, 'error')
  assert.equal(stubborn.asked.length, 2)
})

const NOTHING: readonly [what: string, events: readonly object[], config: JsonObject, said: RegExp][] = [
  ['a dataset without events', [], {}, /^Meta knows no web event of dataset 1234567890123456 yet/],
  ['events without any figure', [browserOnly('PageView')], {}, /^Meta reports neither match quality nor coverage nor/],
  [
    'none of the chosen events',
    [quality('Lead')],
    { events: ['Purchase'] },
    /^Meta reports nothing about Purchase in dataset/,
  ],
]
for (const [what, events, config, said] of NOTHING) {
  test(`${what}: nothing was judged, and the result says so`, async (t) => {
    const server = await metaServer(t, events)
    const outcome = await run(t, server.settings, { config })
    assert.deepEqual([outcome.status, outcome.reason], ['ok', 'no_data'])
    assert.match(outcome.message, said)
    assert.deepEqual(outcome.fine, [])
  })
}

/** What an echoing server would send back of a token. */
const ECHO = `Malformed access token ${TOKEN}`

const REFUSALS: readonly [what: string, status: number, body: unknown, reason: string, said: RegExp][] = [
  [
    'an expired token',
    400,
    graphError(190, ECHO, { error_subcode: 463 }),
    'token',
    /^Meta does not accept the access token \(code 190\): it has expired/,
  ],
  ['401 without a word', 401, '', 'token', /^Meta does not accept the access token \(401\)/],
  [
    'a missing permission',
    403,
    graphError(200, ECHO),
    'forbidden',
    /^The access token may not read dataset 1234567890123456 \(code 200\): it needs ads_read/,
  ],
  ['403 without a word', 403, 'no', 'forbidden', /\(403\)/],
  [
    'an unknown dataset',
    400,
    graphError(100, ECHO, { error_subcode: 2_044_055 }),
    'not_found',
    /^Meta knows no dataset 1234567890123456/,
  ],
  [
    'too many requests',
    429,
    graphError(4, ECHO),
    'quota',
    /^Meta accepts no more requests for now \(code 4\), for another 90 s/,
  ],
  ['an HTML 502', 502, '<html><body>Bad Gateway</body></html>', 'unavailable', /^Meta is unavailable \(502\)$/],
  [
    'an HTML 403 of a proxy',
    403,
    '<html><body>Access denied</body></html>',
    'bad_answer',
    /^A web page answered instead of Meta \(403\): a proxy or firewall /,
  ],
  ['an error with 200', 200, graphError(190, ECHO), 'token', /^Meta does not accept/],
  [
    'something else',
    400,
    graphError(2_500, ECHO),
    'bad_request',
    /^Meta rejects the request \(code 2500\): Malformed access token …$/,
  ],
  ['half of the token', 400, graphError(2_500, `got ${TOKEN.slice(5, 60)}`), 'bad_request', /: got …$/],
  ['an error that is text', 400, { error: TOKEN }, 'bad_request', /^Meta rejects the request \(400\)$/],
  [
    'a web page',
    200,
    '<!doctype html><title>Log in</title>',
    'bad_answer',
    /^Meta answered with something that is not JSON/,
  ],
  ['an empty answer', 200, '', 'bad_answer', /not JSON/],
  ['a list', 200, [], 'bad_answer', /^Meta answered without a list of web events$/],
  ['nested lists', 200, `${'['.repeat(300_000)}`, 'bad_answer', /too nested or too long$/],
  ['2 MB', 200, `{"web":[],"x":"${'x'.repeat(2_000_000)}"}`, 'bad_answer', /^Meta answered with more than 1 MB$/],
]
for (const [what, status, body, reason, said] of REFUSALS) {
  test(`${what} is an error and never critical, and shows no token`, async (t) => {
    const server = await graphServer(t, (_asked, response) =>
      response.writeHead(status, { 'retry-after': '90' }).end(typeof body === 'string' ? body : JSON.stringify(body)),
    )
    const outcome = await run(t, server.settings)
    assert.equal(outcome.status, 'error')
    assert.match(outcome.message, said)
    assert.equal(outcome.details.reason, reason)
    assert.equal(outcome.findings, undefined)
    const shown = JSON.stringify(outcome)
    assert.ok(!shown.includes(TOKEN.slice(5, 40)), shown)
  })
}

test('a redirect is not followed, so that the token stays with Meta', async (t) => {
  const elsewhere = await graphServer(t, (_asked, response) => response.end('{"web":[]}'))
  const server = await graphServer(t, (_asked, response) =>
    response.writeHead(302, { location: `${elsewhere.settings.metaApiUrl}/login` }).end(),
  )
  const outcome = await run(t, server.settings)
  assert.deepEqual([outcome.status, outcome.details.reason], ['error', 'bad_answer'])
  assert.match(outcome.message, /^Meta redirects \(302\), which is not followed/)
  assert.equal(elsewhere.asked.length, 0)
})

const UNREACHABLE: readonly [what: string, answer: (response: ServerResponse) => unknown][] = [
  ['says nothing', () => {}],
  ['trickles', (response) => response.writeHead(200).write('{"web":[')],
]
for (const [what, answer] of UNREACHABLE) {
  test(`a Meta that ${what} is an error once the time is over`, async (t) => {
    const server = await graphServer(t, (_asked, response) => answer(response))
    const outcome = await run(t, server.settings, { timeoutMs: 150 })
    assert.deepEqual([outcome.status, outcome.details.reason], ['error', 'unreachable'])
    assert.match(outcome.message, /^Meta could not be reached: .*150 ms/)
  })
}

test('no way to Meta is an error that is tried again', async (t) => {
  const outcome = await run(t, { metaApiUrl: await deadAddress() })
  assert.deepEqual([outcome.status, outcome.details.reason], ['error', 'unreachable'])
  assert.equal(outcome.isNetworkFailure, true)
})

test('details fit into a result, whatever Meta lists', async (t) => {
  const bad = { event_match_quality: { composite_score: 1 } }
  const server = await metaServer(
    t,
    Array.from({ length: 400 }, (_, at) => quality(`${at} ${'é"'.repeat(100)}`, bad)),
  )
  const outcome = await run(t, server.settings, { config: { events: [] } })
  assert.equal(outcome.status, 'critical')
  assert.ok(JSON.stringify(outcome.details).length <= 16_000)
  assert.equal(outcome.findings?.length, 300)
})

const FAULTS: readonly [what: string, config: JsonObject, path: string][] = [
  ['without a dataset', { access_token: TOKEN }, '/config/dataset_id'],
  ['with a dataset that is no number', { ...CONFIG, dataset_id: 'act_12345' }, '/config/dataset_id'],
  ['without a token', { dataset_id: DATASET }, '/config/access_token'],
  ['with a short token', { ...CONFIG, access_token: 'EAAB' }, '/config/access_token'],
  ['with a token and a line break', { ...CONFIG, access_token: `${TOKEN}\n` }, '/config/access_token'],
  ['with a score above 10', { ...CONFIG, warning_match_quality: 60 }, '/config/warning_match_quality'],
  ['with bounds the wrong way round', { ...CONFIG, critical_match_quality: 7 }, '/config/critical_match_quality'],
  [
    'with coverages the wrong way round',
    { ...CONFIG, critical_coverage_percent: 60 },
    '/config/critical_coverage_percent',
  ],
  ['with another upload', { ...CONFIG, slowest_upload: 'weekly' }, '/config/slowest_upload'],
]
for (const [what, config, path] of FAULTS) {
  test(`a probe ${what} is refused, and the message shows no token`, () => {
    const faults = configFaults(metaQuality, config)
    assert.deepEqual([...new Set(faults.map((fault) => fault.path))], [path])
    assert.doesNotMatch(JSON.stringify(faults), /EAAB/)
  })
}

test('a dataset and a token are all that a probe needs', () => assert.deepEqual(configFaults(metaQuality, CONFIG), []))
