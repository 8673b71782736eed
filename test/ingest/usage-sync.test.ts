import assert from 'node:assert/strict'
import { ClientMeter } from '../../src/ingest/limits.ts'
import { UsageSync } from '../../src/ingest/usage-sync.ts'
import { Folder } from '../../src/journal/index.ts'
import { JournalFolder } from '../../src/journal/journal-folder.ts'
import { MIXED_LANE, startOfLane } from '../../src/journal/lanes.ts'
import { SECOND } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { deltaOf, eventPayload, mixedRow, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { asShared } from '../cluster/support.ts'

const NOW = Date.parse('2026-11-20T10:00:00.000Z')
const QUOTA = 100

/** A node that commits for one client and counts it against a quota. */
class Node {
  readonly meter: ClientMeter
  readonly sync: UsageSync
  readonly folder: JournalFolder
  readonly #store: Store
  readonly #clock: TestClock
  readonly #id: string
  #seq = 0

  constructor(single: Store, clock: TestClock, id: string, store = asShared(single), eventsPerMonth = QUOTA) {
    this.#store = store
    this.#clock = clock
    this.#id = id
    this.meter = new ClientMeter({ requestsPerSecond: null, eventsPerMonth }, clock.now())
    this.folder = new JournalFolder(store, new Folder(store, () => 'client'), clock, id)
    this.sync = new UsageSync({ store, clock, folder: this.folder, meters: new Map([['client', this.meter]]) })
  }

  /** Takes as many events as the quota allows, at most `wanted`, and commits them; returns how many. */
  async accept(wanted: number): Promise<number> {
    const taken = this.take(wanted)
    if (taken > 0) await this.settle(taken)
    return taken
  }

  /** Takes events whose commit is under way until they are settled. */
  take(wanted: number): number {
    let taken = 0
    while (taken < wanted && this.meter.takeEvents(1, this.#clock.now()) === undefined) taken++
    return taken
  }

  async settle(events: number, takenAt = this.#clock.now(), lane = MIXED_LANE): Promise<void> {
    const now = this.#clock.now()
    const payloads = Array.from({ length: events }, () => eventPayload({ timestamp_ms: now }))
    const seq = startOfLane(lane) + ++this.#seq
    await writeJournal(this.#store, this.#id, seq, deltaOf(7, payloads, now))
    this.folder.onSettled([{ ...mixedRow(seq), lane }])
    this.meter.settleEvents(events, takenAt)
  }

  /** What the meter still lets through; counts as taken. */
  left(): number {
    return this.take(2 * QUOTA)
  }
}

testOnEveryEngine('what one node accepted is gone from the quota of the other', async (store) => {
  const clock = new TestClock(NOW)
  const [a, b] = [new Node(store, clock, 'a'), new Node(store, clock, 'b')]
  assert.equal(await a.accept(60), 60)
  await a.folder.fold()
  assert.equal(await b.accept(10), 10)
  await b.sync.tick()
  await a.accept(1)
  await a.sync.tick()
  assert.equal(b.left(), QUOTA - 70)
  assert.equal(a.left(), QUOTA - 71)
})

testOnEveryEngine(
  'two busy nodes together exceed the quota by no more than they accept between two syncs',
  async (store) => {
    const clock = new TestClock(NOW)
    const nodes = [new Node(store, clock, 'a'), new Node(store, clock, 'b')]
    const perRound = 7
    let accepted = 0
    for (let rounds = 0; rounds < 20; rounds++) {
      for (const node of nodes) accepted += await node.accept(perRound)
      for (const node of nodes) await node.sync.tick()
      clock.advance(2 * SECOND)
    }
    assert.ok(accepted >= QUOTA && accepted <= QUOTA + 2 * perRound, `${accepted}`)
    for (const node of nodes) assert.equal(node.left(), 0)
  },
)

testOnEveryEngine(
  'events whose commit is under way, and those that come while the store is asked, stay counted',
  async (store) => {
    const clock = new TestClock(NOW)
    const node = new Node(store, clock, 'a')
    await node.accept(20)
    const underWay = node.take(5)
    const syncing = node.sync.tick()
    const duringSync = node.take(3)
    await Promise.all([syncing, node.settle(underWay), node.folder.fold()])
    assert.equal(node.left(), QUOTA - 28)
    node.meter.giveBackEvents(QUOTA - 28, NOW)
    await node.settle(duringSync)
    await node.sync.tick()
    assert.equal(node.left(), QUOTA - 28)
  },
)

testOnEveryEngine('events that settle while the lanes before theirs are folded count once', async (single) => {
  const shared = asShared(single)
  let act: (() => Promise<void>) | undefined
  const store: Store = {
    ...shared,
    async batch(operations, options) {
      const now = act
      act = undefined
      await now?.()
      await shared.batch(operations, options)
    },
  }
  const node = new Node(single, new TestClock(NOW), 'a', store)
  await node.accept(20)
  await node.settle(node.take(10), NOW, 2)
  const underWay = node.take(5)
  act = () => node.settle(underWay, NOW, 2)
  await node.sync.tick()
  assert.equal(node.left(), QUOTA - 35)
  assert.notEqual(node.folder.oldestUnfoldedOf(7), null)
  await node.folder.fold()
  assert.equal(await totalEvents(store, 7), 35)
  assert.equal(node.folder.oldestUnfoldedAt, null)
})

testLogic('events that were given back are not in the way of the next count', async (store) => {
  const node = new Node(store, new TestClock(NOW), 'a')
  await node.accept(20)
  node.meter.giveBackEvents(node.take(30), NOW)
  await node.sync.tick()
  assert.equal(node.left(), QUOTA - 20)
})

testLogic('a client that sends nothing here is looked at every half minute', async (store) => {
  const clock = new TestClock(NOW)
  const [a, b] = [new Node(store, clock, 'a'), new Node(store, clock, 'b')]
  await a.accept(QUOTA)
  await a.folder.fold()
  await b.sync.tick()
  assert.equal(b.meter.takeRequest(clock.now()), undefined)
  clock.advance(30 * SECOND)
  await b.sync.tick()
  assert.notEqual(b.meter.takeRequest(clock.now()), undefined)
})

testLogic('in a new month the old count is forgotten', async (store) => {
  const clock = new TestClock('2026-11-30T23:59:59.000Z')
  const node = new Node(store, clock, 'a')
  await node.accept(QUOTA)
  await node.sync.tick()
  clock.advance(2 * SECOND)
  assert.equal(await node.accept(30), 30)
  await node.sync.tick()
  assert.equal(node.left(), QUOTA - 30)
})

testOnEveryEngine(
  'what was accepted of a month counts again when the clock is set back to it, also where a process is alone',
  async (store) => {
    const november = new Node(store, new TestClock(NOW), 'a', store)
    await november.accept(70)
    await november.folder.fold()
    // Started by a clock that was wrong.
    const clock = new TestClock('2026-12-01T00:10:00.000Z')
    const next = new Node(store, clock, 'b', store)
    await next.accept(20)
    await next.sync.tick()
    clock.set(NOW)
    assert.equal(await next.accept(5), 5)
    await next.sync.tick()
    assert.equal(next.left(), QUOTA - 75)
    clock.set('2026-12-01T00:10:00.000Z')
    await next.sync.tick()
    assert.equal(next.left(), QUOTA - 20)
  },
)

testOnEveryEngine('a node goes on counting locally when the store does not answer', async (store) => {
  const clock = new TestClock(NOW)
  const node = new Node(store, clock, 'a')
  await node.accept(40)
  await node.sync.tick()
  assert.equal(node.take(10), 10)
  await store.close()
  await assert.rejects(node.sync.tick())
  assert.equal(node.left(), QUOTA - 50)
})

testOnEveryEngine(
  'a busy node folds for the sake of a quota when little is left of it, much was taken at once, or every half minute',
  async (store) => {
    const clock = new TestClock(NOW)
    const node = new Node(store, clock, 'a', undefined, 10_000)
    // So much waits that lanes wait for more.
    const siteNos = Array.from({ length: 2_000 }, (_, index) => 1_000 + index)
    let rows = 0
    const isFoldedAfter = async (events: number) => {
      node.folder.onSettled([{ lane: 2, seq: startOfLane(2) + ++rows, siteNos, characters: 0 }])
      await node.accept(events)
      await node.sync.tick()
      return !node.folder.isBusy
    }
    assert.equal(await isFoldedAfter(50), false)
    assert.equal(await isFoldedAfter(50), true, 'a hundredth of the quota since the start')
    assert.equal(await isFoldedAfter(99), false)
    clock.advance(30 * SECOND)
    assert.equal(await isFoldedAfter(0), true)
    node.meter.setUsage(7_990, clock.now())
    assert.equal(await isFoldedAfter(10), true, 'little is left')
  },
)
