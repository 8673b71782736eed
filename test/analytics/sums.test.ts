import assert from 'node:assert/strict'
import { isOneOf, sumRollups, totals, totalWhere } from '../../src/analytics/sums.ts'
import { MINUTE } from '../../src/lib/index.ts'
import { GRAIN, type Segment } from '../../src/rollups/index.ts'
import { totalOf } from '../../src/store/index.ts'
import { testOnEveryEngine } from '../support/engines.ts'
import { insertSite } from '../support/sites.ts'
import { count, event } from './support.ts'

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
