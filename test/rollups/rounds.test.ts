import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldOrphans } from '../../src/journal/index.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import { applyRetention, Backoff, GRAIN, removeDeletedSites, rollUp } from '../../src/rollups/index.ts'
import { BUCKETS_PER_ROUND, LATE_REST_MS, rollUpAll } from '../../src/rollups/roll-up.ts'
import { chunksOf, type Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { deltaOf, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { refuseDeletion } from '../../testkit/refusal.ts'
import { insertSite } from '../../testkit/sites.ts'

const MIDNIGHT = Date.parse('2026-11-20T00:00:00.000Z')
const RETENTION = { minuteDays: 7, hourDays: 400 }

async function countOne(store: Store, siteNo: number, at = MIDNIGHT): Promise<void> {
  await writeJournal(store, 'node', 1, deltaOf(siteNo, [eventPayload({ timestamp_ms: at })], at))
  await foldOrphans(store, [])
}

for (const isOneBad of [false, true]) {
  const what = isOneBad ? 'of which a bucket failed' : 'that was full'
  testOnEveryEngine(`after a round ${what} the next one begins at once`, async (store) => {
    const [site, bad] = [await insertSite(store), await insertSite(store)]
    // Of the other grain there is nothing to roll up. The first and one of the second round are the bad site's.
    const hours = Array.from({ length: BUCKETS_PER_ROUND + 2 }, (_, hour) => ({
      site_no: hour % BUCKETS_PER_ROUND === 0 ? bad.site_no : site.site_no,
      grain: GRAIN.hour,
      bucket: MIDNIGHT + hour * HOUR,
    }))
    for (const part of [hours.slice(0, 300), hours.slice(300)]) {
      await store.write.insertInto('dirty_buckets').values(part).execute()
    }
    if (isOneBad) await refuseDeletion(store, 'dirty_buckets', bad.site_no)
    const clock = new TestClock(MIDNIGHT + 30 * DAY)
    const round = () => rollUpAll(store, clock, { backoff: new Backoff(), shouldContinue: () => true })
    if (isOneBad) await assert.rejects(round(), /not to be deleted/)
    else await round()
    const left = await store.read
      .selectFrom('dirty_buckets')
      .select('site_no')
      .where('grain', '=', GRAIN.hour)
      .execute()
    assert.deepEqual(left, isOneBad ? [{ site_no: bad.site_no }, { site_no: bad.site_no }] : [])
  })
}

testOnEveryEngine('rounds end when no more are allowed', async (store) => {
  const { site_no } = await insertSite(store)
  const hours = Array.from({ length: BUCKETS_PER_ROUND + 1 }, (_, hour) => ({
    site_no,
    grain: GRAIN.hour,
    bucket: MIDNIGHT + hour * HOUR,
  }))
  await store.write.insertInto('dirty_buckets').values(hours).execute()
  let asked = 0
  await rollUpAll(store, new TestClock(MIDNIGHT + 30 * DAY), {
    backoff: new Backoff(),
    shouldContinue: () => ++asked <= BUCKETS_PER_ROUND,
  })
  assert.equal(
    (await store.read.selectFrom('dirty_buckets').select('bucket').where('grain', '=', GRAIN.hour).execute()).length,
    1,
  )
})

testOnEveryEngine(
  'an hour long past that late events make dirty again and again rests between two roll-ups',
  async (store) => {
    const { site_no } = await insertSite(store)
    const backoff = new Backoff()
    const round = (now: number) => rollUp(store, now, { backoff })
    const dirtyHours = () =>
      store.read
        .selectFrom('dirty_buckets')
        .select('bucket')
        .where('grain', '=', GRAIN.hour)
        .orderBy('bucket')
        .execute()
    const noon = MIDNIGHT + 12 * HOUR
    await countOne(store, site_no)
    await countOne(store, site_no, noon - 2 * HOUR)
    await round(noon)
    assert.deepEqual(await dirtyHours(), [])
    await countOne(store, site_no)
    await countOne(store, site_no, noon - 2 * HOUR)
    await round(noon + LATE_REST_MS - 1)
    assert.deepEqual(await dirtyHours(), [{ bucket: MIDNIGHT }], 'an hour that has just ended does not rest')
    assert.equal(await totalEvents(store, site_no), 4, 'a report reads its minutes meanwhile')
    await round(noon + LATE_REST_MS)
    assert.deepEqual(await dirtyHours(), [])
    assert.equal(await totalEvents(store, site_no), 4)
  },
)

testOnEveryEngine('a clock that is set back leaves no hour at rest', async (store) => {
  const { site_no } = await insertSite(store)
  const backoff = new Backoff()
  await countOne(store, site_no)
  await rollUp(store, MIDNIGHT + 30 * DAY, { backoff })
  await countOne(store, site_no)
  assert.equal(await rollUp(store, MIDNIGHT + 12 * HOUR, { backoff }), 1)
})

test('what failed is tried again in time after the clock was set back', () => {
  const backoff = new Backoff()
  backoff.failed('hour', MIDNIGHT)
  backoff.failed('hour', MIDNIGHT)
  const blockedAt = (at: number) => backoff.isBlocked('hour', MIDNIGHT + at)
  assert.deepEqual([-DAY, 0, 2 * MINUTE - 1, 2 * MINUTE].map(blockedAt), [false, true, true, false])
})

/** More than one step deletes. */
const MANY = 4_500

/** Links of tags to names, from long ago. */
async function insertLinks(store: Store, siteNo: number): Promise<void> {
  const rows = Array.from({ length: MANY }, (_, tag) => ({
    site_no: siteNo,
    container_id: 'GTM-A',
    tag_id: `${tag}`,
    tag_name: 'name',
    last_seen_at: MIDNIGHT,
  }))
  for (const chunk of chunksOf(rows)) await store.write.insertInto('tag_names').values(chunk).execute()
}

const always = () => true

testOnEveryEngine(
  'one round of removal leaves nothing of a deleted site, however many steps it takes',
  async (store) => {
    const { site_no } = await insertSite(store)
    await countOne(store, site_no)
    await insertLinks(store, site_no)
    await store.write
      .insertInto('site_removals')
      .values({ site_no, requested_at: MIDNIGHT, emptied_at: null })
      .execute()
    await removeDeletedSites(store, MIDNIGHT, always)
    assert.deepEqual(await store.read.selectFrom('tag_names').select('tag_id').execute(), [])
    assert.equal(await totalEvents(store, site_no), 0)
  },
)

testOnEveryEngine(
  'one round of retention deletes all that is old, however many steps and hours that are',
  async (store) => {
    const { site_no } = await insertSite(store)
    for (let hour = 0; hour < 5; hour++) await countOne(store, site_no, MIDNIGHT + hour * HOUR)
    await rollUp(store, MIDNIGHT + 2 * DAY)
    await insertLinks(store, site_no)
    await insertOutages(store, MANY)
    await applyRetention(store, RETENTION, MIDNIGHT + 30 * DAY, always)
    assert.equal(await totalEvents(store, site_no), 0)
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), 5)
    await applyRetention(store, RETENTION, MIDNIGHT + 500 * DAY, always)
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), 0)
    assert.deepEqual(await store.read.selectFrom('tag_names').select('tag_id').execute(), [])
    assert.deepEqual(await store.read.selectFrom('outages').select('began_at').execute(), [])
  },
)

/** One a minute. */
async function insertOutages(store: Store, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, minute) => ({
    began_at: MIDNIGHT + minute * MINUTE,
    ended_at: MIDNIGHT + minute * MINUTE + SECOND,
  }))
  for (const chunk of chunksOf(rows)) await store.write.insertInto('outages').values(chunk).execute()
}

testOnEveryEngine('retention deletes outages some at a time, and stops between two steps on request', async (store) => {
  await insertOutages(store, MANY)
  let asked = 0
  await applyRetention(store, RETENTION, MIDNIGHT + 500 * DAY, () => asked++ < 1)
  assert.equal((await store.read.selectFrom('outages').select('began_at').execute()).length, MANY - 2_000)
})

testOnEveryEngine('outages that cannot be deleted do not block the retention of any site', async (store) => {
  const { site_no } = await insertSite(store)
  await countOne(store, site_no)
  await rollUp(store, MIDNIGHT + 2 * HOUR)
  await insertOutages(store, 1)
  await refuseDeletion(store, 'outages', MIDNIGHT, 'began_at')
  await assert.rejects(applyRetention(store, RETENTION, MIDNIGHT + 500 * DAY, always), /not to be deleted/)
  assert.equal(await totalEvents(store, site_no), 0)
})

testOnEveryEngine('a site whose rows cannot be deleted does not block the retention of others', async (store) => {
  const sites = [await insertSite(store), await insertSite(store), await insertSite(store)]
  for (const { site_no } of sites) {
    await countOne(store, site_no)
  }
  await rollUp(store, MIDNIGHT + 2 * HOUR)
  const bad = sites[0]?.site_no ?? 0
  await refuseDeletion(store, 'minute_parts', bad)
  await assert.rejects(
    applyRetention(store, RETENTION, MIDNIGHT + 30 * DAY, () => true),
    /not to be deleted/,
  )
  const left = await Promise.all(sites.map(({ site_no }) => totalEvents(store, site_no)))
  assert.deepEqual(left, [1, 0, 0])
})

testOnEveryEngine('a deleted site whose rows cannot be deleted does not block the removal of others', async (store) => {
  const sites = [await insertSite(store), await insertSite(store), await insertSite(store)]
  for (const { site_no } of sites) {
    await countOne(store, site_no)
    await store.write
      .insertInto('site_removals')
      .values({ site_no, requested_at: MIDNIGHT, emptied_at: null })
      .execute()
  }
  const bad = sites[0]?.site_no ?? 0
  await refuseDeletion(store, 'minute_parts', bad)
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
