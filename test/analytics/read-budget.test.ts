import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matrix } from '../../src/analytics/matrix.ts'
import { overview } from '../../src/analytics/overview.ts'
import { inShortParts } from '../../src/analytics/sums.ts'
import { tag } from '../../src/analytics/tag-report.ts'
import { timeseries } from '../../src/analytics/timeseries/index.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { GRAIN, type Segment } from '../../src/rollups/index.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { event } from '../../testkit/payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { count, reportContext } from './support.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const TAGS = [{ id: '1', name: 'Ads', status: 'success' as const, executionTime: 5 }]
const QUERY = { hours: 300 }

testLogic('a report that takes too long ends with a word on what to ask for instead', async (store) => {
  const site = await insertSite(store)
  await count(store, site, [event(NOW - HOUR, { tags: TAGS })])
  const context = { ...reportContext(store, NOW), limits: { ms: 0, rows: 1_000 } }
  const reports = [
    () => overview(context, site, QUERY),
    () => timeseries(context, site, { ...QUERY, metric: 'events' }),
    () => matrix(context, site, QUERY),
    () => tag(context, site, 'Ads', QUERY),
  ]
  for (const report of reports) {
    await assert.rejects(report, { code: 'unavailable', message: /choose a shorter window/, retryAfterSeconds: 30 })
  }
})

testOnEveryEngine('a report that adds up more than it may says so, and one row less is answered', async (store) => {
  const site = await insertSite(store)
  const names = ['a', 'b', 'c', 'd']
  await count(
    store,
    site,
    names.map((event_name) => event(NOW - HOUR, { event_name })),
  )
  const withRows = (rows: number) => ({ ...reportContext(store, NOW), limits: { ms: 60_000, rows } })
  await assert.rejects(overview(withRows(3), site, QUERY), { code: 'invalid_request', message: /more than 3 counts/ })
  assert.equal((await overview(withRows(4), site, QUERY)).total_events, 4)
})

testOnEveryEngine('read in short statements, a long report says the same', async (store) => {
  const site = await insertSite(store)
  await count(
    store,
    site,
    Array.from({ length: 200 }, (_, n) => event(NOW - n * 3 * HOUR, { tags: TAGS })),
  )
  await rollUpAll(store, NOW)
  const unbound = reportContext(store, NOW)
  const bound = { ...unbound, limits: { ms: 600_000, rows: 100_000 } }
  const query = { hours: 29 * 24 }
  assert.deepEqual(await overview(bound, site, query), await overview(unbound, site, query))
  assert.deepEqual(await matrix(bound, site, query), await matrix(unbound, site, query))
  const series = { ...query, metric: 'executions', group_by: 'tag_key' } as const
  assert.deepEqual(await timeseries(bound, site, series), await timeseries(unbound, site, series))
})

test('no statement reads more than 64 buckets, and together they read every bucket once', () => {
  const start = Date.parse('2026-01-01T00:00:00Z')
  const segments: Segment[] = [
    { grain: GRAIN.minute, from: start - 90 * MINUTE, to: start },
    { grain: GRAIN.day, from: start, to: start + 300 * DAY },
    { grain: GRAIN.hour, from: start + 300 * DAY, to: start + 300 * DAY + 5 * HOUR },
  ]
  const length = { [GRAIN.minute]: MINUTE, [GRAIN.hour]: HOUR, [GRAIN.day]: DAY }
  const parts = [...inShortParts(segments)]
  const bucketsOf = (some: readonly Segment[]) =>
    some.flatMap(({ grain, from, to }) =>
      Array.from({ length: Math.round((to - from) / length[grain]) }, (_, n) => `${grain} ${from + n * length[grain]}`),
    )
  for (const part of parts) assert.ok(bucketsOf(part).length <= 64)
  assert.deepEqual(parts.flatMap(bucketsOf), bucketsOf(segments))
})
