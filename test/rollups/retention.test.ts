import assert from 'node:assert/strict'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { applyRetention, foldOrphans, GRAIN, rollUp } from '../../src/rollups/index.ts'
import type { Store } from '../../src/store/index.ts'
import { deltaOf, encode, eventPayload, totalEvents } from '../support/deltas.ts'
import { testOnEveryEngine } from '../support/engines.ts'
import { insertSite } from '../support/sites.ts'

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

async function rollUpAll(store: Store, now: number): Promise<void> {
  while ((await rollUp(store, now)) > 0);
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
    // A node accepts one more of the same hour, a day late, and dies; nobody folds its row for five days.
    await accept(store, site_no, sent + MINUTE, sent + DAY)
    await applyRetention(store, RETENTION, NOW, always)
    assert.equal(await totalEvents(store, site_no), 1)
    await foldOrphans(store, [])
    await rollUpAll(store, NOW)
    assert.equal(await totalEvents(store, site_no, GRAIN.hour), 3)
    await applyRetention(store, RETENTION, NOW, always)
    assert.equal(await totalEvents(store, site_no), 0)
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
