import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Container, SentRequest } from '../../tag/sandbox/index.ts'
import { amount, inTurn } from '../../testkit/length.ts'
import { Random } from '../../testkit/random.ts'
import { countsOf, reportedCounts } from './counts.ts'
import { type Fate, openNetwork, type Passed } from './endpoint.ts'
import { fieldsFor, openContainer, overviewOf, startMonitored } from './support.ts'
import { type Fired, randomEvent } from './traffic.ts'

const EVENTS = amount(3_000, 10_000)
/** Each is a request. */
const EVENTS_ONE_BY_ONE = amount(600, 10_000)
const INSTANCES = 3
/** The four and a half seconds that the tag waits are 27 ms here. */
const SCALE = 0.006
/** 90 ms here: more requests are under way at once. */
const SCALE_ONE_BY_ONE = 0.02
/** The latest that anything comes. */
const LATEST_MS = 30_000
/** So many events pass between two looks at what came back. */
const STRIDE = 30
const STRIDE_ONE_BY_ONE = 100
/** Of the clock, ms: a pause of 30 s is some twenty events of an instance. */
const BETWEEN_EVENTS = 500

/** All that goes wrong between a sender and a service that commits: before, behind, and after nobody waits any more. */
function anyFate(random: Random, scale: number): Fate {
  const late = () => random.below(LATEST_MS * scale)
  const fates: readonly [Fate, ...Fate[]] = [
    { passedAfter: 0, answeredAfter: 0, ending: null },
    { passedAfter: 0, answeredAfter: 0, ending: null },
    { passedAfter: 0, answeredAfter: late(), ending: null },
    { passedAfter: late(), answeredAfter: 0, ending: null },
    { passedAfter: null, answeredAfter: 0, ending: 429 },
    { passedAfter: null, answeredAfter: 0, ending: 503 },
    // A proxy says so of a service that had the request and broke off.
    { passedAfter: 0, answeredAfter: 0, ending: 503 },
    { passedAfter: 0, answeredAfter: 0, ending: 'reset' },
    { passedAfter: null, answeredAfter: 0, ending: 'reset' },
    { passedAfter: late(), answeredAfter: 0, ending: 'silence' },
    { passedAfter: 0, repeatedAfter: late(), answeredAfter: 0, ending: null },
  ]
  return random.pick(fates)
}

interface Run {
  fired: Fired[]
  /** Events that the stopped instances held: in no batch yet, or in one that may have been counted. */
  held: number
  counts: ReturnType<typeof reportedCounts>
}

/** @param stops how often an instance stops, one after the other */
async function throughBadNetwork(
  t: TestContext,
  { seed, stops, promiseTimeout }: { seed: number; stops: number; promiseTimeout?: number },
): Promise<Run> {
  const random = new Random(seed)
  const monitored = await startMonitored(t)
  const { clock, api, site } = monitored
  let isBad = true
  const network = await openNetwork(t, api.url, () =>
    isBad ? anyFate(random, SCALE) : { passedAfter: 0, answeredAfter: 0, ending: null },
  )
  const container = await openContainer(t, clock, network.address, {
    fields: fieldsFor(site.ingest_key, { sendMode: 'batched', batchSize: 20, maxBatchAgeSeconds: 60 }),
    instances: INSTANCES,
    // While all goes well nothing times out, however slow the machine is: what waits is held for an hour of the clock only.
    timeoutScale: () => (isBad ? SCALE : 1),
    ...(promiseTimeout === undefined ? {} : { promiseTimeout }),
  })
  const fired: Fired[] = []
  let held = 0
  const fire = async (instance: number) => {
    const event = randomEvent(random)
    const run = await container.fire(event.data, event.tags, { instance })
    assert.deepEqual([run.status, run.errors], ['success', []])
    fired.push(event)
    clock.advance(BETWEEN_EVENTS)
  }
  while (fired.length < EVENTS) {
    await fire(fired.length % INSTANCES)
    if (fired.length % STRIDE === 0) await container.idle()
    if (stops > 0 && fired.length % Math.floor(EVENTS / (stops + 1)) === 0) {
      await container.idle()
      held += eventsIn(container.lose(random.below(INSTANCES)).storage)
    }
  }
  isBad = false
  await container.idle()
  // Each instance takes up what waits, ten batches with an event.
  for (let instance = 0; instance < INSTANCES; instance++) {
    while (eventsIn(container.storage(instance)) > 0) {
      clock.advance(60_000)
      await fire(instance)
      await container.idle()
    }
  }
  await network.close()
  assert.deepEqual(container.errors, [])
  return { fired, held, counts: reportedCounts(await overviewOf(monitored)) }
}

interface OneByOne {
  fired: Fired[]
  requests: readonly SentRequest[]
  passed: readonly Passed[]
  /** Requests that were under way in the instances that stopped. */
  stopped: number
  counts: ReturnType<typeof reportedCounts>
}

/** @param stops how often an instance stops with its last event's request under way */
async function oneByOne(t: TestContext, { seed, stops }: { seed: number; stops: number }): Promise<OneByOne> {
  const random = new Random(seed)
  const monitored = await startMonitored(t)
  const { clock, api, site } = monitored
  const network = await openNetwork(t, api.url, () => anyFate(random, SCALE_ONE_BY_ONE))
  const container = await openContainer(t, clock, network.address, {
    fields: fieldsFor(site.ingest_key, { sendMode: 'per_event' }),
    instances: INSTANCES,
    timeoutScale: SCALE_ONE_BY_ONE,
  })
  const fired: Fired[] = []
  let stopped = 0
  while (fired.length < EVENTS_ONE_BY_ONE) {
    const event = randomEvent(random)
    const instance = fired.length % INSTANCES
    const run = await container.fire(event.data, event.tags, { instance })
    assert.deepEqual([run.status, run.errors], ['success', []])
    fired.push(event)
    clock.advance(BETWEEN_EVENTS)
    if (fired.length % Math.floor(EVENTS_ONE_BY_ONE / (stops + 1)) === 0) stopped += container.lose(instance).requests
    if (fired.length % STRIDE_ONE_BY_ONE === 0) await container.idle()
    // Sockets are looked at between two events only.
    await setImmediate()
  }
  await container.idle()
  await network.close()
  assert.deepEqual(container.errors, [])
  return {
    fired,
    requests: container.requests,
    passed: network.passed,
    stopped,
    counts: reportedCounts(await overviewOf(monitored)),
  }
}

/** Events in what an instance stores: those not sent yet, and those that may or may not have been counted. */
function eventsIn(storage: ReturnType<Container['storage']>): number {
  const count = (batch: unknown): number => (batch as { total_events: number } | null)?.total_events ?? 0
  return Object.values(storage).reduce((sum: number, item) => {
    if (Array.isArray(item)) return sum + item.reduce((total: number, { batch }) => total + count(batch), 0)
    return sum + count((item as { open?: unknown }).open)
  }, 0)
}

for (const [how, promiseTimeout] of [
  ['the sandbox waits for the answer', undefined],
  ['the sandbox waits for five seconds only', 5_000],
] as const) {
  test(
    `batches over a network that fails in every way are counted once, all of them: ${how}`,
    inTurn(promiseTimeout === undefined ? 0 : 1, 3),
    async (t) => {
      const limit = promiseTimeout === undefined ? {} : { promiseTimeout }
      const { fired, counts } = await throughBadNetwork(t, { seed: 11, stops: 0, ...limit })
      assert.deepEqual(counts, countsOf(fired, 'batched'))
    },
  )
}

test('what a stopped instance held is all that is missing, and nothing is counted twice', inTurn(2, 3), async (t) => {
  const { fired, held, counts } = await throughBadNetwork(t, { seed: 12, stops: 4 })
  const expected = countsOf(fired, 'batched')
  const lost = fired.length - (counts.get('total_events') ?? 0)
  assert.ok(held > 0)
  assert.ok(lost >= 0 && lost <= held, `${lost} of the ${held} events that were held are missing`)
  for (const [what, count] of counts) assert.ok(count <= (expected.get(what) ?? 0), `${what}: ${count}`)
})

test(
  'events sent one by one over such a network are counted once each, but for those that the service never got',
  inTurn(0, 3),
  async (t) => {
    const { fired, requests, passed, stopped, counts } = await oneByOne(t, { seed: 13, stops: 4 })
    // Nothing is sent a second time, so the requests are the events in their order.
    assert.equal(requests.length, fired.length)
    const keys = requests.map(({ headers }) => headers['Idempotency-Key'])
    assert.equal(new Set(keys).size, fired.length)
    assert.deepEqual(
      passed.filter(({ status }) => status !== 200),
      [],
    )

    const times = new Map<string | undefined, number>()
    for (const { key } of passed) times.set(key, (times.get(key) ?? 0) + 1)
    const timesOf = (n: number): number => times.get(keys[n]) ?? 0
    assert.deepEqual(
      counts,
      countsOf(
        fired.filter((_, n) => timesOf(n) > 0),
        'per_event',
      ),
    )

    // All of it happened: sent again by a proxy, counted after the tag had given up, never passed on, and gone with an instance.
    const having = (hasHappened: (request: SentRequest, timesPassed: number) => boolean): number =>
      requests.filter((request, n) => hasHappened(request, timesOf(n))).length
    assert.ok(having((_, n) => n === 2) > 0)
    assert.ok(having(({ outcome }, n) => outcome === 'timed_out' && n > 0) > 0)
    assert.ok(having((_, n) => n === 0) > 0)
    assert.ok(stopped > 0)
    assert.equal(
      having(({ outcome }) => outcome === 'lost'),
      stopped,
    )
  },
)
