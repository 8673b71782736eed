import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY, HOUR, MINUTE } from '../../../src/lib/index.ts'
import type { GoogleCredentials, JsonObject, ProbeOutcome } from '../../../src/probes/probe-type.ts'
import { warehouseEvents } from '../../../src/probes/types/warehouse-events.ts'
import type { Store } from '../../../src/store/index.ts'
import { NOW } from '../../../testkit/clock.ts'
import { openEmptyStore, sqlite, testLogic, testOnEveryEngine } from '../../../testkit/engines.ts'
import { deadAddress } from '../../../testkit/listeners.ts'
import { insertSite } from '../../../testkit/sites.ts'
import { EMAIL, googleError, googleServer, type ReceivedRequest, type Reply } from './google-server.ts'
import { type RunGiven, runType, siteRow } from './run-type.ts'

const SCOPE = 'https://www.googleapis.com/auth/bigquery.readonly'
const DATASET = '/bigquery/v2/projects/acme-tags/datasets/analytics_1'
const QUERIES = '/bigquery/v2/projects/acme-tags/queries'
const SITE = { warehouse_project: 'acme-tags', warehouse_dataset: 'analytics_1' }
/** After the deadline of the day before. */
const AFTERNOON = NOW + 5 * HOUR

interface Table {
  rows: number
  modifiedAt?: number
  streamedAt?: number
}

/** A dataset with tables by name, and what else is answered. */
function bigQuery(
  tables: Readonly<Record<string, Table>>,
  more: (asked: ReceivedRequest) => Reply | undefined = () => undefined,
): (asked: ReceivedRequest) => Reply | undefined {
  return (asked) => {
    const other = more(asked)
    if (other !== undefined) return other
    if (asked.path === DATASET) return { json: { datasetReference: {} } }
    const name = asked.path.replace(`${DATASET}/tables/`, '')
    const table = tables[name]
    if (table === undefined) return undefined
    const { rows, modifiedAt = NOW - HOUR, streamedAt } = table
    const buffer = { estimatedRows: '12', estimatedBytes: '99', oldestEntryTime: String(streamedAt) }
    return {
      json: {
        numRows: String(rows),
        lastModifiedTime: String(modifiedAt),
        ...(streamedAt === undefined ? {} : { streamingBuffer: buffer }),
      },
    }
  }
}

/** Yesterday, the same weekday of the four weeks before it, and the day before yesterday. */
const tablesWith = (yesterday: number, usual = 1_000): Record<string, Table> => ({
  events_20261119: { rows: yesterday },
  events_20261118: { rows: usual },
  events_20261112: { rows: usual },
  events_20261105: { rows: usual },
  events_20261029: { rows: usual },
  events_20261022: { rows: usual },
})

interface Given extends Partial<RunGiven> {
  credentials?: GoogleCredentials | null
}

async function run(t: TestContext, url: string, { credentials = null, ...given }: Given): Promise<ProbeOutcome> {
  return runType(t, warehouseEvents, {
    site: siteRow(SITE),
    now: AFTERNOON,
    settings: { warehouseApiUrl: url, googleCredentials: credentials },
    ...given,
    store: given.store ?? (await openEmptyStore(sqlite, t)),
  })
}

async function runAgainst(t: TestContext, answer: (asked: ReceivedRequest) => Reply | undefined, given: Given = {}) {
  const google = await googleServer(t, SCOPE, answer)
  return { google, outcome: await run(t, google.url, { credentials: google.credentials, ...given }) }
}

const part = ({ details }: ProbeOutcome, name: string) => details[name] as Record<string, unknown>

test('a day with as many rows as usual is ok, and only metadata was asked for', async (t) => {
  const { google, outcome } = await runAgainst(t, bigQuery(tablesWith(960)))
  assert.deepEqual(
    [outcome.status, outcome.message],
    ['ok', 'events_20261119 has 960 rows, 96 % of the 1,000 that are usual on a Thursday'],
  )
  assert.equal(part(outcome, 'daily').weeks_known, 4)
  assert.equal(outcome.details.intraday, null)
  assert.ok(google.asked.every(({ method }) => method === 'GET'))
})

test('a table is not missing because something in between answers 404 with a page', async (t) => {
  const tables = tablesWith(1_000)
  const page = ({ path }: ReceivedRequest): Reply | undefined =>
    path.endsWith('events_20261118') ? { status: 404, text: '<html>404. That is an error.' } : undefined
  const { outcome } = await runAgainst(t, bigQuery(tables, page))
  assert.deepEqual([outcome.status, outcome.details.reason], ['error', 'bad_answer'])
})

test('the weeks before are asked for once', async (t) => {
  const { google, outcome } = await runAgainst(t, bigQuery(tablesWith(960)))
  const before = google.asked.length
  const again = await run(t, google.url, { credentials: google.credentials, memory: outcome.memory ?? {} })
  assert.deepEqual([again.message, google.asked.length - before], [outcome.message, 3])
})

const DAILY: readonly [what: string, tables: Record<string, Table>, status: string, said: RegExp][] = [
  ['few rows', tablesWith(400), 'warning', /400 rows, 40 % of the 1,000/],
  ['very few rows', tablesWith(100), 'critical', /100 rows, 10 % of the 1,000/],
  ['an empty table', tablesWith(0), 'critical', /events_20261119 is empty/],
]

for (const [what, tables, status, said] of DAILY) {
  test(`${what} yesterday is ${status}`, async (t) => {
    const { outcome } = await runAgainst(t, bigQuery(tables))
    assert.equal(outcome.status, status)
    assert.match(outcome.message, said)
  })
}

test("yesterday's table is late after the deadline, and the day before is judged", async (t) => {
  const { events_20261119: _, ...tables } = tablesWith(0)
  const google = await googleServer(t, SCOPE, bigQuery(tables))
  const early = await run(t, google.url, { credentials: google.credentials, now: NOW })
  assert.equal(early.status, 'ok')
  const late = await run(t, google.url, { credentials: google.credentials })
  assert.equal(late.status, 'warning')
  assert.match(late.message, /events_20261119 is late: it was due at 14:00 \(UTC\)/)
  assert.equal(part(late, 'daily').table, 'events_20261118')
})

test('the deadline of a day is the one that is set', async (t) => {
  const { events_20261119: _, ...tables } = tablesWith(0)
  const google = await googleServer(t, SCOPE, bigQuery(tables))
  const { credentials } = google
  const set = (daily_deadline: string) => run(t, google.url, { credentials, config: { daily_deadline } })
  assert.equal((await set('23:00')).status, 'ok')
  assert.match((await set('06:30')).message, /events_20261119 is late: it was due at 06:30 \(UTC\)/)
})

test('a table that is missing 36 hours after its day is critical, and the newest one is named', async (t) => {
  const { outcome } = await runAgainst(t, bigQuery({ events_20261115: { rows: 1_000 } }))
  assert.equal(outcome.status, 'critical')
  assert.match(outcome.message, /events_20261118 is missing 39 h after the end of its day; events_20261119 is late/)
  assert.equal(outcome.details.newest_daily_table, 'events_20261115')
})

const FIRST_DAYS: readonly [what: string, tables: Record<string, Table>][] = [
  ["yesterday's is the first table of an export", { events_20261119: { rows: 960 } }],
  ['a stream has begun today', { events_intraday_20261120: { rows: 5, modifiedAt: AFTERNOON - HOUR } }],
]

for (const [what, tables] of FIRST_DAYS) {
  test(`no table is missing before the export began: ${what}`, async (t) => {
    const { outcome } = await runAgainst(t, bigQuery(tables))
    assert.deepEqual([outcome.status, outcome.details.missing], ['ok', []])
  })
}

test('a stream that goes on does not stand for the tables of the days', async (t) => {
  const { outcome } = await runAgainst(
    t,
    bigQuery({ events_intraday_20261119: { rows: 900 }, events_intraday_20261120: { rows: 5 } }),
  )
  assert.match(outcome.message, /events_20261118 is missing/)
})

test('days follow the time zone of the property', async (t) => {
  const { outcome } = await runAgainst(t, bigQuery(tablesWith(960)), {
    config: { timezone: 'America/Los_Angeles' },
    now: Date.parse('2026-11-21T07:00:00Z'),
  })
  assert.equal(part(outcome, 'daily').table, 'events_20261119')
})

const STREAMS: readonly [what: string, table: Table, status: string][] = [
  ['changed an hour ago', { rows: 5, modifiedAt: AFTERNOON - HOUR }, 'ok'],
  ['changed three hours ago', { rows: 5, modifiedAt: AFTERNOON - 3 * HOUR }, 'warning'],
  ['changed seven hours ago', { rows: 5, modifiedAt: AFTERNOON - 7 * HOUR }, 'critical'],
  ['has fresh rows in its buffer', { rows: 5, modifiedAt: AFTERNOON - 7 * HOUR, streamedAt: AFTERNOON - MINUTE }, 'ok'],
]

for (const [what, table, status] of STREAMS) {
  test(`an intraday table that ${what} is ${status} in active hours`, async (t) => {
    const { outcome } = await runAgainst(t, bigQuery({ ...tablesWith(1_000), events_intraday_20261120: table }))
    assert.equal(outcome.status, status)
    assert.equal(part(outcome, 'intraday').status, status)
  })
}

test('a small shop may be silent for hours, and its intraday table is judged once many rows are expected', async (t) => {
  const silent = (hours: number) => ({ rows: 5, modifiedAt: AFTERNOON - hours * HOUR })
  const shop = (usual: number, hours: number) => {
    const fridays = ['1113', '1106', '1030', '1023'].map((day) => [`events_2026${day}`, { rows: usual }])
    return { ...tablesWith(1_000), ...Object.fromEntries(fridays), events_intraday_20261120: silent(hours) }
  }
  const { outcome } = await runAgainst(t, bigQuery(shop(200, 6)))
  assert.deepEqual([outcome.status, part(outcome, 'intraday').judged], ['ok', false])
  assert.match(
    outcome.message,
    /has not changed for 6 h; not judged, as 86 rows would be usual in that time, fewer than 100/,
  )
  const busy = await runAgainst(t, bigQuery(shop(240, 6)))
  assert.deepEqual([busy.outcome.status, part(busy.outcome, 'intraday').expected_rows], ['critical', 103])
})

test('a holiday is not compared with ordinary days, nor are other days with it', async (t) => {
  const config = { timezone: 'Europe/Berlin' }
  const { outcome } = await runAgainst(
    t,
    bigQuery({
      events_20261225: { rows: 20 },
      events_20261224: { rows: 900 },
      events_20261218: { rows: 1_000 },
      events_20261211: { rows: 1_000 },
    }),
    { config, now: Date.parse('2026-12-26T16:00:00Z') },
  )
  assert.deepEqual([outcome.status, part(outcome, 'daily').is_special_day], ['ok', true], outcome.message)

  const fridays = ['20270101', '20261225', '20261218', '20261211']
  const rows = [20, 20, 1_000, 1_000]
  const tables = Object.fromEntries(fridays.map((day, n) => [`events_${day}`, { rows: rows[n] ?? 0 }]))
  const later = await runAgainst(
    t,
    bigQuery({ ...tables, events_20270108: { rows: 400 }, events_20270107: { rows: 900 } }),
    { config, now: Date.parse('2027-01-09T16:00:00Z') },
  )
  assert.deepEqual([later.outcome.status, part(later.outcome, 'daily').expected_rows], ['warning', 1_000])
})

test('active hours are those of the clock, on the day it is set forward too', async (t) => {
  const { outcome } = await runAgainst(t, bigQuery({ events_intraday_20270328: { rows: 5 } }), {
    config: { timezone: 'Europe/Berlin', active_to_hour: 24 },
    now: Date.parse('2027-03-28T15:00:00Z'),
  })
  const { active_from, active_to } = part(outcome, 'intraday')
  assert.deepEqual([active_from, active_to], ['2027-03-28T06:00:00.000Z', '2027-03-28T22:00:00.000Z'])
})

test('an intraday table that does not come any more is missed', async (t) => {
  const google = await googleServer(
    t,
    SCOPE,
    bigQuery({ ...tablesWith(1_000), events_20261120: { rows: 1_000 }, events_intraday_20261120: { rows: 5 } }),
  )
  const { memory = {} } = await run(t, google.url, { credentials: google.credentials })
  const next = await run(t, google.url, { credentials: google.credentials, memory, now: AFTERNOON + DAY })
  assert.equal(next.status, 'critical')
  assert.match(next.message, /there is no events_intraday_20261121, 7 h into the active hours/)
})

test('where only the streaming export is set up, the intraday table of a day is its final one', async (t) => {
  const { outcome } = await runAgainst(t, bigQuery({ events_intraday_20261119: { rows: 960 } }), {
    config: { daily_export: false },
  })
  assert.equal(part(outcome, 'daily').table, 'events_intraday_20261119')
})

for (const [what, buffered, status] of [
  ['as many rows as usual, most of them still in the streaming buffer', 900, 'ok'],
  ['too few rows with those in the streaming buffer', 90, 'critical'],
] as const) {
  test(`a streamed day with ${what} is ${status}`, async (t) => {
    const named = Object.entries(tablesWith(50)).map(([name, table]) => [
      name.replace('events_', 'events_intraday_'),
      table,
    ])
    const answer = bigQuery(Object.fromEntries(named))
    const { outcome } = await runAgainst(
      t,
      (asked) => {
        const reply = answer(asked)
        if (!asked.path.endsWith('_20261119')) return reply
        const streamingBuffer = { estimatedRows: String(buffered), oldestEntryTime: String(NOW) }
        return { json: { ...(reply !== undefined && 'json' in reply ? (reply.json as object) : {}), streamingBuffer } }
      },
      { config: { daily_export: false } },
    )
    assert.equal(outcome.status, status, outcome.message)
    assert.equal(part(outcome, 'daily').rows, 50 + buffered)
  })
}

test('another dataset is not compared with the one before it', async (t) => {
  const tables = { ...tablesWith(1_000), events_intraday_20261120: { rows: 5, modifiedAt: AFTERNOON } }
  const { outcome } = await runAgainst(t, bigQuery(tables))
  assert.equal(outcome.status, 'ok', outcome.message)
  const small = bigQuery(tablesWith(200, 200))
  const { outcome: next } = await runAgainst(
    t,
    (asked) => small({ ...asked, path: asked.path.replace('analytics_2', 'analytics_1') }),
    { memory: outcome.memory ?? {}, site: siteRow({ ...SITE, warehouse_dataset: 'analytics_2' }) },
  )
  assert.equal(next.status, 'ok', next.message)
  assert.equal(part(next, 'daily').expected_rows, 200)
})

/** Answers a dry run, a query that is not done at once, and its results. */
function queries(counts: Readonly<Record<string, number>>, bytes = '20971520', isSlow = false) {
  const rows = Object.entries(counts).map(([name, n]) => ({ f: [{ v: name }, { v: String(n) }] }))
  return ({ path, body }: ReceivedRequest): Reply | undefined => {
    if (path === QUERIES) {
      const query = JSON.parse(body) as Record<string, unknown>
      if (query.dryRun === true) return { json: { jobComplete: true, totalBytesProcessed: bytes } }
      if (isSlow) return { json: { jobComplete: false, jobReference: { jobId: 'job 1', location: 'europe-west3' } } }
      return { json: { jobComplete: true, rows } }
    }
    if (path === `${QUERIES}/job%201?timeoutMs=5000&location=europe-west3`) return { json: { jobComplete: true, rows } }
    return undefined
  }
}

const REQUIRED: JsonObject = { required_events: ['purchase', 'refund'] }

test('required events are counted in one table, after a dry run, with bounded bytes', async (t) => {
  const { google, outcome } = await runAgainst(t, bigQuery(tablesWith(1_000), queries({ purchase: 12, refund: 1 })), {
    config: REQUIRED,
  })
  assert.equal(outcome.status, 'ok')
  assert.deepEqual(part(outcome, 'required_events').counts, { purchase: 12, refund: 1 })
  const [dry, real] = google.asked
    .filter(({ path }) => path === QUERIES)
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>)
  assert.deepEqual([dry?.dryRun, real?.dryRun, real?.maximumBytesBilled], [true, undefined, '1073741824'])
  assert.match(
    String(real?.query),
    /^SELECT event_name, COUNT\(\*\) AS n FROM `acme-tags.analytics_1.events_20261119` /,
  )
})

test('a required event without a row is critical', async (t) => {
  const { outcome } = await runAgainst(t, bigQuery(tablesWith(1_000), queries({ purchase: 12 })), { config: REQUIRED })
  assert.equal(outcome.status, 'critical')
  assert.match(outcome.message, /events_20261119 has no refund, which every day must have/)
})

test('events are counted once for each state of the table', async (t) => {
  const answer = bigQuery(tablesWith(1_000), queries({ purchase: 12, refund: 1 }))
  const { google, outcome } = await runAgainst(t, answer, { config: REQUIRED })
  const again = await run(t, google.url, {
    credentials: google.credentials,
    config: REQUIRED,
    memory: outcome.memory ?? {},
  })
  assert.deepEqual(part(again, 'required_events').counts, { purchase: 12, refund: 1 })
  assert.equal(google.asked.filter(({ path }) => path === QUERIES).length, 2)
})

test('a query that is not done at once is waited for', async (t) => {
  const answer = bigQuery(tablesWith(1_000), queries({ purchase: 12, refund: 1 }, '1', true))
  const { outcome } = await runAgainst(t, answer, { config: REQUIRED })
  assert.deepEqual(part(outcome, 'required_events').counts, { purchase: 12, refund: 1 })
})

test('a query that would read too much is not made, and an error', async (t) => {
  const answer = bigQuery(tablesWith(1_000), queries({}, String(2 ** 31)))
  const { google, outcome } = await runAgainst(t, answer, { config: REQUIRED })
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /would read 2,048 MB, and max_query_mb allows 1,024 MB/)
  assert.equal(google.asked.filter(({ path }) => path === QUERIES).length, 1)
})

test('a query that is not made hides no warning of the table itself', async (t) => {
  const answer = bigQuery(tablesWith(400), queries({}, String(2 ** 31)))
  const { outcome } = await runAgainst(t, answer, { config: REQUIRED })
  assert.equal(outcome.status, 'warning')
  assert.match(outcome.message, /^events_20261119 has 400 rows, .*; The required events were not counted: /)
})

const tableOnly = (reply: Reply) => (asked: ReceivedRequest) => (asked.path.startsWith(DATASET) ? reply : undefined)

const NO_TABLES =
  'Access Denied: Table acme-tags:analytics_1.events_20261119: Permission bigquery.tables.get denied on table acme-tags:analytics_1.events_20261119 (or it may not exist).'
const FAILURES: readonly [
  what: string,
  answer: (asked: ReceivedRequest) => Reply | undefined,
  said: RegExp,
  reason: string,
][] = [
  [
    '403 without a role on the dataset',
    tableOnly(googleError(403, NO_TABLES, 'accessDenied')),
    new RegExp(`${EMAIL} has no access: .*roles/bigquery.metadataViewer.* on the dataset acme-tags.analytics_1`),
    'forbidden',
  ],
  [
    '403 over quota',
    tableOnly(googleError(403, 'Exceeded rate limits', 'rateLimitExceeded')),
    /quota of the BigQuery API is used up/,
    'quota',
  ],
  [
    'a project without billing',
    tableOnly(googleError(403, 'Billing has not been enabled for this project.', 'billingNotEnabled')),
    /^Google refuses requests for the Google Cloud project \(403\): Billing has not been enabled for this project\.$/,
    'project_blocked',
  ],
  [
    "an organization's policy",
    tableOnly(
      googleError(403, "VPC Service Controls: Request is prohibited by organization's policy.", 'accessDenied'),
    ),
    /^Google refuses requests for the Google Cloud project \(403\): VPC Service Controls/,
    'project_blocked',
  ],
  [
    'a page of a proxy with 403',
    tableOnly({ status: 403, text: '<h1>Blocked</h1>' }),
    /^The BigQuery API answers 403 without an error of Google's: check its address/,
    'bad_answer',
  ],
  ['a dataset that is not there', () => undefined, /There is no dataset acme-tags.analytics_1/, 'not_found'],
  ['500', tableOnly({ status: 500, text: 'oops' }), /BigQuery API answers 500/, 'unavailable'],
  ['malformed JSON', tableOnly({ text: '{' }), /not a JSON object/, 'bad_answer'],
  [
    '1 MB of empty objects',
    tableOnly({ text: `{"x":[${'{},'.repeat(349_000)}{}]}` }),
    /too nested or too long/,
    'bad_answer',
  ],
  ['a table without rows', tableOnly({ json: { kind: 'x' } }), /neither the rows nor the last change/, 'bad_answer'],
  ['a huge body', tableOnly({ text: `{"a":"${'x'.repeat(5_000_000)}"}` }), /more than 4 MB/, 'bad_answer'],
]

for (const [what, answer, said, reason] of FAILURES) {
  test(`${what} is an error with the reason ${reason}`, async (t) => {
    const { outcome } = await runAgainst(t, answer)
    assert.equal(outcome.status, 'error')
    assert.match(outcome.message, said)
    assert.equal(outcome.details.reason, reason)
  })
}

const ROLES: readonly [said: string, role: RegExp][] = [
  ['User does not have bigquery.jobs.create permission in project acme-tags.', /jobUser\) on the project acme-tags$/],
  ['Permission bigquery.tables.getData denied on table x', /dataViewer\) on the dataset acme-tags.analytics_1$/],
]

for (const [said, role] of ROLES) {
  test(`"${said}" of a query names the role, and the metadata are judged all the same`, async (t) => {
    const refused = (asked: ReceivedRequest) =>
      asked.path === QUERIES ? googleError(403, `Access Denied: ${said}`, 'accessDenied') : undefined
    const { outcome } = await runAgainst(t, bigQuery(tablesWith(1_000), refused), { config: REQUIRED })
    assert.equal(outcome.status, 'error')
    assert.match(outcome.message, role)
    assert.equal(part(outcome, 'daily').status, 'ok')
  })
}

test('without credentials the result is an error that says what to set', async (t) => {
  const outcome = await run(t, 'http://127.0.0.1:9', {})
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /set GOOGLE_CREDENTIALS_FILE to the path/)
})

test('an API that cannot be reached is an error that is tried again', async (t) => {
  const google = await googleServer(t, SCOPE, () => undefined)
  const outcome = await run(t, await deadAddress(), { credentials: google.credentials })
  assert.deepEqual([outcome.status, outcome.isNetworkFailure], ['error', true])
})

test('names that cannot be of a dataset are an error', async (t) => {
  const { outcome } = await runAgainst(t, () => undefined, { site: siteRow({ ...SITE, warehouse_dataset: 'a`b' }) })
  assert.deepEqual([outcome.status, outcome.details.reason], ['error', 'bad_request'])
})

testOnEveryEngine("the warehouse's rows are compared with the day's events counted here", async (store, t) => {
  const site = await insertSite(store, SITE)
  const day = Date.parse('2026-11-19T00:00:00Z')
  await insertHour(store, site.site_no, day - HOUR, 5_000)
  await insertHour(store, site.site_no, day, 600)
  await insertHour(store, site.site_no, day + 23 * HOUR, 400)
  await insertHour(store, site.site_no, day + DAY, 5_000)
  const ratios = Object.fromEntries(
    Array.from({ length: 14 }, (_, n) => [`202611${String(n + 1).padStart(2, '0')}`, 0.9]),
  )
  const { outcome } = await runAgainst(t, bigQuery(tablesWith(600, 600)), { site, store, memory: { ratios } })
  assert.equal(outcome.status, 'warning')
  assert.match(outcome.message, /600 rows of the day for 1,000 events counted here, 60 %, where 7\d %/)
  const kept = outcome.memory?.ratios as JsonObject | undefined
  assert.equal(kept?.['20261119'], 0.6)

  const known = await runAgainst(t, bigQuery(tablesWith(600, 600)), { site, store })
  const { ours, ratio, band } = part(known.outcome, 'reconciliation')
  assert.deepEqual([known.outcome.status, ours, ratio, band], ['ok', 1_000, 0.6, null])
})

testLogic('a day on which this service was down is not compared, and not learnt from', async (store, t) => {
  const site = await insertSite(store, SITE)
  const day = Date.parse('2026-11-19T00:00:00Z')
  await insertHour(store, site.site_no, day, 600)
  const ratios = Object.fromEntries(
    Array.from({ length: 14 }, (_, n) => [`202611${String(n + 1).padStart(2, '0')}`, 0.9]),
  )
  const judged = await runAgainst(t, bigQuery(tablesWith(900, 900)), { site, store, memory: { ratios } })
  assert.deepEqual([judged.outcome.status, part(judged.outcome, 'reconciliation').reason], ['warning', 'counts_differ'])
  const outage = { began_at: day + HOUR, ended_at: day + 9 * HOUR }
  await store.write.insertInto('outages').values(outage).execute()
  const { outcome } = await runAgainst(t, bigQuery(tablesWith(900, 900)), { site, store, memory: { ratios } })
  assert.equal(outcome.status, 'ok', outcome.message)
  const { ratio, left_out_ms } = part(outcome, 'reconciliation')
  assert.deepEqual([ratio, left_out_ms], [null, 8 * HOUR])
  assert.deepEqual(outcome.memory?.ratios, ratios)
})

testLogic('a silent intraday table is judged by the events counted here, where they say more', async (store, t) => {
  const site = await insertSite(store, SITE)
  const silent = { rows: 5, modifiedAt: AFTERNOON - 4 * HOUR }
  const tables = { ...tablesWith(200, 200), events_intraday_20261120: silent }
  const ratios = { 20261112: 0.5, 20261113: 0.5, 20261114: 0.5 }
  const before = await runAgainst(t, bigQuery(tables), { site, store, memory: { ratios } })
  assert.deepEqual([before.outcome.status, part(before.outcome, 'intraday').expected_rows], ['ok', 57])
  await insertHour(store, site.site_no, AFTERNOON - 5 * HOUR, 9_000)
  await insertHour(store, site.site_no, AFTERNOON - 2 * HOUR, 300)
  const { outcome } = await runAgainst(t, bigQuery(tables), { site, store, memory: { ratios } })
  assert.deepEqual([outcome.status, part(outcome, 'intraday').expected_rows], ['warning', 150])
})

async function insertHour(store: Store, siteNo: number, bucket: number, total: number): Promise<void> {
  const counts = { events: total, total, skewed: 0, user_data_total: 0, email: 0, phone: 0, address: 0 }
  const details = { user_data_detail_total: 0, first_name: 0, last_name: 0, city: 0, country: 0 }
  const ecommerce = { ecommerce_total: 0, value: 0, currency: 0, transaction_id: 0, items: 0 }
  await store.write
    .insertInto('event_rollups')
    .values({
      site_no: siteNo,
      grain: 3_600,
      bucket,
      container_id: 'GTM-A',
      event_name: 'page_view',
      ...counts,
      ...details,
      ...ecommerce,
    })
    .execute()
}
