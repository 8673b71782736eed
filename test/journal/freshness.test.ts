import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Folder, Freshness } from '../../src/journal/index.ts'
import { JournalFolder } from '../../src/journal/journal-folder.ts'
import { laneOf, startOfLane } from '../../src/journal/lanes.ts'
import { MINUTE, SECOND } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { deltaOf, encode, eventPayload, totalEvents } from '../../testkit/deltas.ts'
import { openEmptyStore, postgres, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
const LANES = 4

/** Writes an event of the site as the commit of a node does that has four lanes; returns what the commit says of it. */
async function write(store: Store, nodeId: string, siteNo: number, { ageMs = 0, nth = 1 } = {}) {
  const lane = laneOf(siteNo, LANES)
  const seq = startOfLane(lane) + nth
  const written_at = ((await store.now?.()) ?? NOW) - ageMs
  const payload = encode(deltaOf(siteNo, [eventPayload({ timestamp_ms: NOW })], NOW))
  await store.write.insertInto('journal').values({ node_id: nodeId, seq, written_at, payload }).execute()
  return [{ lane, seq, siteNos: [siteNo], characters: payload.length }]
}

const waitingRows = async (store: Store) => (await store.read.selectFrom('journal').select('seq').execute()).length

testOnEveryEngine(
  'before a report of a site what it sent is folded, and what other sites sent waits',
  async (store) => {
    const [a, b] = [await insertSite(store), await insertSite(store, { id: 'b' })]
    const clock = new TestClock(NOW)
    const folder = new JournalFolder(store, new Folder(store, () => a.client_id), clock, 'node')
    const freshness = new Freshness({ store, clock, folder, nodeId: 'node' })
    for (const { site_no } of [a, b]) folder.onSettled(await write(store, 'node', site_no))
    const ofA = () => freshness.ofSite(() => Promise.resolve(a.site_no))
    await ofA()
    assert.equal(await totalEvents(store, a.site_no), 0, 'what was accepted this second is folded in the next')
    clock.advance(SECOND)
    await ofA()
    assert.equal(await totalEvents(store, a.site_no), 1)
    assert.equal(await totalEvents(store, b.site_no), 0)
    assert.equal(folder.oldestUnfoldedOf(a.site_no), null)
    assert.equal(folder.oldestUnfoldedAt, NOW)
    folder.onSettled(await write(store, 'node', a.site_no, { nth: 2 }))
    clock.advance(SECOND)
    await freshness.ofAll()
    assert.equal(await totalEvents(store, a.site_no), 2)
    assert.equal(await totalEvents(store, b.site_no), 1)
    assert.equal(folder.oldestUnfoldedAt, null)
  },
)

testOnEveryEngine(
  'a site that does not exist, and a node that takes no requests, have nothing to fold',
  async (store) => {
    const { site_no } = await insertSite(store)
    const clock = new TestClock(NOW)
    const freshness = new Freshness({ store, clock, folder: null, nodeId: 'worker' })
    await freshness.ofSite(() => Promise.resolve(undefined))
    await freshness.ofSite(() => Promise.resolve(site_no))
    await freshness.ofAll()
  },
)

testOnEveryEngine(
  'on a shared database a report shows what other nodes have accepted a second ago, also those that have just died',
  async (store) => {
    const [a, b] = [await insertSite(store), await insertSite(store, { id: 'b' })]
    const freshness = new Freshness({ store, clock: new TestClock(NOW), folder: null, nodeId: 'worker' })
    await write(store, 'ingest', a.site_no, { ageMs: 2 * SECOND })
    await write(store, 'killed', a.site_no, { ageMs: 4 * SECOND })
    await write(store, 'ingest', b.site_no, { ageMs: 2 * SECOND })
    await write(store, 'newest', a.site_no, { ageMs: -MINUTE })
    await freshness.ofSite(() => Promise.resolve(a.site_no))
    // Where a process has its database to itself, it has read the rows of earlier ones at its start.
    const isShared = store.isShared
    assert.equal(await totalEvents(store, a.site_no), isShared ? 2 : 0)
    assert.equal(await totalEvents(store, b.site_no), 0)
    await freshness.ofAll()
    assert.equal(await totalEvents(store, b.site_no), isShared ? 1 : 0)
    assert.equal(await waitingRows(store), isShared ? 1 : 4)
  },
)

test('reports at the same time look through the journal once, and those asked for meanwhile once more', async (t) => {
  const store = await openEmptyStore(postgres, t)
  const { site_no } = await insertSite(store)
  const isUnderWay = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  let searches = 0
  const read = store.read.withPlugin({
    transformQuery({ node }) {
      if ('groupBy' in node && node.groupBy !== undefined) searches++
      return node
    },
    async transformResult({ result }) {
      isUnderWay.resolve()
      await mayEnd.promise
      return result
    },
  })
  const clock = new TestClock(NOW)
  const freshness = new Freshness({ store: { ...store, read }, clock, folder: null, nodeId: 'worker' })
  const reports = (count: number) => Array.from({ length: count }, () => freshness.ofSite(async () => site_no))
  const first = reports(3)
  await isUnderWay.promise
  await write(store, 'ingest', site_no, { ageMs: 2 * SECOND })
  const [later = Promise.reject(), ...others] = reports(3)
  mayEnd.resolve()
  await Promise.all(first)
  await later
  assert.equal(await totalEvents(store, site_no), 1)
  await Promise.all(others)
  assert.equal(searches, 2)
})

test('rows of a program of the version before, and what was spilled, may be of any site', async (t) => {
  const store = await openEmptyStore(postgres, t)
  const { site_no } = await insertSite(store)
  const now = (await store.now?.()) ?? NOW
  const payload = encode(deltaOf(site_no, [eventPayload({ timestamp_ms: NOW })], NOW))
  for (const node_id of ['old', `old/9/${site_no}`]) {
    await store.write
      .insertInto('journal')
      .values({ node_id, seq: 1, written_at: now - MINUTE, payload })
      .execute()
  }
  const freshness = new Freshness({ store, clock: new TestClock(NOW), folder: null, nodeId: 'worker' })
  await freshness.ofSite(() => Promise.resolve(site_no))
  assert.equal(await totalEvents(store, site_no), 2)
})
