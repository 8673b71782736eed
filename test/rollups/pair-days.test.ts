import assert from 'node:assert/strict'
import { DAY, floorTo, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { addUpNextPairDay } from '../../src/rollups/add-up.ts'
import { applyRetention, GRAIN, localDay } from '../../src/rollups/index.ts'
import { pairHoursKeptFrom } from '../../src/rollups/range-plan.ts'
import type { Store } from '../../src/store/index.ts'
import { countsIn, rollUpAll } from '../../testkit/counts.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'
import { countEvents } from './support.ts'

const RETENTION = { minuteDays: 7, hourDays: 400 }
/** Clocks of Vienna go back on the second of these days, at 01:00 UTC. */
const START = Date.parse('2026-10-24T00:00:00.000Z')
/** When its hours, and those of two more UTC days, are no longer needed. */
const OLD = START + 69 * DAY + HOUR
const always = () => true

/** Events that each ran two tags, of which one failed. */
const send = (store: Store, siteNo: number, times: readonly number[]): Promise<void> =>
  countEvents(store, siteNo, times, {
    tags: [
      { id: '1', name: 'GA4', status: 'success', execution_time: 84 },
      { id: '2', name: 'Meta', status: 'failure', execution_time: 10 },
    ],
  })

const everyHourOf = (from: number, days: number): number[] =>
  Array.from({ length: 24 * days }, (_, hour) => from + hour * HOUR + 5 * MINUTE)

const rowsOf = (store: Store, siteNo: number, grain: number) =>
  store.read
    .selectFrom(countsIn(store.read, 'event_tag_rollups'))
    .selectAll()
    .where('site_no', '=', siteNo)
    .where('grain', '=', grain)
    .orderBy('bucket')
    .execute()

/** The buckets that there are rows in. */
const bucketsOf = async (store: Store, siteNo: number, grain: number): Promise<string[]> => [
  ...new Set((await rowsOf(store, siteNo, grain)).map(({ bucket }) => isoTime(bucket).slice(0, 13))),
]

/** Hour rows added up by the local days of a zone. */
async function sumsByDay(store: Store, siteNo: number, timezone: string): Promise<Map<string, Record<string, number>>> {
  const sums = new Map<string, Record<string, number>>()
  for (const { site_no, grain, bucket, container_id, event_name, tag_key, ...counts } of await rowsOf(
    store,
    siteNo,
    GRAIN.hour,
  )) {
    const key = [isoTime(localDay(timezone, bucket).from), container_id, event_name, tag_key].join(' ')
    const sum = sums.get(key) ?? {}
    for (const [column, value] of Object.entries(counts)) sum[column] = (sum[column] ?? 0) + value
    sums.set(key, sum)
  }
  return sums
}

/** Of four days, which hours are left: one in the middle of each that the first three UTC days touch, and all from then on. The statements are the same in each zone. */
const LEFT = [
  { timezone: 'UTC', middles: ['24T12', '25T12', '26T12'], next: '27T00', declare: testLogic },
  // The second has 25 hours.
  { timezone: 'Europe/Vienna', middles: ['24T10', '25T10', '26T11', '27T11'], next: '27T23', declare: testLogic },
  { timezone: 'America/New_York', middles: ['23T16', '24T16', '25T16', '26T16'], next: '27T04', declare: testLogic },
  {
    timezone: 'Asia/Kolkata',
    middles: ['24T07', '25T07', '26T07', '27T07'],
    next: '27T19',
    declare: testOnEveryEngine,
  },
]
for (const { timezone, middles, next, declare } of LEFT) {
  declare(`hours long past are added up by the days of ${timezone}, and no sum changes`, async (store) => {
    const site = await insertSite(store, { timezone })
    await send(store, site.site_no, everyHourOf(START, 4))
    await rollUpAll(store, OLD)
    const before = await sumsByDay(store, site.site_no, timezone)
    await applyRetention(store, RETENTION, OLD, always)
    assert.deepEqual(await sumsByDay(store, site.site_no, timezone), before)
    const left = await bucketsOf(store, site.site_no, GRAIN.hour)
    assert.deepEqual(
      left.slice(0, middles.length + 1),
      [...middles, next].map((hour) => `2026-10-${hour}`),
    )
    assert.equal(left.length, middles.length + (START + 4 * DAY - Date.parse(`2026-10-${next}:00Z`)) / HOUR)
    assert.deepEqual(await bucketsOf(store, site.site_no, GRAIN.day), ['2026-10-27T00'])
    // Again: there is nothing left to do.
    assert.equal(await addUpNextPairDay(store, site, pairHoursKeptFrom(OLD)), false)
  })
}

testOnEveryEngine('a day with an hour that waits to be rolled up keeps its hours until it is', async (store) => {
  const site = await insertSite(store)
  await send(store, site.site_no, everyHourOf(START, 1))
  await rollUpAll(store, OLD)
  await send(store, site.site_no, [START + HOUR])
  assert.equal(await addUpNextPairDay(store, site, OLD), false)
  assert.equal((await bucketsOf(store, site.site_no, GRAIN.hour)).length, 24)
  await rollUpAll(store, OLD)
  const sums = await sumsByDay(store, site.site_no, 'UTC')
  assert.equal(await addUpNextPairDay(store, site, OLD), true)
  assert.equal((await bucketsOf(store, site.site_no, GRAIN.hour)).length, 1)
  assert.deepEqual(await sumsByDay(store, site.site_no, 'UTC'), sums)
})

testOnEveryEngine('a day of many rows is added up in slices, between which events may come', async (store) => {
  const site = await insertSite(store)
  await send(store, site.site_no, everyHourOf(START, 1))
  await rollUpAll(store, OLD)
  let batches = 0
  const disturbed = steppingStore(store, async (what) => {
    if (what === 'batch' && ++batches === 2) await send(store, site.site_no, [START + HOUR])
  })
  assert.equal(await addUpNextPairDay(disturbed, site, OLD, 30), false)
  assert.ok((await bucketsOf(store, site.site_no, GRAIN.hour)).length > 1)
  await rollUpAll(store, OLD)
  const sums = await sumsByDay(store, site.site_no, 'UTC')
  assert.equal(await addUpNextPairDay(store, site, OLD, 30), true)
  assert.deepEqual(await sumsByDay(store, site.site_no, 'UTC'), sums)
  assert.equal((await rowsOf(store, site.site_no, GRAIN.hour)).length, 8)
})

testOnEveryEngine('adding up that is killed at any moment changes no sum, and is done again', async (store) => {
  const site = await insertSite(store, { timezone: 'Asia/Kolkata' })
  await send(store, site.site_no, everyHourOf(START, 2))
  await rollUpAll(store, OLD)
  const sums = await sumsByDay(store, site.site_no, site.timezone)
  const limit = localDay(site.timezone, START + 2 * DAY - HOUR).to
  let isDone = false
  for (let steps = 1; !isDone; steps++) {
    let left = steps
    const killed = steppingStore(store, () => (left-- > 0 ? Promise.resolve() : Promise.reject(new Error('killed'))))
    try {
      while (await addUpNextPairDay(killed, site, limit, 100));
      isDone = true
    } catch (thrown) {
      assert.match(String(thrown), /killed/)
    }
    assert.deepEqual(await sumsByDay(store, site.site_no, site.timezone), sums)
    assert.ok(steps < 100)
  }
  assert.equal((await bucketsOf(store, site.site_no, GRAIN.hour)).length, 3)
  assert.deepEqual(await bucketsOf(store, site.site_no, GRAIN.day), [])
})

testOnEveryEngine('an event that comes later still is counted in its day, and added up with it', async (store) => {
  const site = await insertSite(store, { timezone: 'Europe/Vienna' })
  await send(store, site.site_no, everyHourOf(START, 1))
  await rollUpAll(store, OLD)
  await applyRetention(store, RETENTION, OLD, always)
  await send(store, site.site_no, [START + 3 * HOUR, START + 12 * HOUR])
  await rollUpAll(store, OLD)
  const sums = await sumsByDay(store, site.site_no, site.timezone)
  assert.equal(
    [...sums.values()].reduce((total, { success = 0 }) => total + success, 0),
    4 * 26,
  )
  assert.deepEqual(await bucketsOf(store, site.site_no, GRAIN.day), ['2026-10-24T00'])
  await applyRetention(store, RETENTION, OLD, always)
  assert.deepEqual(await sumsByDay(store, site.site_no, site.timezone), sums)
  assert.deepEqual(await bucketsOf(store, site.site_no, GRAIN.hour), ['2026-10-24T10', '2026-10-25T10'])
  assert.deepEqual(await bucketsOf(store, site.site_no, GRAIN.day), [])
})

testOnEveryEngine(
  'after a change of the time zone a day counts to the one that it has most hours of',
  async (store) => {
    const site = await insertSite(store, { timezone: 'Europe/Vienna' })
    // All of one day of Vienna, and nothing else.
    await send(store, site.site_no, everyHourOf(localDay('Europe/Vienna', START).from, 1))
    await rollUpAll(store, OLD)
    await applyRetention(store, RETENTION, OLD, always)
    for (const timezone of ['UTC', 'America/New_York', 'Asia/Tokyo']) {
      const days = new Set([...(await sumsByDay(store, site.site_no, timezone)).keys()].map((key) => key.split(' ')[0]))
      assert.deepEqual([...days], [isoTime(localDay(timezone, START + 12 * HOUR).from)])
    }
  },
)

testOnEveryEngine('a local day is kept as long as the UTC day that it reaches into', async (store) => {
  const site = await insertSite(store, { timezone: 'America/New_York' })
  await send(store, site.site_no, everyHourOf(START, 2))
  await rollUpAll(store, OLD)
  await applyRetention(store, RETENTION, OLD, always)
  const hours = (days: number) =>
    applyRetention(store, { minuteDays: 7, hourDays: days }, floorTo(OLD, DAY) + 2 * HOUR, always).then(() =>
      bucketsOf(store, site.site_no, GRAIN.hour),
    )
  assert.deepEqual(await hours(69), ['2026-10-23T16', '2026-10-24T16', '2026-10-25T16'])
  assert.deepEqual(await hours(68), ['2026-10-24T16', '2026-10-25T16'])
  assert.deepEqual(await hours(66), [])
})
