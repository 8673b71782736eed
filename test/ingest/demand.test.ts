import assert from 'node:assert/strict'
import { Demand, ROUND_INTERVAL_MS } from '../../src/ingest/demand.ts'
import { ClientMeter } from '../../src/ingest/limits.ts'
import { SECOND } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'

const START = Date.parse('2026-11-20T10:00:00.000Z')
const STEP_MS = 50
const WINDOW_S = 10
const LIMIT = 100

/** Requests a second that a node gets, `at` seconds after the start. */
type Load = (node: number, at: number) => number

interface Run {
  nodes?: number
  limit?: number
  seconds?: number
  load: Load
  /** Seconds in which a node runs; without it all run all the time. */
  lifeOf?: (node: number) => readonly [from: number, to: number]
}

interface AcceptedLoad {
  offered: number
  accepted: number
  /** The least and the most that was accepted in any ten seconds, as parts of what the limit allows. */
  least: number
  most: number
}

/** Several nodes on one store, whose rounds are out of step with each other as they are in life. */
async function run(store: Store, options: Run): Promise<AcceptedLoad> {
  const { load, nodes: count = 3, limit = LIMIT, seconds = 30, lifeOf = () => [0, seconds] } = options
  const clock = new TestClock(START)
  const secondsPast = () => (clock.now() - START) / SECOND
  const runs = (node: number) => lifeOf(node)[0] <= secondsPast() && secondsPast() < lifeOf(node)[1]
  const start = async (node: number) => {
    const meter = new ClientMeter({ requestsPerSecond: limit, eventsPerMonth: null }, clock.now())
    const meters = new Map([['client', meter]])
    const living = () => Promise.resolve(nodes.size)
    const demand = new Demand({ store, clock, nodeId: `node ${node}`, meters, nodes: living })
    const started = { meter, demand, waiting: 0, roundAt: clock.now() + (node % 5) * STEP_MS }
    nodes.set(node, started)
    await demand.tick()
  }
  const nodes = new Map<number, { meter: ClientMeter; demand: Demand; waiting: number; roundAt: number }>()
  const acceptedPerStep: number[] = []
  let offered = 0
  while (secondsPast() < seconds) {
    for (let node = 0; node < count; node++) {
      if (runs(node) && !nodes.has(node)) await start(node)
      if (!runs(node)) nodes.delete(node)
    }
    let accepted = 0
    for (const [number, node] of nodes) {
      node.waiting += (load(number, secondsPast()) * STEP_MS) / SECOND
      for (; node.waiting >= 1; node.waiting--) {
        offered++
        if (node.meter.takeRequest(clock.now()) === undefined) accepted++
      }
    }
    acceptedPerStep.push(accepted)
    clock.advance(STEP_MS)
    for (const node of nodes.values()) {
      if (clock.now() < node.roundAt) continue
      node.roundAt = clock.now() + ROUND_INTERVAL_MS
      await node.demand.tick()
    }
  }
  return { offered, accepted: sumOf(acceptedPerStep), ...extremes(acceptedPerStep, limit) }
}

function extremes(acceptedPerStep: readonly number[], limit: number): Pick<AcceptedLoad, 'least' | 'most'> {
  const steps = (WINDOW_S * SECOND) / STEP_MS
  const windows = acceptedPerStep
    .slice(0, 1 - steps)
    .map((_, first) => sumOf(acceptedPerStep.slice(first, first + steps)) / (WINDOW_S * limit))
  return { least: Math.min(...windows), most: Math.max(...windows) }
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

function assertBetween(course: AcceptedLoad, least: number, most = 1.1): void {
  assert.ok(course.least >= least, `only ${course.least} of the limit`)
  assert.ok(course.most <= most, `${course.most} of the limit`)
}

testOnEveryEngine('three nodes with equal load far over the limit accept the limit together', async (store) => {
  assertBetween(await run(store, { load: () => LIMIT }), 0.95)
})

testOnEveryEngine('so do ten nodes', async (store) => {
  assertBetween(await run(store, { nodes: 10, seconds: 15, load: () => LIMIT / 4 }), 0.95)
})

testOnEveryEngine('a load as large as the limit on all nodes together is let through', async (store) => {
  const course = await run(store, { seconds: 15, load: () => LIMIT / 3 })
  assert.equal(course.accepted, course.offered)
})

testOnEveryEngine('a client whose load is all on one node gets its whole limit there', async (store) => {
  assertBetween(await run(store, { load: (node) => (node === 0 ? 3 * LIMIT : 0) }), 0.95)
})

testOnEveryEngine('a load that moves to another node every five seconds takes its limit along', async (store) => {
  const load: Load = (node, at) => (node === Math.floor(at / 5) % 3 ? 3 * LIMIT : 0)
  assertBetween(await run(store, { load }), 0.85)
})

testOnEveryEngine('load that starts and stops on other nodes every second never gets through on top', async (store) => {
  const load: Load = (node, at) => (node === 0 || Math.floor(at) % 2 === 1 ? 3 * LIMIT : 0)
  assertBetween(await run(store, { load }), 0.7)
})

testOnEveryEngine(
  'load that reaches the nodes one shortly after the other is not let through on each of them',
  async (store) => {
    const load: Load = (node, at) => (at >= 1 + node * 0.3 ? 3 * LIMIT : 0)
    assertBetween(await run(store, { seconds: 15, load }), 0.8)
  },
)

testOnEveryEngine('a node that joins gets its part of the limit, and the sum stays', async (store) => {
  const lifeOf = (node: number): [number, number] => [node === 2 ? 12 : 0, Number.POSITIVE_INFINITY]
  assertBetween(await run(store, { lifeOf, load: () => LIMIT }), 0.95)
})

testOnEveryEngine('the part of a node that dies goes to the others', async (store) => {
  const lifeOf = (node: number): [number, number] => [0, node === 0 ? 12 : Number.POSITIVE_INFINITY]
  assertBetween(await run(store, { lifeOf, load: () => LIMIT }), 0.9)
})

testOnEveryEngine('a small limit on many nodes is never exceeded', async (store) => {
  assertBetween(await run(store, { nodes: 3, limit: 10, load: () => 10 }), 0.9)
  assertBetween(await run(store, { nodes: 10, limit: 10, seconds: 15, load: () => 3 }), 0.5)
})

testOnEveryEngine(
  'a client far below its limit gets through on whichever node it uses, and no node publishes its demand',
  async (store) => {
    const load: Load = (node, at) => (node === Math.floor(at / 2) % 3 ? LIMIT / 8 : 0)
    const course = await run(store, { seconds: 12, load })
    assert.equal(course.accepted, course.offered)
    assert.deepEqual(await store.read.selectFrom('client_demand').selectAll().execute(), [])
  },
)

testOnEveryEngine(
  'a demand that has ended leaves no row, and one of a node that died goes after a minute',
  async (store) => {
    const clock = new TestClock(START)
    const { meter, demand } = nodeOn(store, clock, 'node')
    await store.write
      .insertInto('client_demand')
      .values({ client_id: 'client', node_id: 'dead', measured_at: START - 30 * SECOND, requests_per_second: 5 })
      .execute()
    const rows = async () => {
      const found = await store.read.selectFrom('client_demand').select('node_id').orderBy('node_id').execute()
      return found.map((row) => row.node_id)
    }
    await round(demand, clock, () => takeMany(meter, 200, clock))
    assert.deepEqual(await rows(), ['dead', 'node'])
    for (let left = 20; left > 0; left--) await round(demand, clock)
    assert.deepEqual(await rows(), ['dead'])
    clock.advance(90 * SECOND)
    await demand.tick()
    assert.deepEqual(await rows(), [])
  },
)

testOnEveryEngine('the demand of a node whose clock is forty seconds behind counts like any other', async (store) => {
  const clock = new TestClock(START)
  const early = new TestClock(START - 40 * SECOND)
  const node = nodeOn(store, clock, 'node')
  const other = nodeOn(store, early, 'other')
  for (let rounds = 0; rounds < 4; rounds++) {
    await round(node.demand, clock, () => takeMany(node.meter, 100, clock))
    await round(other.demand, early, () => takeMany(other.meter, 100, early))
  }
  for (const { meter } of [node, other]) assert.ok(meter.share > 0.45 && meter.share <= 0.5, `${meter.share}`)
})

testOnEveryEngine('shares stay as they are while the store does not answer', async (store) => {
  const clock = new TestClock(START)
  const { meter, demand } = nodeOn(store, clock, 'node')
  await demand.tick()
  assert.equal(meter.share, 0.5)
  await store.close()
  clock.advance(ROUND_INTERVAL_MS)
  takeMany(meter, 100, clock)
  await assert.rejects(demand.tick())
  assert.equal(meter.share, 0.5)
})

testOnEveryEngine(
  'the demand of more clients than fit one statement is published, that of unlimited ones is not',
  async (store) => {
    const clock = new TestClock(START)
    const meters = new Map(
      Array.from({ length: 1_201 }, (_, i) => [
        `client ${i}`,
        new ClientMeter({ requestsPerSecond: i === 0 ? null : 10, eventsPerMonth: null }, START),
      ]),
    )
    const demand = new Demand({ store, clock, nodeId: 'node', meters, nodes: () => Promise.resolve(1) })
    await round(demand, clock, () => {
      for (const meter of meters.values()) takeMany(meter, 20, clock)
    })
    const count = async () => (await store.read.selectFrom('client_demand').select('client_id').execute()).length
    assert.equal(await count(), 1_200)
    meters.clear()
    await round(demand, clock)
    assert.equal(await count(), 0)
  },
)

function nodeOn(store: Store, clock: TestClock, nodeId: string) {
  const meter = new ClientMeter({ requestsPerSecond: LIMIT, eventsPerMonth: null }, clock.now())
  const meters = new Map([['client', meter]])
  return { meter, demand: new Demand({ store, clock, nodeId, meters, nodes: () => Promise.resolve(2) }) }
}

function takeMany(meter: ClientMeter, times: number, clock: TestClock): void {
  for (let i = 0; i < times; i++) meter.takeRequest(clock.now())
}

async function round(demand: Demand, clock: TestClock, arrive: () => void = () => undefined): Promise<void> {
  arrive()
  clock.advance(ROUND_INTERVAL_MS)
  await demand.tick()
}
