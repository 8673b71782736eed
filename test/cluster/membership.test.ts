import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { DEAD_AFTER_MS, listNodes, liveNodes, SURE_FOR_MS } from '../../src/cluster/index.ts'
import { DAY } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { MachineClock, TestClock } from '../../testkit/clock.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { asShared, joinNode } from './support.ts'

const NOW = Date.parse('2026-11-20T10:00:00.000Z')

const nodeIds = async (store: Store) => (await listNodes(store.write, NOW)).map(({ id }) => id).sort()

testOnEveryEngine('a node that has joined is shown and lives', async (store, t) => {
  const clock = new TestClock(NOW)
  const { membership, errors } = await joinNode(t, store, clock, { role: 'worker' })
  assert.deepEqual(await listNodes(store.write, NOW), [
    {
      id: membership.nodeId,
      name: `${hostname()}:${process.pid}`,
      role: 'worker',
      version: '1.2.3',
      startedAt: NOW,
      lastSeenAt: NOW,
      isAlive: true,
      leases: [],
    },
  ])
  assert.deepEqual(await membership.liveNodeIds(), [membership.nodeId])
  assert.deepEqual([membership.isSurelyAlive(), membership.trouble, errors], [true, null, []])
})

testOnEveryEngine('a node that does not beat is dead to others after 30 s, never to itself', async (own, t) => {
  const store = asShared(own)
  const clock = new TestClock(NOW)
  const silent = await joinNode(t, store, clock)
  const other = await joinNode(t, store, clock)
  const both = [silent.membership.nodeId, other.membership.nodeId].sort()

  clock.advance(DEAD_AFTER_MS - 1)
  await other.membership.beat()
  assert.deepEqual((await other.membership.liveNodeIds()).sort(), both)
  clock.advance(1)
  assert.deepEqual(await other.membership.liveNodeIds(), [other.membership.nodeId])
  assert.deepEqual((await silent.membership.liveNodeIds()).sort(), both)
  assert.deepEqual(
    (await listNodes(store.write, clock.now())).map(({ id, isAlive }) => [id, isAlive]).sort(),
    [
      [silent.membership.nodeId, false],
      [other.membership.nodeId, true],
    ].sort(),
  )

  await silent.membership.beat()
  assert.deepEqual((await other.membership.liveNodeIds()).sort(), both)
})

testOnEveryEngine('who lives can be asked within a transaction', async (store, t) => {
  const { membership } = await joinNode(t, store, new TestClock(NOW))
  const living = await store.write.transaction().execute((trx) => liveNodes(trx, NOW).execute())
  assert.deepEqual(living, [{ id: membership.nodeId }])
})

testOnEveryEngine('a node that leaves is gone at once, and its leases are free', async (own, t) => {
  const store = asShared(own)
  const clock = new TestClock(NOW)
  const leaving = await joinNode(t, store, clock)
  const staying = await joinNode(t, store, clock)
  assert.equal(await leaving.leases.claim('roll-up'), true)
  assert.equal(await staying.leases.claim('roll-up'), false)

  await leaving.membership.leave()
  assert.deepEqual(await staying.membership.liveNodeIds(), [staying.membership.nodeId])
  assert.equal(leaving.leases.holds('roll-up'), false)
  assert.equal(await staying.leases.claim('roll-up'), true)

  await leaving.membership.beat()
  assert.deepEqual(await nodeIds(store), [staying.membership.nodeId])
})

testOnEveryEngine('a store of one process is rid of its predecessors at once', async (own, t) => {
  const store = { ...asShared(own), isShared: false }
  const clock = new TestClock(NOW)
  const killed = await joinNode(t, store, clock)
  await killed.leases.claim('roll-up')
  const next = await joinNode(t, store, clock)
  assert.deepEqual(await next.membership.liveNodeIds(), [next.membership.nodeId])
  assert.deepEqual(await nodeIds(store), [next.membership.nodeId])
  assert.equal(await next.leases.claim('roll-up'), true)
})

testOnEveryEngine('a dead node is shown for a day', async (own, t) => {
  const store = asShared(own)
  const clock = new TestClock(NOW)
  await joinNode(t, store, clock)
  const other = await joinNode(t, store, clock)
  clock.advance(DAY)
  await other.membership.beat()
  assert.equal((await nodeIds(store)).length, 2)
  clock.advance(1)
  await other.membership.beat()
  assert.deepEqual(await nodeIds(store), [other.membership.nodeId])
})

testOnEveryEngine(
  'a node whose row was taken away for dead comes back, as one that may have lost all it held',
  async (own, t) => {
    const store = asShared(own)
    const { membership, leases } = await joinNode(t, store, new TestClock(NOW))
    await leases.claim('roll-up')
    await store.write.deleteFrom('nodes').execute()
    await membership.beat()
    assert.deepEqual(await nodeIds(store), [membership.nodeId])
    assert.equal(leases.holds('roll-up'), false)
    assert.equal(await leases.claim('roll-up'), true)
  },
)

testOnEveryEngine(
  'a heartbeat that does not get through is reported, and soon the node is not sure of itself',
  async (store, t) => {
    const clock = new TestClock(NOW)
    const { membership, errors } = await joinNode(t, store, clock)
    await store.close()
    clock.advance(SURE_FOR_MS - 1)
    await membership.beat()
    assert.equal(errors.length, 1)
    assert.equal(`heartbeat: ${membership.trouble}`, errors[0])
    assert.equal(membership.isSurelyAlive(), true)
    clock.advance(1)
    assert.equal(membership.isSurelyAlive(), false)

    await membership.leave()
    assert.match(errors[1] ?? '', /^leave: ./)
  },
)

testOnEveryEngine('a node is sure to be alive by the clock that says most has passed', async (store, t) => {
  const clock = new MachineClock(NOW)
  const { membership } = await joinNode(t, store, clock)
  clock.set(NOW - DAY)
  clock.advance(SURE_FOR_MS)
  assert.equal(membership.isSurelyAlive(), false)
  await membership.beat()
  assert.equal(membership.isSurelyAlive(), true)
  // As after the machine was suspended: its monotonic time stood still.
  clock.set(clock.now() + SURE_FOR_MS)
  assert.equal(membership.isSurelyAlive(), false)
})
