import assert from 'node:assert/strict'
import { DAY, floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import { addUpNextHour } from '../../src/rollups/add-up.ts'
import { MINUTE_TABLES } from '../../src/rollups/columns.ts'
import { applyRetention, GRAIN } from '../../src/rollups/index.ts'
import type { Store } from '../../src/store/index.ts'
import { countsIn, rollUpAll } from '../../testkit/counts.ts'
import { totalEvents } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'
import { countEvents } from './support.ts'

const NOW = Date.parse('2026-11-20T10:30:00.000Z')
const RETENTION = { minuteDays: 7, hourDays: 400 }
/** A whole hour that nobody reads minute by minute any more. */
const OLD = floorTo(NOW, HOUR) - 3 * DAY
const FIVE_MINUTES = 5 * MINUTE
const always = () => true

/** Events with something for every table. */
const send = (store: Store, siteNo: number, times: readonly number[]): Promise<void> =>
  countEvents(store, siteNo, times, {
    tags: [{ id: '12', name: 'GA4', status: 'success', execution_time: 84, response: '2xx' }],
    user_data: { has_email: true },
    ecommerce: { has_value: true, value_zero: true },
    fields: { coupon: true },
  })

const everyMinuteOf = (hour: number): number[] => Array.from({ length: 60 }, (_, minute) => hour + minute * MINUTE)

/** Minute rows of all tables, which are added up here where `length` is more than a minute. */
async function minuteRows(store: Store, siteNo: number, length: number): Promise<Map<string, Record<string, number>>> {
  const sums = new Map<string, Record<string, number>>()
  for (const table of MINUTE_TABLES) {
    const rows = await store.read
      .selectFrom(countsIn(store.read, table))
      .selectAll()
      .where('site_no', '=', siteNo)
      .where('grain', '=', GRAIN.minute)
      .execute()
    for (const { site_no, grain, bucket, ...rest } of rows) {
      const names = Object.values(rest).filter((value) => typeof value === 'string')
      const key = [table, new Date(floorTo(bucket, length)).toISOString(), ...names].join(' ')
      const sum = sums.get(key) ?? {}
      for (const [column, value] of Object.entries(rest))
        if (typeof value !== 'string') sum[column] = (sum[column] ?? 0) + Number(value)
      sums.set(key, sum)
    }
  }
  return sums
}

testOnEveryEngine('minutes over two days old are added up by fives, and no sum changes', async (store) => {
  const { site_no } = await insertSite(store, { timezone: 'Asia/Kolkata' })
  const young = floorTo(NOW, HOUR) - 2 * DAY - HOUR
  await send(store, site_no, [...everyMinuteOf(OLD), OLD + HOUR + 3 * MINUTE, young - MINUTE, young + MINUTE])
  await rollUpAll(store, NOW)
  const before = await minuteRows(store, site_no, FIVE_MINUTES)
  await applyRetention(store, RETENTION, NOW, always)
  const after = await minuteRows(store, site_no, MINUTE)
  const moved = [...after.keys()].filter((key) => key.includes(new Date(young + MINUTE).toISOString()))
  // Three tables by container and event, two by container and tag.
  assert.equal(moved.length, 3 * 4 + 2 * 2, 'the first minutes that are read one by one are as they were')
  for (const key of moved) {
    const fives = key.replace(new Date(young + MINUTE).toISOString(), new Date(young).toISOString())
    assert.deepEqual(after.get(key), before.get(fives))
    before.delete(fives)
    after.delete(key)
  }
  assert.deepEqual(after, before)
  assert.equal(await totalEvents(store, site_no, GRAIN.hour), 4 * 63)
  // Again: there is nothing left to do.
  assert.equal(await addUpNextHour(store, site_no, young), false)
})

testOnEveryEngine(
  'minutes that a large hour has as rows are added up by fives, with parts beside them',
  async (store) => {
    const { site_no } = await insertSite(store)
    // Single ones and several of five, the first among them and not.
    await send(
      store,
      site_no,
      [1, 2, 5, 6, 13].map((minute) => OLD + minute * MINUTE),
    )
    await rollUpAll(store, NOW, { rowsAtOnce: 10 })
    assert.deepEqual(await store.read.selectFrom('minute_parts').select('part').execute(), [])
    await send(
      store,
      site_no,
      [2, 7, 30].map((minute) => OLD + minute * MINUTE),
    )
    await rollUpAll(store, NOW)
    const fives = await minuteRows(store, site_no, FIVE_MINUTES)
    assert.equal(await addUpNextHour(store, site_no, NOW), true)
    assert.deepEqual(await minuteRows(store, site_no, MINUTE), fives)
    assert.deepEqual(await store.read.selectFrom('minute_parts').select('part').execute(), [])
  },
)

testOnEveryEngine('an hour that waits to be rolled up keeps its minutes until it is', async (store) => {
  const { site_no } = await insertSite(store)
  await send(store, site_no, everyMinuteOf(OLD))
  const waiting = await minuteRows(store, site_no, MINUTE)
  assert.equal(await addUpNextHour(store, site_no, NOW), false)
  assert.deepEqual(await minuteRows(store, site_no, MINUTE), waiting)
  await rollUpAll(store, NOW)
  assert.equal(await addUpNextHour(store, site_no, NOW), true)
  assert.equal((await minuteRows(store, site_no, MINUTE)).size, waiting.size / 5)
})

testOnEveryEngine('an hour of many rows is added up in slices, between which events may come', async (store) => {
  const { site_no } = await insertSite(store)
  await send(store, site_no, everyMinuteOf(OLD))
  await rollUpAll(store, NOW)
  let batches = 0
  // After the first slice: the hour is dirty then, and is left alone until it was rolled up.
  const disturbed = steppingStore(store, async (what) => {
    if (what === 'batch' && ++batches === 2) await send(store, site_no, [OLD + MINUTE])
  })
  assert.equal(await addUpNextHour(disturbed, site_no, NOW, 30), false)
  await rollUpAll(store, NOW)
  const sums = await minuteRows(store, site_no, FIVE_MINUTES)
  assert.equal(await addUpNextHour(store, site_no, NOW, 30), true)
  assert.deepEqual(await minuteRows(store, site_no, MINUTE), sums)
  assert.equal(await totalEvents(store, site_no), 4 * 61)
  assert.equal(await totalEvents(store, site_no, GRAIN.hour), 4 * 61)
})

testOnEveryEngine('an event that comes later still is counted in its hour, and goes with it', async (store) => {
  const { site_no } = await insertSite(store)
  await send(store, site_no, everyMinuteOf(OLD))
  await rollUpAll(store, NOW)
  await applyRetention(store, RETENTION, NOW, always)
  await send(store, site_no, [OLD + MINUTE, OLD + FIVE_MINUTES])
  await rollUpAll(store, NOW)
  assert.equal(await totalEvents(store, site_no, GRAIN.hour), 4 * 62)
  await applyRetention(store, RETENTION, NOW + 7 * DAY, always)
  assert.equal(await totalEvents(store, site_no), 0)
  assert.equal(await totalEvents(store, site_no, GRAIN.hour), 4 * 62)
})
