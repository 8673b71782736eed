import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Container, OtherTag } from '../../tag/sandbox/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { until } from '../../testkit/until.ts'
import { type Ending, openEndpoint, openNetwork, type Received } from './endpoint.ts'
import { fieldsFor, NOW, openContainer, overviewOf, PATIENCE, startMonitored } from './support.ts'

const TAGS: readonly OtherTag[] = [{ id: 31, status: 'success', executionTime: 5, metadata: { name: 'GA4' } }]
/**
 * The tag waits four and a half seconds for an answer. Where none comes it is 1.8 s here: a request that a busy machine takes to the
 * endpoint later than that never comes. Where one comes the tag waits for it, however late.
 */
const scaleFor = (ending: Ending | null): number => (ending === 'silence' ? 0.4 : PATIENCE)
const PAUSE = 30_000

async function open(t: TestContext, fields: Record<string, string | number> = {}) {
  const clock = new TestClock(NOW)
  const endpoint = await openEndpoint(t)
  const container = await openContainer(t, clock, endpoint.address, {
    fields: fieldsFor('key', { sendMode: 'batched', batchSize: 10, maxBatchAgeSeconds: 0, ...fields }),
    timeoutScale: () => scaleFor(endpoint.ending),
  })
  return { clock, endpoint, container }
}

async function fire(container: Container, count: number, name: (n: number) => string = () => 'page_view') {
  for (let n = 0; n < count; n++) {
    const run = await container.fire({ event_name: name(n) }, TAGS)
    assert.deepEqual([run.status, run.errors], ['success', []])
  }
  await container.idle()
}

const totalOf = ({ body }: Received): number => (JSON.parse(body) as { total_events: number }).total_events
const totalsOf = (received: readonly Received[]) => received.map(totalOf)

for (const ending of [503, 'reset', 'silence'] as const satisfies Ending[]) {
  test(`a batch that ends in ${ending} is repeated unchanged after a pause, and nothing is missing`, async (t) => {
    const { clock, endpoint, container } = await open(t)
    endpoint.ending = ending
    await fire(container, 10)
    const [first] = endpoint.received
    assert.ok(first?.key)

    endpoint.ending = 200
    await fire(container, 10)
    assert.equal(endpoint.received.length, 1, 'no request within the pause')
    clock.advance(PAUSE)
    await fire(container, 1)
    assert.deepEqual(endpoint.received[1], first)
    await fire(container, 1)
    assert.deepEqual(totalsOf(endpoint.received.slice(1)), [10, 12])
    assert.notEqual(endpoint.received[2]?.key, first.key)
  })
}

test('a batch that was refused for its rate was not counted: its counters go back to the others', async (t) => {
  const { clock, endpoint, container } = await open(t)
  endpoint.ending = 429
  await fire(container, 10)
  endpoint.ending = 200
  await fire(container, 10)
  clock.advance(PAUSE)
  await fire(container, 1)
  assert.deepEqual(totalsOf(endpoint.received), [10, 21])
})

test('after any number of tries a batch is what it was, and what was counted meanwhile is its own batch', async (t) => {
  const { clock, endpoint, container } = await open(t)
  endpoint.ending = 500
  await fire(container, 10)
  for (let pause = 0; pause < 5; pause++) {
    clock.advance(PAUSE)
    await fire(container, 1)
  }
  assert.deepEqual(totalsOf(endpoint.received), [10, 10, 10, 10, 10, 10])
  assert.equal(new Set(endpoint.received.map(({ key }) => key)).size, 1)
  endpoint.ending = 200
  clock.advance(PAUSE)
  await fire(container, 1)
  await fire(container, 4)
  assert.deepEqual(totalsOf(endpoint.received.slice(6)), [10, 10])
})

test('an answer that a repetition would not change is not repeated', async (t) => {
  const { clock, endpoint, container } = await open(t)
  endpoint.ending = 403
  await fire(container, 10)
  endpoint.ending = 200
  clock.advance(PAUSE)
  await fire(container, 10)
  assert.deepEqual(totalsOf(endpoint.received), [10, 10])
})

test('six hours without an endpoint fill neither the memory nor the network, whatever names come', async (t) => {
  const { clock, endpoint, container } = await open(t)
  endpoint.ending = 500
  let largest = 0
  for (let minute = 0; minute < 6 * 60; minute += 2) {
    await fire(container, 10, (n) => `event ${minute} ${n} ${'x'.repeat(200)}`)
    largest = Math.max(largest, JSON.stringify(container.storage(0)).length)
    clock.advance(120_000)
  }
  // An hour's events are held: 310 names of some 220 bytes, in slices.
  assert.ok(largest < 100_000, `${largest} bytes were held`)
  assert.ok(endpoint.received.length < 180 * 3, `${endpoint.received.length} requests`)
  endpoint.ending = 200
  const before = endpoint.received.length
  const sent = () => totalsOf(endpoint.received.slice(before)).reduce((sum, total) => sum + total, 0)
  // A batch goes with a round, and on a busy machine its answer may come after the next.
  let rounds = 0
  for (; rounds < 4 || (sent() < 300 && rounds < 20); rounds++) await fire(container, 10)
  // Nothing older than an hour: at most 31 rounds of ten events, one under way, and those since.
  assert.ok(sent() >= 300 && sent() <= 320 + 10 * rounds, `${sent()} events in ${rounds} rounds`)
})

test('a batch whose answer was lost is counted once', async (t) => {
  const monitored = await startMonitored(t)
  const { clock, api, site } = monitored
  let ending: Ending | null = 'silence'
  const network = await openNetwork(t, api.url, () => ({ passedAfter: 0, answeredAfter: 0, ending }))
  const container = await openContainer(t, clock, network.address, {
    fields: fieldsFor(site.ingest_key, { sendMode: 'batched', batchSize: 10, maxBatchAgeSeconds: 0 }),
    timeoutScale: () => scaleFor(ending),
  })
  await fire(container, 10)
  assert.equal(container.sent.timedOut, 1)
  await until('the batch is counted', async () => (await overviewOf(monitored)).total_events === 10 || undefined)
  ending = null
  clock.advance(PAUSE)
  await fire(container, 9)
  await fire(container, 1)
  assert.equal(container.sent.accepted, 2)
  assert.equal((await overviewOf(monitored)).total_events, 20)
})

test('events that are sent one by one have a key each', async (t) => {
  const { endpoint, container } = await open(t, { sendMode: 'per_event' })
  await fire(container, 3)
  const keys = endpoint.received.map(({ key }) => key)
  assert.equal(keys.length, 3)
  assert.equal(new Set(keys.filter((key) => key !== null && key !== '')).size, 3)
})

test('a dead endpoint costs the tag nothing but the events: it succeeds, in both modes', async (t) => {
  for (const sendMode of ['per_event', 'batched']) {
    const container = await openContainer(t, new TestClock(NOW), 'http://127.0.0.1:1', {
      fields: fieldsFor('key', { sendMode, batchSize: 1 }),
    })
    await fire(container, 5)
    assert.equal(container.sent.accepted, 0)
    assert.deepEqual(container.errors, [])
  }
})

test('a slow endpoint holds up no event: the request is cut after 4.5 s in both modes', async (t) => {
  for (const sendMode of ['per_event', 'batched']) {
    const { endpoint, container } = await open(t, { sendMode, batchSize: 1 })
    endpoint.ending = 'silence'
    await fire(container, 1)
    assert.equal(container.requests[0]?.error, 'no answer within 4500 ms')
  }
})
