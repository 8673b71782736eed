import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { DEAD_AFTER_MS, HEARTBEAT_INTERVAL_MS } from '../../src/cluster/index.ts'
import { Ingest } from '../../src/ingest/index.ts'
import { OrphanFolding } from '../../src/journal/index.ts'
import { MINUTE, newId } from '../../src/lib/index.ts'
import { Maintenance } from '../../src/rollups/index.ts'
import type { Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { deltaOf, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { asShared, joinNode } from './support.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')

/** A node with its upkeep; its loops run when the test says so. */
async function openWorker(t: TestContext, store: Store, clock: TestClock) {
  const node = await joinNode(t, store, clock)
  const options = { ...node, store, clock, onError: (error: Error) => assert.fail(error) }
  const maintenance = new Maintenance({ ...options, retention: { minuteDays: 7, hourDays: 400 } })
  const loops = [...maintenance.loops, ...new OrphanFolding(options).loops]
  const round = async () => {
    for (const loop of loops) await loop.tick()
  }
  return { ...node, loops, round }
}

const oneEvent = (siteNo: number) => deltaOf(siteNo, [eventPayload({ timestamp_ms: NOW })], NOW)

const held = ({ leases }: { leases: { holdings: ReadonlyMap<string, boolean> } }) =>
  [...leases.holdings].flatMap(([name, isHeld]) => (isHeld ? [name] : [])).sort()

testOnEveryEngine('every loop of the upkeep runs on one node, save the fold of what others left', async (own, t) => {
  const store = asShared(own)
  const clock = new TestClock(NOW)
  const one = await openWorker(t, store, clock)
  const two = await openWorker(t, store, clock)
  await one.round()
  await two.round()
  const names = one.loops.map(({ name }) => name)
  assert.deepEqual(held(one), names.filter((name) => name !== 'orphans').sort())
  assert.deepEqual(held(two), [])
})

testOnEveryEngine(
  'what a dead node left in the journal is counted within a minute, also when the node died that did it',
  async (own, t) => {
    const store = asShared(own)
    const clock = new TestClock(NOW)
    const { site_no } = await insertSite(store)
    const upkeep = await openWorker(t, store, clock)
    await upkeep.round()
    const ingesting = await joinNode(t, store, clock)
    const heir = await openWorker(t, store, clock)
    await writeJournal(store, ingesting.membership.nodeId, 1, oneEvent(site_no))
    await writeJournal(store, upkeep.membership.nodeId, 1, oneEvent(site_no))

    const slowest = Math.max(...heir.loops.map(({ intervalMs }) => intervalMs).filter((ms) => ms < MINUTE))
    const longest = DEAD_AFTER_MS + slowest
    assert.ok(longest + HEARTBEAT_INTERVAL_MS < MINUTE)
    for (let passed = 0; passed < longest; passed += HEARTBEAT_INTERVAL_MS) {
      assert.equal(await totalEvents(store, site_no), passed < DEAD_AFTER_MS ? 0 : 2)
      clock.advance(HEARTBEAT_INTERVAL_MS)
      await heir.membership.beat()
      await heir.round()
    }
    assert.equal(await totalEvents(store, site_no), 2)
  },
)

testOnEveryEngine('what a live node has in its journal is left to it, save by a node that starts', async (own, t) => {
  const store = asShared(own)
  const clock = new TestClock(NOW)
  const { site_no } = await insertSite(store)
  const living = await joinNode(t, store, clock)
  await writeJournal(store, living.membership.nodeId, 1, oneEvent(site_no))
  await writeJournal(store, newId(), 1, oneEvent(site_no))

  await (await openWorker(t, store, clock)).round()
  assert.equal(await totalEvents(store, site_no), 1)
  assert.equal(
    (await store.read.selectFrom('journal').select('node_id').execute())[0]?.node_id,
    living.membership.nodeId,
  )

  // It may be the next life of any of them: its predecessor counts as living for half a minute.
  const starting = await joinNode(t, store, clock)
  const expiry = { expiryTime: () => clock.now() }
  const keyHeaders = ['x-service-key']
  const ingest = await Ingest.open({ ...starting, store, clock, expiry, keyHeaders, onError: assert.fail })
  t.after(() => ingest.stop().catch(() => undefined)) // The engine's own end may have come first.
  assert.equal(await totalEvents(store, site_no), 2)
  assert.deepEqual(await store.read.selectFrom('journal').select('node_id').execute(), [])
})
