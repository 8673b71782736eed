import assert from 'node:assert/strict'
import { Folder, foldJournal } from '../../src/journal/index.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { applyRetention, GRAIN, removeDeletedSites } from '../../src/rollups/index.ts'
import type { Store } from '../../src/store/index.ts'
import { countsIn, rollUpAll } from '../../testkit/counts.ts'
import { deltaOf, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'

const MIDNIGHT = Date.parse('2026-11-20T00:00:00.000Z')
const RETENTION = { minuteDays: 7, hourDays: 400 }
const always = () => true

let seq = 0
/** Counts one event a minute in [from, to), accepted at the end of its hour. */
async function send(store: Store, siteNo: number, from: number, to: number, step = MINUTE): Promise<number> {
  let sent = 0
  for (let time = from; time < to; time += HOUR) {
    const payloads = []
    for (let t = time; t < Math.min(to, time + HOUR); t += step) payloads.push(eventPayload({ timestamp_ms: t }))
    await writeJournal(store, 'node', ++seq, deltaOf(siteNo, payloads, time + HOUR))
    sent += payloads.length
  }
  await foldJournal(store, new Folder(store, () => 'client', { heavySite: Number.POSITIVE_INFINITY }), {
    nodeId: 'node',
  })
  return sent
}

const dirtyBuckets = (store: Store, grain: number) =>
  store.read.selectFrom('dirty_buckets').select('bucket').where('grain', '=', grain).orderBy('bucket').execute()

const hourRows = (store: Store, siteNo: number) =>
  store.read
    .selectFrom(countsIn(store.read, 'event_rollups'))
    .select(['bucket', 'total'])
    .where('site_no', '=', siteNo)
    .where('grain', '=', GRAIN.hour)
    .orderBy('bucket')
    .execute()

testOnEveryEngine('an hour that has ended becomes hour rows, the current one stays in minutes', async (store) => {
  const { site_no } = await insertSite(store)
  await send(store, site_no, MIDNIGHT, MIDNIGHT + 90 * MINUTE)
  await rollUpAll(store, MIDNIGHT + 90 * MINUTE)
  assert.deepEqual(await hourRows(store, site_no), [{ bucket: MIDNIGHT, total: 60 }])
  assert.deepEqual(await dirtyBuckets(store, GRAIN.hour), [{ bucket: MIDNIGHT + HOUR }])
  assert.equal(await totalEvents(store, site_no), 90)
})

testOnEveryEngine('an event that comes late makes its hour due again', async (store) => {
  const { site_no } = await insertSite(store)
  await send(store, site_no, MIDNIGHT, MIDNIGHT + HOUR)
  await rollUpAll(store, MIDNIGHT + 2 * HOUR)
  await send(store, site_no, MIDNIGHT, MIDNIGHT + 5 * MINUTE)
  assert.deepEqual(await dirtyBuckets(store, GRAIN.hour), [{ bucket: MIDNIGHT }])
  await rollUpAll(store, MIDNIGHT + 2 * HOUR)
  assert.deepEqual(await hourRows(store, site_no), [{ bucket: MIDNIGHT, total: 65 }])
})

testOnEveryEngine('days are summed from hours, tags and event-tag pairs with them', async (store) => {
  const { site_no } = await insertSite(store)
  const sent = await send(store, site_no, MIDNIGHT, MIDNIGHT + DAY)
  await rollUpAll(store, MIDNIGHT + DAY + HOUR + 3 * MINUTE)
  assert.equal(await totalEvents(store, site_no, GRAIN.day), sent)
  const tags = await store.read
    .selectFrom(countsIn(store.read, 'tag_rollups'))
    .select(['tag_key', 'executions', 'le_100'])
    .where('grain', '=', GRAIN.day)
    .execute()
  assert.deepEqual(tags, [
    { tag_key: 'GA4', executions: sent, le_100: sent },
    { tag_key: 'tag_31', executions: sent, le_100: 0 },
  ])
  const pairs = await store.read
    .selectFrom(countsIn(store.read, 'event_tag_rollups'))
    .select(['event_name', 'tag_key', 'success', 'timeout'])
    .where('grain', '=', GRAIN.day)
    .execute()
  assert.deepEqual(pairs, [
    { event_name: 'purchase', tag_key: 'GA4', success: sent, timeout: 0 },
    { event_name: 'purchase', tag_key: 'tag_31', success: 0, timeout: sent },
  ])
  assert.deepEqual(await dirtyBuckets(store, GRAIN.day), [])
})

testOnEveryEngine('hour rows of a half-hour zone never span two local hours', async (store) => {
  const { site_no } = await insertSite(store, { timezone: 'Asia/Kolkata' })
  await send(store, site_no, MIDNIGHT, MIDNIGHT + HOUR, 10 * MINUTE)
  await rollUpAll(store, MIDNIGHT + 2 * HOUR)
  assert.deepEqual(await hourRows(store, site_no), [
    { bucket: MIDNIGHT, total: 3 },
    { bucket: MIDNIGHT + 30 * MINUTE, total: 3 },
  ])
})

testOnEveryEngine('retention keeps every total, and minute rows whose hour is not rolled up yet', async (store) => {
  const { site_no } = await insertSite(store)
  const now = MIDNIGHT + 8 * DAY
  await send(store, site_no, MIDNIGHT, MIDNIGHT + 2 * HOUR)
  await send(store, site_no, now - HOUR, now)
  await rollUpAll(store, now + HOUR)
  await send(store, site_no, MIDNIGHT + HOUR, MIDNIGHT + HOUR + 5 * MINUTE)
  await applyRetention(store, RETENTION, now, always)
  assert.equal(await totalEvents(store, site_no, GRAIN.minute), 60 + 5 + 60)
  await rollUpAll(store, now + HOUR)
  await applyRetention(store, RETENTION, now, always)
  assert.equal(await totalEvents(store, site_no, GRAIN.minute), 60)
  assert.equal(await totalEvents(store, site_no, GRAIN.hour), 60 + 65 + 60)
})

testOnEveryEngine('hours past their retention are deleted, and days with them', async (store) => {
  const { site_no } = await insertSite(store)
  await send(store, site_no, MIDNIGHT, MIDNIGHT + DAY, 10 * MINUTE)
  const now = MIDNIGHT + 401 * DAY + HOUR
  await rollUpAll(store, now)
  await applyRetention(store, RETENTION, now, always)
  for (const grain of Object.values(GRAIN)) assert.equal(await totalEvents(store, site_no, grain), 0)
})

testOnEveryEngine('the rows of a deleted site are deleted in steps that can be interrupted', async (store) => {
  const site = await insertSite(store)
  const other = await insertSite(store)
  await send(store, site.site_no, MIDNIGHT, MIDNIGHT + 2 * DAY)
  await send(store, other.site_no, MIDNIGHT, MIDNIGHT + HOUR)
  await store.write.deleteFrom('sites').where('id', '=', site.id).execute()
  await store.write
    .insertInto('site_removals')
    .values({ site_no: site.site_no, requested_at: MIDNIGHT, emptied_at: null })
    .execute()
  let steps = 0
  await removeDeletedSites(store, MIDNIGHT, () => ++steps <= 1)
  const left = await totalEvents(store, site.site_no)
  assert.ok(left > 0 && left < 2 * 24 * 60, `${left} left after one step`)
  await removeDeletedSites(store, MIDNIGHT, always)
  assert.equal(await totalEvents(store, site.site_no), 0)
  assert.equal(await totalEvents(store, other.site_no), 60)
})

testOnEveryEngine('a late row folded after the removal is deleted by the second check, a day later', async (store) => {
  const site = await insertSite(store)
  await store.write.deleteFrom('sites').where('id', '=', site.id).execute()
  await store.write
    .insertInto('site_removals')
    .values({ site_no: site.site_no, requested_at: MIDNIGHT, emptied_at: null })
    .execute()
  await removeDeletedSites(store, MIDNIGHT, always)
  await send(store, site.site_no, MIDNIGHT, MIDNIGHT + HOUR)
  await removeDeletedSites(store, MIDNIGHT + DAY, always)
  assert.equal(await totalEvents(store, site.site_no), 60)
  await removeDeletedSites(store, MIDNIGHT + DAY + HOUR, always)
  assert.equal(await totalEvents(store, site.site_no), 0)
  assert.deepEqual(await store.read.selectFrom('site_removals').selectAll().execute(), [])
})
