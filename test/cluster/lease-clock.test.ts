import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DatabaseClock, DEAD_AFTER_MS, HEARTBEAT_INTERVAL_MS } from '../../src/cluster/index.ts'
import { DAY, HOUR } from '../../src/lib/index.ts'
import { MachineClock } from '../../testkit/clock.ts'
import { openEmptyStore, postgres } from '../../testkit/engines.ts'
import { joinNode } from './support.ts'

const NOW = Date.parse('2026-11-20T10:00:00.000Z')

/** Two nodes on machines with clocks of their own, and a database whose clock can be set. */
async function twoNodes(t: TestContext) {
  const store = await openEmptyStore(postgres, t)
  const database = new MachineClock(NOW)
  const machines = [new MachineClock(NOW + DAY), new MachineClock(NOW - DAY)] as const
  const join = async (machine: MachineClock) => {
    const clock = await DatabaseClock.open(machine, () => Promise.resolve(database.now()))
    const node = await joinNode(t, store, clock)
    /** What a node does every few seconds. */
    const beat = async () => {
      await clock.correct()
      await node.membership.beat()
    }
    return { ...node, beat }
  }
  return {
    one: await join(machines[0]),
    two: await join(machines[1]),
    setDatabaseClock: (by: number) => database.set(database.now() + by),
    pass: (ms: number) => {
      for (const clock of [database, ...machines]) clock.advance(ms)
    },
  }
}

for (const by of [HOUR, -HOUR]) {
  for (const first of ['holder', 'claimant'] as const) {
    const direction = by > 0 ? 'ahead' : 'back'
    test(`a live node keeps its lease when the database's clock is set ${direction}, also if its ${first} notices first`, async (t) => {
      const { one, two, setDatabaseClock, pass } = await twoNodes(t)
      assert.equal(await one.leases.claim('retention'), true)
      setDatabaseClock(by)
      if (first === 'holder') await one.beat()
      assert.equal(await two.leases.claim('retention'), false)
      for (let passed = 0; passed < 3 * DEAD_AFTER_MS; passed += HEARTBEAT_INTERVAL_MS) {
        pass(HEARTBEAT_INTERVAL_MS)
        await one.beat()
        await two.beat()
        assert.equal(await two.leases.claim('retention'), false)
        assert.equal(one.leases.holds('retention'), true)
      }
    })
  }
}

test("a dead node's lease is free once every node had the time to send a heartbeat by the clock that was set, and not a moment earlier", async (t) => {
  const { one, two, setDatabaseClock, pass } = await twoNodes(t)
  assert.equal(await one.leases.claim('retention'), true)
  setDatabaseClock(HOUR)
  assert.equal(await two.leases.claim('retention'), false)
  // A lease without a holder is free without judging any heartbeat.
  assert.equal(await two.leases.claim('roll-up'), true)
  pass(DEAD_AFTER_MS - 1)
  assert.equal(await two.leases.claim('retention'), false)
  pass(1)
  assert.equal(await two.leases.claim('retention'), true)
  assert.equal(two.leases.holds('retention'), true)
  assert.equal(one.leases.holds('retention'), false)
})

test("a node that died while the database's clock was ahead is dead half a minute after that is set right", async (t) => {
  const { one, two, setDatabaseClock, pass } = await twoNodes(t)
  setDatabaseClock(HOUR)
  await one.beat()
  assert.equal(await one.leases.claim('retention'), true)
  setDatabaseClock(-HOUR)
  let passed = 0
  for (; passed < 3 * DEAD_AFTER_MS; passed += HEARTBEAT_INTERVAL_MS) {
    await two.beat()
    if (await two.leases.claim('retention')) break
    pass(HEARTBEAT_INTERVAL_MS)
  }
  assert.equal(passed, DEAD_AFTER_MS)
})
