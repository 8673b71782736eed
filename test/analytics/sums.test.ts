import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { readSnapshot, type Stretch, sumStretches, totals } from '../../src/analytics/index.ts'
import { isOneOf, sumBy, sumByInTurns, sumRollups, totalWhere } from '../../src/analytics/sums.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import { GRAIN, rollUp, type Segment } from '../../src/rollups/index.ts'
import { type SiteRow, type Store, totalOf } from '../../src/store/index.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { event } from '../../testkit/payloads.ts'
import { insertSite } from '../../testkit/sites.ts'
import { count } from './support.ts'

const START = Date.parse('2026-11-20T00:00:00Z')
const MINUTES = 250

/** One segment a minute, more than one statement can take. */
const segments = Array.from({ length: MINUTES }, (_, index): Segment => {
  const from = START + index * MINUTE
  return { grain: GRAIN.minute, from, to: from + MINUTE }
})

testOnEveryEngine('any number of segments is summed, up to a limit of rows', async (store) => {
  const site = await insertSite(store)
  const names = ['purchase', 'page_view']
  const payloads = segments.flatMap(({ from }) => names.map((event_name) => event(from, { event_name })))
  await count(store, site, payloads)
  const request = { table: 'event_rollups', siteNo: site.site_no, segments } as const
  const sums = await sumRollups(store.read, {
    ...request,
    by: [],
    measures: { events: totalOf('events'), purchases: totalWhere('events', isOneOf('event_name', ['purchase'])) },
  })
  assert.equal(sums.length, MINUTES)
  assert.equal(
    sums.reduce((sum, row) => sum + row.events, 0),
    2 * MINUTES,
  )
  assert.equal(
    sums.reduce((sum, row) => sum + row.purchases, 0),
    MINUTES,
  )
  const limited = await sumRollups(store.read, {
    ...request,
    by: ['event_name'],
    measures: totals(['events']),
    limit: 333,
  })
  assert.equal(limited.length, 333)
})

testOnEveryEngine('nothing to read gives no rows', async (store) => {
  const { site_no: siteNo } = await insertSite(store)
  const request = { table: 'tag_rollups', siteNo, by: [], measures: totals(['executions']) } as const
  assert.deepEqual(await sumRollups(store.read, { ...request, segments: [] }), [])
  assert.deepEqual(await sumRollups(store.read, { ...request, segments: segments.slice(0, 1) }), [])
})

const NOW = Date.parse('2026-11-20T12:34:00Z')
const SLOT = 5 * MINUTE

const STRETCHES: readonly Stretch[] = [
  { from: floorTo(NOW, DAY) - 3 * DAY, to: floorTo(NOW, DAY) - DAY, coarsest: GRAIN.day },
  { from: floorTo(NOW, DAY), to: floorTo(NOW, HOUR), coarsest: GRAIN.hour },
  { from: floorTo(NOW, HOUR), to: NOW, coarsest: GRAIN.minute },
]

/** Events by name in each of the stretches, and in each slot of the last one. */
async function read(store: Store, site: SiteRow): Promise<Map<string, number>> {
  const range = { from: NOW - 4 * DAY, to: NOW }
  const rows = await readSnapshot(store, site.site_no, range, (snapshot) =>
    sumStretches(snapshot, {
      table: 'event_rollups',
      stretches: STRETCHES,
      by: ['event_name'],
      columns: ['events'],
      slots: { length: SLOT, end: NOW },
    }),
  )
  const sums = new Map<string, number>()
  const [, , last] = STRETCHES
  for (const { at, event_name, events } of rows) {
    const index = STRETCHES.findIndex(({ from, to }) => at >= from && at < to)
    const slot = last !== undefined && at >= last.from ? Math.ceil((NOW - at) / SLOT) : 0
    const key = `${index} ${slot} ${event_name}`
    sums.set(key, (sums.get(key) ?? 0) + events)
  }
  return sums
}

testOnEveryEngine('sums over stretches are the same from whichever rows they come', async (store) => {
  for (const timezone of ['UTC', 'Asia/Kolkata']) {
    const site = await insertSite(store, { timezone })
    const times = Array.from({ length: 600 }, (_, index) => NOW - 4 * DAY + index * 9.6 * MINUTE + 1)
    const payloads = times.map((time, index) => event(time, { event_name: index % 3 === 0 ? 'purchase' : 'page_view' }))
    await count(store, site, payloads)
    const expected = new Map<string, number>()
    for (const { timestamp_ms, event_name } of payloads) {
      const index = STRETCHES.findIndex(({ from, to }) => timestamp_ms >= from && timestamp_ms < to)
      if (index === -1) continue
      const minute = floorTo(timestamp_ms, MINUTE)
      const key = `${index} ${index === 2 ? Math.ceil((NOW - minute) / SLOT) : 0} ${event_name}`
      expected.set(key, (expected.get(key) ?? 0) + 1)
    }
    const sorted = (sums: Map<string, number>) => [...sums].sort(([a], [b]) => (a < b ? -1 : 1))
    assert.deepEqual(sorted(await read(store, site)), sorted(expected))
    await rollUpAll(store, NOW)
    assert.deepEqual(sorted(await read(store, site)), sorted(expected))
    // One comes late for an hour that has been rolled up.
    await count(store, site, [event(floorTo(NOW, DAY) + HOUR)], NOW)
    expected.set('1 0 page_view', (expected.get('1 0 page_view') ?? 0) + 1)
    assert.deepEqual(sorted(await read(store, site)), sorted(expected))
  }
})

test('rows added up in turns give the same sums, and others get a turn after every thousand', async () => {
  const rows = Array.from({ length: 5_500 }, (_, index) => ({ key: `${index % 7}`, events: index, total: 1 }))
  const columns = ['events', 'total'] as const
  let turns = 0
  let isDone = false
  const count = () => {
    if (isDone) return
    turns++
    setImmediate(count)
  }
  count()
  const sums = await sumByInTurns(rows, columns, ({ key }) => key)
  isDone = true
  assert.deepEqual([...sums], [...sumBy(rows, columns, ({ key }) => key)])
  assert.ok(turns >= 5, `${turns} turns`)
})

testOnEveryEngine('a minute of rows that gets a late part is one minute to a measure that is no sum', async (store) => {
  const site = await insertSite(store)
  await count(store, site, [event(START), event(START), event(START + MINUTE)])
  // Moves the parts to rows, as where an hour has many.
  await rollUp(store, START + 3 * HOUR, { rowsAtOnce: 1 })
  await count(store, site, [event(START)])
  const rows = await sumRollups(store.read, {
    table: 'event_rollups',
    siteNo: site.site_no,
    segments: [{ grain: GRAIN.minute, from: START, to: START + HOUR }],
    by: [],
    measures: {
      minutes: totalOf(sql<number>`case when events > 0 then 1 else 0 end`),
      threes: totalOf(sql<number>`case when cast(events as bigint) % 3 = 0 then 1 else 0 end`),
    },
    eachMinute: true,
  })
  assert.deepEqual(rows, [{ at: START, minutes: 2, threes: 1 }])
})
