import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { DEAD_AFTER_MS, HEARTBEAT_INTERVAL_MS, listNodes, SURE_FOR_MS } from '../../src/cluster/index.ts'
import { exclusively } from '../../src/cluster/leases.ts'
import { type Clock, SECOND } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { asShared, joinNode } from './support.ts'

const NOW = Date.parse('2026-11-20T10:00:00.000Z')

async function twoNodes(t: TestContext, own: Store) {
  const store = asShared(own)
  const clock = new TestClock(NOW)
  return { store, clock, one: await joinNode(t, store, clock), two: await joinNode(t, store, clock) }
}

testOnEveryEngine(
  'a node keeps its lease for as long as it sends heartbeats, whichever other node asks',
  async (own, t) => {
    const { store, clock, one, two } = await twoNodes(t, own)
    assert.equal(one.leases.holds('roll-up'), false)
    assert.equal(await one.leases.claim('roll-up'), true)
    assert.equal(await two.leases.claim('retention'), true)
    for (let beats = 0; beats < 20; beats++) {
      clock.advance(HEARTBEAT_INTERVAL_MS)
      await one.membership.beat()
      await two.membership.beat()
      assert.equal(await two.leases.claim('roll-up'), false)
      assert.equal(two.leases.holds('roll-up'), false)
      assert.equal(one.leases.holds('roll-up'), true)
      assert.equal(await one.leases.claim('roll-up'), true)
    }
    assert.deepEqual([...one.leases.holdings], [['roll-up', true]])
    assert.deepEqual(Object.fromEntries(two.leases.holdings), { retention: true, 'roll-up': false })
    const shown = await listNodes(store.write, clock.now())
    assert.deepEqual(shown.find(({ id }) => id === one.membership.nodeId)?.leases, ['roll-up'])
  },
)

testOnEveryEngine("a dead node's lease is free, and not a moment earlier", async (own, t) => {
  const { clock, one, two } = await twoNodes(t, own)
  await one.leases.claim('roll-up')
  clock.advance(DEAD_AFTER_MS - 1)
  assert.equal(await two.leases.claim('roll-up'), false)
  clock.advance(1)
  assert.equal(await two.leases.claim('roll-up'), true)
})

testOnEveryEngine("of many nodes that claim a dead node's lease at once one gets it", async (own, t) => {
  const { store, clock, one } = await twoNodes(t, own)
  await one.leases.claim('roll-up')
  clock.advance(DEAD_AFTER_MS)
  const heirs = await Promise.all(Array.from({ length: 8 }, () => joinNode(t, store, clock)))
  const results = await Promise.all(heirs.map(({ leases }) => leases.claim('roll-up')))
  assert.equal(results.filter((got) => got).length, 1)
})

testOnEveryEngine(
  'a stalled node does not hold what another may have taken, before it learns of that',
  async (own, t) => {
    const { clock, one, two } = await twoNodes(t, own)
    await one.leases.claim('roll-up')
    await one.leases.claim('retention')
    clock.advance(SURE_FOR_MS - 1)
    assert.equal(one.leases.holds('roll-up'), true)
    clock.advance(1)
    assert.equal(one.leases.holds('roll-up'), false)

    clock.advance(DEAD_AFTER_MS)
    assert.equal(await two.leases.claim('roll-up'), true)
    await one.membership.beat()
    // It lives again, but what it held before counts no more.
    assert.equal(one.leases.holds('roll-up'), false)
    assert.equal(one.leases.holds('retention'), false)
    assert.equal(await one.leases.claim('roll-up'), false)
    assert.equal(await one.leases.claim('retention'), true)
    assert.equal(one.leases.holds('retention'), true)
  },
)

testOnEveryEngine('a claim after a stall begins with a heartbeat', async (own, t) => {
  const { clock, one, two } = await twoNodes(t, own)
  clock.advance(DEAD_AFTER_MS)
  assert.equal(await one.leases.claim('roll-up'), true)
  assert.deepEqual(await one.membership.liveNodeIds(), [one.membership.nodeId])
  assert.equal(await two.leases.claim('roll-up'), false)
})

testOnEveryEngine(
  'a heartbeat that was long on its way does not bring back what was lost meanwhile',
  async (own, t) => {
    const store = asShared(own)
    const clock = new TestClock(NOW)
    /** Lets time pass between the next look at it and the one after. */
    let delay = 0
    const slow: Clock = {
      now() {
        const now = clock.now()
        clock.advance(delay)
        delay = 0
        return now
      },
    }
    const one = await joinNode(t, store, slow)
    const two = await joinNode(t, store, clock)
    await one.leases.claim('roll-up')

    clock.advance(19 * SECOND)
    delay = 15 * SECOND
    await one.membership.beat()
    assert.equal(clock.now(), NOW + 34 * SECOND)
    assert.equal(one.membership.isSurelyAlive(), true)
    assert.equal(one.leases.holds('roll-up'), false)
    await two.membership.beat()
    assert.equal(await two.leases.claim('roll-up'), false)
    assert.equal(await one.leases.claim('roll-up'), true)
    // It was sent at 19 s, which is what others see.
    clock.advance(5 * SECOND)
    assert.equal(one.leases.holds('roll-up'), false)
  },
)

testOnEveryEngine("a lease that is given up is free; one that is another's is left alone", async (own, t) => {
  const { one, two } = await twoNodes(t, own)
  await one.leases.claim('roll-up')
  await two.leases.release('roll-up')
  assert.equal(await two.leases.claim('roll-up'), false)
  await one.leases.release('roll-up')
  assert.equal(one.leases.holds('roll-up'), false)
  assert.equal(await two.leases.claim('roll-up'), true)
})

testOnEveryEngine('a node whose heartbeat fails claims nothing and says why', async (store, t) => {
  const clock = new TestClock(NOW)
  const { leases, errors } = await joinNode(t, store, clock)
  await leases.claim('roll-up')
  await store.close()
  clock.advance(SURE_FOR_MS)
  await assert.rejects(leases.claim('roll-up'), /heartbeat does not get through/)
  assert.match(errors[0] ?? '', /^heartbeat: ./)
  await assert.rejects(leases.claim('removal'), /heartbeat does not get through/)
  assert.equal(errors.length, 1, 'no heartbeat is sent a moment after one failed')
})

testOnEveryEngine('exclusive work is done on one node, on the next when that one dies', async (own, t) => {
  const { clock, one, two } = await twoNodes(t, own)
  const done: string[] = []
  const tickOne = exclusively(one.leases, 'roll-up', async () => void done.push('one'))
  const tickTwo = exclusively(two.leases, 'roll-up', async () => void done.push('two'))
  await tickOne()
  await tickTwo()
  await tickOne()
  assert.deepEqual(done, ['one', 'one'])
  clock.advance(DEAD_AFTER_MS)
  await tickTwo()
  await tickOne()
  assert.deepEqual(done, ['one', 'one', 'two'])
})

testOnEveryEngine("long work can see between its steps that it is not its node's any more", async (own, t) => {
  const { clock, one } = await twoNodes(t, own)
  const answers: boolean[] = []
  await exclusively(one.leases, 'retention', async (isOurs) => {
    answers.push(isOurs())
    clock.advance(SURE_FOR_MS)
    answers.push(isOurs())
    await one.membership.beat()
    answers.push(isOurs())
  })()
  assert.deepEqual(answers, [true, false, false])
})
