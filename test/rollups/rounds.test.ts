import assert from 'node:assert/strict'
import { DAY, HOUR } from '../../src/lib/index.ts'
import { applyRetention, foldOrphans, GRAIN, removeDeletedSites, rollUp, Setbacks } from '../../src/rollups/index.ts'
import { MARKS_PER_ROUND, rollUpAll } from '../../src/rollups/roll-up.ts'
import type { Store } from '../../src/store/index.ts'
import { TestClock } from '../support/clock.ts'
import { deltaOf, eventPayload, totalEvents, writeJournal } from '../support/deltas.ts'
import { testOnEveryEngine } from '../support/engines.ts'
import { refuseDeletion } from '../support/refusal.ts'
import { insertSite } from '../support/sites.ts'

const MIDNIGHT = Date.parse('2026-11-20T00:00:00.000Z')
const RETENTION = { minuteDays: 7, hourDays: 400 }

async function countOne(store: Store, siteNo: number): Promise<void> {
  await writeJournal(store, 'node', 1, deltaOf(siteNo, [eventPayload({ timestamp_ms: MIDNIGHT })], MIDNIGHT))
  await foldOrphans(store, [])
}

for (const isOneBad of [false, true]) {
  const what = isOneBad ? 'of which a bucket failed' : 'that was full'
  testOnEveryEngine(`after a round ${what} the next one begins at once`, async (store) => {
    const [site, bad] = [await insertSite(store), await insertSite(store)]
    // Of the other grain there is nothing to roll up. The first and one of the second round are the bad site's.
    const marks = Array.from({ length: MARKS_PER_ROUND + 2 }, (_, hour) => ({
      site_no: hour % MARKS_PER_ROUND === 0 ? bad.site_no : site.site_no,
      grain: GRAIN.hour,
      bucket: MIDNIGHT + hour * HOUR,
    }))
    for (const part of [marks.slice(0, 300), marks.slice(300)]) {
      await store.write.insertInto('rollup_marks').values(part).execute()
    }
    if (isOneBad) await refuseDeletion(store, 'rollup_marks', bad.site_no)
    const clock = new TestClock(MIDNIGHT + 30 * DAY)
    const round = () => rollUpAll(store, clock, { setbacks: new Setbacks(), mayGoOn: () => true })
    if (isOneBad) await assert.rejects(round(), /not to be deleted/)
    else await round()
    const left = await store.read.selectFrom('rollup_marks').select('site_no').where('grain', '=', GRAIN.hour).execute()
    assert.deepEqual(left, isOneBad ? [{ site_no: bad.site_no }, { site_no: bad.site_no }] : [])
  })
}

testOnEveryEngine('rounds end when there is to be no more of them', async (store) => {
  const { site_no } = await insertSite(store)
  const marks = Array.from({ length: MARKS_PER_ROUND + 1 }, (_, hour) => ({
    site_no,
    grain: GRAIN.hour,
    bucket: MIDNIGHT + hour * HOUR,
  }))
  await store.write.insertInto('rollup_marks').values(marks).execute()
  let asked = 0
  await rollUpAll(store, new TestClock(MIDNIGHT + 30 * DAY), {
    setbacks: new Setbacks(),
    mayGoOn: () => ++asked <= MARKS_PER_ROUND,
  })
  assert.equal(
    (await store.read.selectFrom('rollup_marks').select('bucket').where('grain', '=', GRAIN.hour).execute()).length,
    1,
  )
})

testOnEveryEngine('a site whose rows cannot be deleted keeps no other from its retention', async (store) => {
  const sites = [await insertSite(store), await insertSite(store), await insertSite(store)]
  for (const { site_no } of sites) {
    await countOne(store, site_no)
  }
  await rollUp(store, MIDNIGHT + 2 * HOUR)
  const bad = sites[0]?.site_no ?? 0
  await refuseDeletion(store, 'event_rollups', bad)
  await assert.rejects(
    applyRetention(store, RETENTION, MIDNIGHT + 30 * DAY, () => true),
    /not to be deleted/,
  )
  const left = await Promise.all(sites.map(({ site_no }) => totalEvents(store, site_no)))
  assert.deepEqual(left, [1, 0, 0])
})

testOnEveryEngine('a deleted site whose rows cannot be deleted keeps no other from its removal', async (store) => {
  const sites = [await insertSite(store), await insertSite(store), await insertSite(store)]
  for (const { site_no } of sites) {
    await countOne(store, site_no)
    await store.write
      .insertInto('site_removals')
      .values({ site_no, requested_at: MIDNIGHT, emptied_at: null })
      .execute()
  }
  const bad = sites[0]?.site_no ?? 0
  await refuseDeletion(store, 'event_rollups', bad)
  await assert.rejects(
    removeDeletedSites(store, MIDNIGHT, () => true),
    /not to be deleted/,
  )
  const left = await Promise.all(sites.map(({ site_no }) => totalEvents(store, site_no)))
  assert.deepEqual(left, [1, 0, 0])
  const removals = await store.read.selectFrom('site_removals').select('emptied_at').orderBy('site_no').execute()
  assert.deepEqual(
    removals.map(({ emptied_at }) => emptied_at),
    [null, MIDNIGHT, MIDNIGHT],
  )
})
