import assert from 'node:assert/strict'
import { foldOrphans } from '../../src/journal/index.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import { applyRetention, COUNT_COLUMNS, GRAIN, minuteRowsFrom, rollUp } from '../../src/rollups/index.ts'
import { removeOldestHour } from '../../src/rollups/minute-retention.ts'
import { NO_SITE, type Store } from '../../src/store/index.ts'
import { rollUpAll } from '../../testkit/counts.ts'
import { deltaOf, encode, eventPayload, totalEvents } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'

const NOW = Date.parse('2026-11-20T10:30:00.000Z')
const RETENTION = { minuteDays: 2, hourDays: 30 }
const always = () => true

let seq = 0
/** Puts an event into the journal that was sent at `time` and accepted at `acceptedAt`. */
async function accept(store: Store, siteNo: number, time: number, acceptedAt: number): Promise<void> {
  const delta = deltaOf(siteNo, [eventPayload({ timestamp_ms: time })], acceptedAt)
  await store.write
    .insertInto('journal')
    .values({ node_id: 'dead', seq: ++seq, written_at: acceptedAt, payload: encode(delta) })
    .execute()
}

testOnEveryEngine(
  'minutes that a waiting journal row may still add to are kept, however long it waits',
  async (store) => {
    const { site_no } = await insertSite(store)
    const sent = NOW - 6 * DAY
    await accept(store, site_no, sent, sent)
    await accept(store, site_no, sent - 2 * DAY, sent - 2 * DAY)
    await foldOrphans(store, [])
    await rollUpAll(store, NOW)
    // Another row waits, a younger one.
    await accept(store, site_no, NOW - MINUTE, NOW)
    // A node accepts one more of the same hour, a day late, and dies; no node folds its row for five days.
    await accept(store, site_no, sent + MINUTE, sent + DAY)
    await applyRetention(store, RETENTION, NOW, always)
    assert.equal(await totalEvents(store, site_no), 1)
    await foldOrphans(store, [])
    await rollUpAll(store, NOW)
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), 3)
    await applyRetention(store, RETENTION, NOW, always)
    assert.equal(await totalEvents(store, site_no), 1)
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), 3)
  },
)

testOnEveryEngine('hours that a waiting journal row may still add to are kept', async (store) => {
  const { site_no } = await insertSite(store)
  const sent = NOW - 40 * DAY
  await accept(store, site_no, sent, sent)
  await foldOrphans(store, [])
  await rollUpAll(store, NOW)
  await accept(store, site_no, sent + HOUR, sent + HOUR)
  await applyRetention(store, RETENTION, NOW, always)
  await foldOrphans(store, [])
  await rollUpAll(store, NOW)
  assert.equal(await totalEvents(store, site_no, GRAIN.day), 2)
  await applyRetention(store, RETENTION, NOW, always)
  assert.equal(await totalEvents(store, site_no, GRAIN.day), 0)
})

testOnEveryEngine('an event of an hour whose minutes are gone is added to the hour', async (store) => {
  const { site_no } = await insertSite(store, { timezone: 'Asia/Kolkata' })
  const sent = NOW - 3 * HOUR
  for (let event = 0; event < 100; event++) await accept(store, site_no, sent + (event % 60) * MINUTE, sent)
  await foldOrphans(store, [])
  await rollUpAll(store, NOW)
  // A clock that is nine days ahead, for one round.
  await applyRetention(store, RETENTION, NOW + 9 * DAY, always)
  assert.equal(await totalEvents(store, site_no), 0)
  for (const late of [1, 2]) {
    await accept(store, site_no, sent + late * MINUTE, NOW)
    await foldOrphans(store, [])
    await rollUpAll(store, NOW)
    await rollUpAll(store, NOW + 2 * DAY)
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), 100 + late)
    assert.equal(await totalEvents(store, site_no, GRAIN.day), 100 + late)
    assert.equal(await totalEvents(store, site_no), 0)
  }
  // As a node of the version before counts it, which knows no parts: in both halves of the hour, whose rows are two.
  const zeros = Object.fromEntries(COUNT_COLUMNS.event_rollups.map((count) => [count, 0]))
  const hour = floorTo(sent, HOUR)
  for (const bucket of [hour + MINUTE, hour + 59 * MINUTE]) {
    const row = { ...zeros, site_no, grain: GRAIN.minute, bucket, container_id: 'GTM-ABC1234', event_name: 'purchase' }
    await store.write
      .insertInto('event_rollups')
      .values({ ...row, total: 1 } as never)
      .execute()
  }
  await store.write.insertInto('dirty_buckets').values({ site_no, grain: GRAIN.hour, bucket: hour }).execute()
  await rollUpAll(store, NOW)
  assert.equal(await totalEvents(store, site_no, GRAIN.hour), 104)
  assert.equal(await totalEvents(store, site_no), 0)
})

testOnEveryEngine(
  'an hour that waits to be rolled up keeps its minutes, and so do the hours after it',
  async (store) => {
    const { site_no } = await insertSite(store)
    const sent = NOW - 5 * DAY
    await accept(store, site_no, sent, sent)
    await accept(store, site_no, sent + HOUR, sent + HOUR)
    await foldOrphans(store, [])
    await rollUpAll(store, NOW)
    await accept(store, site_no, sent, sent + DAY)
    await foldOrphans(store, [])
    await applyRetention(store, RETENTION, NOW, always)
    assert.equal(await totalEvents(store, site_no), 3)
    await rollUpAll(store, NOW)
    await applyRetention(store, RETENTION, NOW, always)
    assert.equal(await totalEvents(store, site_no), 0)
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), 3)
  },
)

testOnEveryEngine(
  'an hour is not derived by a node that read it as dirty before its minutes were deleted',
  async (store) => {
    const { site_no } = await insertSite(store)
    const sent = NOW - 3 * HOUR
    for (let event = 0; event < 10; event++) await accept(store, site_no, sent, sent)
    await foldOrphans(store, [])
    let isFirst = true
    // Between the read and the transaction, another node rolls up the hour and deletes its minutes, and a late event makes it dirty again.
    const slow = steppingStore(store, async (what) => {
      if (what !== 'batch' || !isFirst) return
      isFirst = false
      await rollUpAll(store, NOW)
      await applyRetention(store, RETENTION, NOW + 9 * DAY, always)
      await accept(store, site_no, sent, NOW)
      await foldOrphans(store, [])
    })
    await rollUp(slow, NOW)
    await rollUpAll(store, NOW)
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), 11)
  },
)

testOnEveryEngine(
  'a node that was suspended before it deletes an hour does not take back how far another one has come',
  async (store) => {
    for (const rowsAtOnce of [undefined, 1]) {
      const { site_no } = await insertSite(store)
      const sent = NOW - 4 * DAY
      for (let event = 0; event < 10; event++) await accept(store, site_no, sent + (event % 2) * HOUR, sent + HOUR)
      await foldOrphans(store, [])
      await rollUpAll(store, NOW)
      let isFirst = true
      const suspended = steppingStore(store, async (what) => {
        if (what !== 'batch' || !isFirst) return
        isFirst = false
        await applyRetention(store, RETENTION, NOW, always)
      })
      await removeOldestHour(suspended, site_no, NOW - 2 * DAY, always, rowsAtOnce)
      assert.equal(await totalEvents(store, site_no), 0)
      // Accepted by a clock that was days behind.
      await accept(store, site_no, sent + HOUR, sent + HOUR)
      await foldOrphans(store, [])
      await rollUpAll(store, NOW)
      assert.equal(await totalEvents(store, site_no, GRAIN.hour), 11)
    }
  },
)

testOnEveryEngine(
  'an hour of many rows goes in steps, and the roll-up leaves it alone until it is gone',
  async (store) => {
    const { site_no } = await insertSite(store)
    const sent = NOW - 3 * HOUR
    for (let event = 0; event < 30; event++) {
      await accept(store, site_no, sent + event * MINUTE, sent)
      await foldOrphans(store, [])
    }
    await rollUpAll(store, NOW)
    // Stopped when it has begun and deleted nothing.
    assert.equal(await removeOldestHour(store, site_no, NOW, () => false, 10), false)
    assert.equal(await totalEvents(store, site_no), 30)
    await accept(store, site_no, sent + HOUR, NOW)
    await foldOrphans(store, [])
    await rollUpAll(store, NOW)
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), 31)
    // Stopped again when it has deleted everything and not noted that: so little would do for one transaction.
    const before = floorTo(sent, HOUR) + HOUR
    await store.write.deleteFrom('minute_parts').where('bucket', '<', before).execute()
    while (await removeOldestHour(store, site_no, NOW, always, 10));
    assert.equal(await totalEvents(store, site_no), 0)
    await accept(store, site_no, sent, NOW)
    await foldOrphans(store, [])
    await rollUpAll(store, NOW)
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), 32)
  },
)

testOnEveryEngine(
  'a node that was suspended while it deletes an hour ends no deletion that another one has begun',
  async (store) => {
    const { site_no } = await insertSite(store)
    const sent = NOW - 4 * HOUR
    for (let event = 0; event < 24; event++) {
      await accept(store, site_no, sent + (event % 12) * MINUTE + (event % 2) * HOUR, NOW)
      await foldOrphans(store, [])
    }
    await rollUpAll(store, NOW)
    let isDeleting = false
    let isSuspended = false
    const slow = steppingStore(store, async () => {
      if (!isDeleting || isSuspended) return
      isSuspended = true
      assert.equal(await removeOldestHour(store, site_no, NOW, always, 10), true)
      assert.equal(await removeOldestHour(store, site_no, NOW, () => false, 10), false)
    })
    const noting = () => {
      isDeleting = true
      return true
    }
    assert.equal(await removeOldestHour(slow, site_no, NOW, noting, 10), true)
    assert.equal(await totalEvents(store, site_no), 12)
    await accept(store, site_no, sent + HOUR, NOW)
    await foldOrphans(store, [])
    await rollUpAll(store, NOW)
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), 24)
  },
)

testOnEveryEngine('the oldest hour goes first, whether its minutes are rows or parts', async (store) => {
  const { site_no } = await insertSite(store)
  const sent = NOW - 4 * HOUR
  await accept(store, site_no, sent, NOW)
  await foldOrphans(store, [])
  await rollUpAll(store, NOW, { rowsAtOnce: 1 })
  await accept(store, site_no, sent + HOUR, NOW)
  await foldOrphans(store, [])
  await rollUpAll(store, NOW)
  for (const hour of [sent, sent + HOUR].map((time) => floorTo(time, HOUR))) {
    assert.equal(await removeOldestHour(store, site_no, NOW, always), true)
    const floors = await store.read.selectFrom('minute_floors').select('gone_before').execute()
    assert.deepEqual(floors, [{ gone_before: hour + HOUR }])
  }
})

testOnEveryEngine('what a report was planned on a moment ago stays for another hour', async (store) => {
  const { site_no } = await insertSite(store)
  const hour = floorTo(NOW, HOUR) - 3 * DAY
  const sent = [hour, hour + 17 * MINUTE]
  for (const time of sent) await accept(store, site_no, time, time)
  await foldOrphans(store, [])
  await rollUpAll(store, NOW)
  // The first moment at which no report reads minutes of that hour any more.
  const gone = hour + HOUR + 3 * DAY
  const retention = { minuteDays: 3, hourDays: 30 }
  assert.equal(minuteRowsFrom(gone, retention), hour + HOUR)
  await applyRetention(store, retention, gone, always)
  assert.equal(await totalEvents(store, site_no), 2)
  await applyRetention(store, retention, gone + HOUR, always)
  assert.equal(await totalEvents(store, site_no), 0)
  assert.equal(await totalEvents(store, site_no, GRAIN.hour), 2)
})

testOnEveryEngine('refused requests of no site are kept as long as those of a site', async (store) => {
  const { site_no } = await insertSite(store)
  const row = (no: number, bucket: number) => ({ site_no: no, bucket, reason: 'unauthorized', total: 1 })
  const old = NOW - 40 * DAY
  const rows = [row(NO_SITE, old), row(site_no, old), row(NO_SITE, NOW - DAY), row(site_no, NOW - DAY)]
  await store.write.insertInto('rejection_counts').values(rows).execute()
  await applyRetention(store, RETENTION, NOW, always)
  const left = await store.read
    .selectFrom('rejection_counts')
    .select(['site_no', 'bucket'])
    .orderBy('site_no')
    .execute()
  assert.deepEqual(left, [
    { site_no: NO_SITE, bucket: NOW - DAY },
    { site_no, bucket: NOW - DAY },
  ])
})
