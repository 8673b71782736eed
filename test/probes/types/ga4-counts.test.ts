import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { HOUR } from '../../../src/lib/index.ts'
import { configFaults } from '../../../src/probes/probe-type.ts'
import { ga4Counts } from '../../../src/probes/types/ga4-counts.ts'
import { NOW } from '../../../testkit/clock.ts'
import { deadAddress, startAnswering } from '../../../testkit/listeners.ts'
import { PROPERTY, QUOTA, reportOf, rowOf, runGa4, SCOPE } from './ga4-server.ts'
import { EMAIL, googleError, googleServer, type Reply } from './google-server.ts'
import { siteRow } from './run-type.ts'

/** Settled at `NOW` are hours up to 18 November, 10:00 UTC. */
const ROWS = [
  ['purchase', '2026111711', 30],
  ['purchase', '2026111810', 7],
  ['purchase', '2026111823', 2],
] as const

test('settled hours are written by the UTC hour, with one question that names the quota', async (t) => {
  const { google, outcome, written } = await runGa4(t, () => reportOf(ROWS))
  assert.deepEqual(
    [outcome.status, outcome.reason, outcome.message],
    ['ok', undefined, '“GA4” counted 37 “purchase” in 7 days until 18 Nov, 11:00, 2 days ago'],
  )
  assert.equal(written.length, 7 * 24)
  assert.deepEqual(
    written.filter(({ count }) => count > 0),
    [
      { source: 'GA4', event: 'purchase', hour: Date.parse('2026-11-17T10:00Z'), count: 30 },
      { source: 'GA4', event: 'purchase', hour: Date.parse('2026-11-18T09:00Z'), count: 7 },
    ],
  )
  const [asked, ...more] = google.asked
  assert.deepEqual(more, [])
  assert.deepEqual([asked?.method, asked?.path], ['POST', `/v1beta/properties/${PROPERTY}:runReport?prettyPrint=false`])
  assert.deepEqual(JSON.parse(asked?.body ?? ''), {
    dateRanges: [{ startDate: '2026-11-10', endDate: '2026-11-18' }],
    dimensions: [{ name: 'eventName' }, { name: 'dateHour' }],
    metrics: [{ name: 'eventCount' }],
    dimensionFilter: {
      filter: { fieldName: 'eventName', inListFilter: { values: ['purchase'], caseSensitive: true } },
    },
    limit: '225',
    returnPropertyQuota: true,
  })
  assert.deepEqual(
    [outcome.details.timezone, outcome.details.newest_until, outcome.details.paused_until],
    ['Europe/Berlin', '2026-11-18T10:00:00.000Z', null],
  )
})

test('events may have another name in GA4, and those that it does not have are named and not written', async (t) => {
  const config = { events: ['order=purchase', 'lead'], source: 'Analytics' }
  const { google, outcome, written } = await runGa4(t, () => reportOf(ROWS), { config })
  assert.match(google.asked[0]?.body ?? '', /"values":\["purchase","lead"\]/)
  assert.deepEqual([...new Set(written.map(({ source, event }) => `${source} ${event}`))], ['Analytics order'])
  assert.equal(
    outcome.message,
    '“Analytics” counted 37 “order” in 7 days until 18 Nov, 11:00, 2 days ago; property 123456789 has no “lead” in 7 days: is that its name in GA4?',
  )
})

test('a property that knows none of the events is no data; one that has shown them has counted none', async (t) => {
  const none = await runGa4(t, () => reportOf([]))
  assert.deepEqual([none.outcome.status, none.outcome.reason, none.written], ['ok', 'no_data', []])
  const shown = await runGa4(t, () => reportOf(ROWS))
  const gone = await runGa4(t, () => reportOf([]), { memory: shown.outcome.memory ?? {} })
  assert.equal(gone.outcome.message, '“GA4” counted 0 “purchase” in 7 days until 17 Nov, 11:00, 3 days ago')
  assert.equal(gone.written.length, 6 * 24)
})

test('of a property whose hours begin within those of UTC, both parts of each hour are asked for', async (t) => {
  const india = { metadata: { timeZone: 'Asia/Kolkata' } }
  const { google, outcome, written } = await runGa4(t, ({ body }) => {
    if (!body.includes('"minute"')) return reportOf(ROWS, india)
    return body.includes('"45"')
      ? reportOf([['purchase', '2026111714', 3]], india)
      : reportOf([['purchase', '2026111715', 40]], india)
  })
  assert.deepEqual(
    written.filter(({ count }) => count > 0),
    [{ source: 'GA4', event: 'purchase', hour: Date.parse('2026-11-17T09:00Z'), count: 43 }],
  )
  assert.deepEqual([outcome.status, outcome.details.hours_left_out], ['ok', 0])
  const minutes = google.asked.map(({ body }) => JSON.parse(body).dimensionFilter.andGroup?.expressions[1].filter)
  assert.deepEqual(
    minutes.map((filter) => [filter?.fieldName, filter?.inListFilter.values[0], filter?.inListFilter.values.length]),
    [
      [undefined, undefined, undefined],
      ['minute', '30', 30],
      ['minute', '00', 30],
    ],
  )
})

const metadata = (over: object) => ({ metadata: { timeZone: 'Europe/Berlin', ...over } })

test('sampled counts and an “(other)” row are not taken for exact, unless the settings say so', async (t) => {
  const sampling = { samplingMetadatas: [{ samplesReadCount: '250', samplingSpaceSize: '1000' }] }
  for (const [said, words] of [
    [sampling, /GA4 estimates the counts from 25 % of the events \(sampling; fewer days may avoid it\)/],
    [{ samplingMetadatas: [{ samplesReadCount: 'x' }] }, /GA4 estimates the counts \(sampling/],
    [{ dataLossFromOtherRow: true }, /groups some events under “\(other\)”, so that counts may be too low/],
    [{ dataLossFromOtherRow: 'yes' }, /\(other\)/],
  ] as const) {
    const refused = await runGa4(t, () => reportOf(ROWS, metadata(said)))
    assert.deepEqual(
      [refused.outcome.status, refused.outcome.details.reason, refused.written],
      ['error', 'inexact', []],
    )
    assert.match(refused.outcome.message, words)
    const config = { exact_only: false }
    const taken = await runGa4(t, () => reportOf(ROWS, metadata(said)), { config })
    assert.deepEqual([taken.outcome.status, taken.written.length], ['ok', 2])
    assert.match(taken.outcome.message, words)
  }
})

test('hours that GA4 withholds are not written, and it is said', async (t) => {
  const { outcome, written } = await runGa4(t, () => reportOf(ROWS, metadata({ subjectToThresholding: true })))
  assert.deepEqual([outcome.status, written.length], ['ok', 2])
  assert.match(outcome.message, /withholds hours with few users \(thresholding\), which are not written/)
})

test('little quota pauses the questions after the counts were written, until it is back', async (t) => {
  const low = { propertyQuota: { ...QUOTA, tokensPerHour: { consumed: 9, remaining: 1_200 } } }
  const google = await googleServer(t, SCOPE, () => reportOf(ROWS, low))
  const none = () => undefined
  const first = await runGa4(t, none, { google })
  assert.deepEqual([first.outcome.status, first.written.length], ['ok', 168])
  const words =
    'Property 123456789 has 1,200 tokens of the hour left: to leave the rest to its dashboards, no request is sent before 20 Nov, 12:00'
  assert.ok(first.outcome.message.endsWith(`. ${words}`))
  const memory = first.outcome.memory ?? {}
  const second = await runGa4(t, none, { google, memory, now: NOW + HOUR - 1 })
  assert.deepEqual([second.outcome.status, second.outcome.reason, second.outcome.message], ['ok', 'no_data', words])
  assert.equal(google.asked.length, 1)
  const elsewhere = siteRow({ analytics_property_id: '987654321', timezone: 'Europe/Berlin' })
  assert.equal((await runGa4(t, none, { google, memory, site: elsewhere })).outcome.reason, undefined)
  assert.equal((await runGa4(t, none, { google, memory, now: NOW + HOUR })).outcome.reason, undefined)
  assert.equal(google.asked.length, 3)
})

test('a used-up quota is an error, and nothing is asked until it is back', async (t) => {
  const said = 'Exhausted property tokens per day. These quota tokens will return in under 24 hours.'
  const error = { code: 429, message: said, status: 'RESOURCE_EXHAUSTED' }
  const google = await googleServer(t, SCOPE, () => ({ status: 429, json: { error } }))
  const first = await runGa4(t, () => undefined, { google })
  assert.deepEqual([first.outcome.status, first.outcome.details.reason], ['error', 'quota'])
  const words = 'The quota of property 123456789 at the Google Analytics Data API is used up'
  assert.equal(first.outcome.message, `${words} (429): no request is sent before 21 Nov, 09:00`)
  const again = await runGa4(t, () => undefined, { google, memory: first.outcome.memory ?? {}, now: NOW + 6 * HOUR })
  assert.deepEqual(
    [again.outcome.status, again.outcome.message],
    ['error', `${words}: no request is sent before 21 Nov, 09:00`],
  )
  assert.equal(google.asked.length, 1)
})

const DENIED = 'User does not have sufficient permissions for this property.'
const statusError = (code: number, message: string, status: string, details: object[] = []): Reply => ({
  status: code,
  json: { error: { code, message, status, details } },
})

for (const [what, reply, reason, message] of [
  [
    'a missing role',
    statusError(403, DENIED, 'PERMISSION_DENIED'),
    'forbidden',
    `${EMAIL} sees no property 123456789 (403): check the number, or add the account in Google Analytics under Admin, Property access management, with the role Viewer`,
  ],
  [
    'an API that is switched off',
    statusError(403, 'It has not been used.', 'PERMISSION_DENIED', [{ reason: 'SERVICE_DISABLED' }]),
    'api_disabled',
    `The Google Analytics Data API is not enabled in the Google Cloud project of ${EMAIL}`,
  ],
  ['an unknown property', googleError(404, 'Not found', 'notFound'), 'not_found', /sees no property 123456789 \(404\)/],
  [
    'a refused token',
    googleError(401, 'Invalid', 'authError'),
    'refused',
    `The Google Analytics Data API does not accept the service account ${EMAIL} (401)`,
  ],
  [
    'a question that is not understood',
    statusError(400, 'Field eventCount is no metric.', 'INVALID_ARGUMENT'),
    'bad_request',
    'The Google Analytics Data API answers 400: Field eventCount is no metric.',
  ],
  ['an API that is down', { status: 503, text: '<html>' }, 'unavailable', 'The Google Analytics Data API answers 503'],
  ['a page', { text: '<html>' }, 'bad_answer', /something that is not a JSON object/],
  ['a list', { json: [] }, 'bad_answer', /something that is not a JSON object/],
] as const) {
  test(`${what} is an error, and never critical`, async (t) => {
    const { outcome, written } = await runGa4(t, () => reply as Reply)
    assert.deepEqual([outcome.status, outcome.details.reason, written], ['error', reason, []])
    if (typeof message === 'string') assert.equal(outcome.message, message)
    else assert.match(outcome.message, message)
  })
}

const withRows = (rows: unknown, rowCount: unknown = Array.isArray(rows) ? rows.length : undefined): Reply =>
  reportOf([], { rows, rowCount })

for (const [what, reply, message] of [
  ['no metadata', reportOf(ROWS, { metadata: undefined }), /names no time zone/],
  ['an unknown zone', reportOf(ROWS, { metadata: { timeZone: 'Mars/Olympus' } }), /names no time zone/],
  ['a zone that is none', reportOf(ROWS, { metadata: { timeZone: ['UTC'] } }), /names no time zone/],
  ['an endless zone', reportOf(ROWS, { metadata: { timeZone: 'A'.repeat(100_000) } }), /names no time zone/],
  ['rows that are no list', withRows('many'), /has no list of rows/],
  ['a part of the rows', withRows([rowOf('purchase', '2026111711', '1')], 500), /1 rows but reports 500/],
  ['a number of rows that is none', withRows([], {}), /0 rows but reports others/],
  ['more rows than asked for', withRows(Array.from({ length: 226 }, () => rowOf('a', '2026111711', '1'))), /226 rows/],
  ['a row that is none', withRows([null]), /without the name of an event and an hour/],
  ['an hour that is a number', withRows([rowOf('purchase', 2_026_111_711, '1')]), /without the name/],
  ['an hour that is none', withRows([rowOf('purchase', '(other)', '1')]), /without the name/],
  ['a name that is a list', withRows([rowOf([], '2026111711', '1')]), /without the name/],
  ['a negative count', withRows([rowOf('purchase', '2026111711', '-1')]), /a count that is not valid/],
  ['half a count', withRows([rowOf('purchase', '2026111711', '1.5')]), /a count that is not valid/],
  ['an endless count', withRows([rowOf('purchase', '2026111711', '9'.repeat(30))]), /a count that is not valid/],
  ['a count beyond all', withRows([rowOf('purchase', '2026111711', '1000000001')]), /a count that is not valid/],
  [
    'the same hour twice',
    withRows([rowOf('purchase', '2026111711', '1'), rowOf('purchase', '2026111711', '2')]),
    /two rows of the same event and hour/,
  ],
] as const) {
  test(`an answer with ${what} is no answer, and nothing of it is written`, async (t) => {
    const { outcome, written } = await runGa4(t, () => reply)
    assert.deepEqual([outcome.status, outcome.details.reason, written], ['error', 'bad_answer', []])
    assert.match(outcome.message, message)
  })
}

test('rows of other events, NUL names among them, change nothing', async (t) => {
  const rows = [
    rowOf('purchase', '2026111810', '7'),
    rowOf('pur\0chase', '2026111810', '9'),
    rowOf('', '9999999999', '1'),
  ]
  const { outcome, written } = await runGa4(t, () => withRows(rows))
  assert.equal(outcome.status, 'ok')
  assert.deepEqual([...new Set(written.map(({ event }) => event))], ['purchase'])
  assert.equal(
    written.reduce((sum, { count }) => sum + count, 0),
    7,
  )
})

test('an answer too large or too nested to be read is an error', async (t) => {
  const large = await runGa4(t, () => ({ text: `{"a":"${'x'.repeat(5_000_000)}"}` }))
  assert.match(large.outcome.message, /answered with more than 4 MB/)
  const nested = await runGa4(t, () => ({ text: `{"rows":${'['.repeat(20_000)}${']'.repeat(20_000)}}` }))
  assert.match(nested.outcome.message, /too nested or too long/)
})

test('a redirect is not followed: the token is for one host', async (t) => {
  let followed = 0
  const elsewhere = await startAnswering(t, (_request, response) => {
    followed++
    response.end('{}')
  })
  const { outcome } = await runGa4(t, () => ({ status: 307, text: '', location: `${elsewhere}/login` }))
  assert.deepEqual([outcome.status, followed], ['error', 0])
  assert.match(outcome.message, /^The Google Analytics Data API answers 307 without an error of Google's/)
})

test('silence, a dead address and a missing account are errors', async (t) => {
  const away = await runGa4(t, () => undefined, { settings: { ga4ApiUrl: await deadAddress() } })
  assert.deepEqual([away.outcome.details.reason, away.outcome.isNetworkFailure], ['unreachable', true])
  const silent = await startAnswering(t, () => undefined)
  const late = await runGa4(t, () => undefined, { settings: { ga4ApiUrl: silent }, timeoutMs: 300 })
  assert.deepEqual([late.outcome.status, late.outcome.details.reason], ['error', 'unreachable'])
  const none = await runGa4(t, () => undefined, { settings: { googleCredentials: null } })
  assert.equal(none.outcome.details.reason, 'no_credentials')
})

/** A Data API that answers when the test says so, and knows how many wait at the same time. */
async function slowApi(t: TestContext) {
  const waiting: (() => void)[] = []
  let most = 0
  const url = await startAnswering(t, (_request, response) => {
    waiting.push(() => response.end(JSON.stringify((reportOf(ROWS) as { json: unknown }).json)))
    most = Math.max(most, waiting.length)
  })
  return { url, waiting, most: () => most }
}

test('a property is asked one question at a time, and others meanwhile', async (t) => {
  const api = await slowApi(t)
  const google = await googleServer(t, SCOPE, () => undefined)
  const settings = { ga4ApiUrl: api.url }
  const run = (property: string) =>
    runGa4(t, () => undefined, { google, settings, site: siteRow({ analytics_property_id: property }) })
  const runs = [run('11111'), run('11111'), run('11111'), run('22222')]
  for (let answered = 0; answered < 4; ) {
    await new Promise((resolve) => setImmediate(resolve))
    // Both properties are asked before any is answered.
    if (answered === 0 && api.waiting.length < 2) continue
    const next = api.waiting.shift()
    if (next === undefined) continue
    next()
    answered++
  }
  assert.deepEqual(
    (await Promise.all(runs)).map(({ outcome }) => outcome.status),
    ['ok', 'ok', 'ok', 'ok'],
  )
  assert.equal(api.most(), 2)
})

test('settings that cannot be meant are refused', () => {
  const faults = (config: object) => configFaults(ga4Counts, { events: ['purchase'], ...config })
  assert.deepEqual(faults({}), [])
  assert.deepEqual(
    faults({ events: [] }).map(({ path }) => path),
    ['/config/events'],
  )
  assert.deepEqual(faults({ events: Array.from({ length: 21 }, (_, n) => `e${n}`) }).length, 1)
  assert.deepEqual(faults({ events: ['pur\tchase'] }), [
    { path: '/config/events/0', message: 'must be text without control characters' },
  ])
  assert.deepEqual(faults({ source: 'a\nb' }).length, 1)
  assert.deepEqual(faults({ days: 15 }).length, 1)
  assert.deepEqual(faults({ settled_after_hours: 12 }).length, 1)
})
