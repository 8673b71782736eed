import assert from 'node:assert/strict'
import { readSnapshot, type Stretch, sumStretches, totals } from '../../src/analytics/index.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import { GRAIN } from '../../src/rollups/index.ts'
import type { SiteRow, Store } from '../../src/store/index.ts'
import { testOnEveryEngine } from '../support/engines.ts'
import { insertSite } from '../support/sites.ts'
import { count, event, rollUpAll } from './support.ts'

const NOW = Date.parse('2026-11-20T12:34:00Z')
const SLOT = 5 * MINUTE
const EVENTS = totals(['events'])

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
      measures: EVENTS,
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
