import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container } from '../../tag/sandbox/index.ts'
import { amount } from '../../testkit/length.ts'
import { Random } from '../../testkit/random.ts'
import { countsOf, reportedCounts } from './counts.ts'
import { fieldsFor, fireMany, INSTANCES, openContainer, overviewOf, startMonitored } from './support.ts'
import { type Fired, randomEvent } from './traffic.ts'

const EVENTS = amount(3_000, 10_000)

test('thousands of events of three instances are reported one by one exactly as they were fired', async (t) => {
  const monitored = await startMonitored(t)
  const { clock, api, site } = monitored
  const fields = fieldsFor(site.ingest_key, { sendMode: 'per_event' })
  const container = await openContainer(t, clock, api.url, { fields, instances: INSTANCES })
  const all: Fired[] = []
  await fireMany(container, EVENTS, 1, (fired, n) => {
    all.push(fired)
    if (n % 100 === 0) clock.advance(1_000)
  })
  assert.equal(container.sent.accepted, EVENTS)
  const overview = await overviewOf(monitored)
  assert.deepEqual(reportedCounts(overview), countsOf(all, 'per_event'))
  assert.deepEqual(overview.rejections, {})
  assert.deepEqual(
    overview.containers.map(({ container_id }) => container_id),
    ['GTM-ABC1234'],
  )
})

test('thousands of events in batches are reported but for what sat in an instance that stopped', async (t) => {
  const monitored = await startMonitored(t)
  const { clock, api, site } = monitored
  const fields = fieldsFor(site.ingest_key, { sendMode: 'batched', batchSize: 70, maxBatchAgeSeconds: 60 })
  const container = await openContainer(t, clock, api.url, { fields, instances: INSTANCES })
  // Each instance sends its every 70th event's batch; what is younger would go with it.
  const waiting: Fired[][] = [[], [], []]
  const sent: Fired[] = []
  const lost: Fired[] = []
  const at = (n: number): Fired[] => waiting[n % INSTANCES] ?? []
  const keep = (fired: Fired, n: number) => {
    at(n).push(fired)
    if (at(n).length === 70) sent.push(...at(n).splice(0))
  }
  await fireMany(container, EVENTS / 2, 2, keep)
  assert.ok(at(1).length > 0)
  const gone = container.lose(1)
  assert.deepEqual(openEvents(gone.storage), at(1).length)
  assert.equal(gone.requests, 0)
  lost.push(...at(1).splice(0))
  await fireMany(container, EVENTS / 2, 3, keep)

  const batches = container.sent.requests
  assert.ok(batches < EVENTS / 60, `${batches} requests`)
  const before = await overviewOf(monitored)
  assert.deepEqual(reportedCounts(before), countsOf(sent, 'batched'))

  // A minute later the next event of each instance takes the rest along.
  clock.advance(60_000)
  await fireMany(container, INSTANCES, 4, (fired, n) => sent.push(...at(n).splice(0), fired))
  assert.equal(container.sent.requests, batches + INSTANCES)
  assert.equal(container.sent.accepted, container.sent.requests)
  assert.equal(sent.length + lost.length, EVENTS + INSTANCES)
  const overview = await overviewOf(monitored)
  assert.deepEqual(reportedCounts(overview), countsOf(sent, 'batched'))
  assert.deepEqual(overview.rejections, {})
})

for (const [sendMode, event_name] of [
  ['per_event', 'purchase'],
  ['batched', null],
] as const) {
  test(`parameters of the table are reported by how often they were there: ${sendMode}`, async (t) => {
    const { clock, api, site } = await startMonitored(t)
    const fire = async (coupon: string | undefined) => {
      const ownParameters = [
        { name: 'coupon', value: coupon ?? '', eventName: 'purchase' },
        { name: 'step', value: 1, eventName: 'begin_checkout' },
      ]
      const fields = fieldsFor(site.ingest_key, { sendMode, batchSize: 1, ownParameters })
      const container = await openContainer(t, clock, api.url, { fields })
      await container.fire({ event_name: 'purchase' }, [{ id: 1, status: 'success' }])
      await container.idle()
    }
    for (const coupon of ['SUMMER', undefined, 'WINTER']) await fire(coupon)
    await api.service.ingest.flush()
    const answer = await api.call('GET', `/api/monitoring/sites/${site.id}/fields?hours=1`)
    assert.deepEqual(answer.json<{ fields: unknown }>().fields, [
      { event_name, field: 'coupon', present: 2, total: 3, rate: 2 / 3 },
    ])
  })
}

for (const sendMode of ['per_event', 'batched'] as const) {
  test(`of events of which one in ten is sent the reports say how many there were: ${sendMode}`, async (t) => {
    const monitored = await startMonitored(t)
    const { clock, api, site } = monitored
    const fields = fieldsFor(site.ingest_key, { sendMode, sampleEvery: 10, batchSize: 10, maxBatchAgeSeconds: 60 })
    const chance = new Random(9)
    const container = await openContainer(t, clock, api.url, { fields, random: () => chance.below(2 ** 32) / 2 ** 32 })
    const told = eventsTold(container)
    const random = new Random(8)
    const counted: Fired[] = []
    let [events, troubles] = [0, 0]
    const fireOne = async (): Promise<boolean> => {
      const fired = randomEvent(random)
      const before = told()
      await container.fire(fired.data, fired.tags)
      await container.idle()
      const weight = told() - before
      const hasTrouble = fired.ran.some(
        ({ status, response }) => status !== 'success' || ['4xx', '5xx', 'none'].includes(response ?? ''),
      )
      assert.ok(hasTrouble ? weight === 1 : weight === 0 || weight === 10, `${weight}`)
      events++
      if (hasTrouble) troubles++
      for (let like = 0; like < weight; like++) counted.push(fired)
      return hasTrouble
    }
    while (events < 2_000) await fireOne()
    // One that is certainly counted takes along what a batch still holds.
    clock.advance(60_000)
    for (let isCounted = false; !isCounted; ) isCounted = await fireOne()
    // Ten times a count of chance: four standard deviations of it.
    const spread = 10 * Math.sqrt((events - troubles) * 0.1 * 0.9)
    assert.ok(Math.abs(counted.length - events) < 4 * spread, `${counted.length} of ${events}`)
    const overview = await overviewOf(monitored)
    assert.deepEqual(reportedCounts(overview), countsOf(counted, sendMode))
    assert.deepEqual(overview.rejections, {})
    const usage = await api.call('GET', `/api/clients/${site.client_id}/usage`)
    assert.equal(usage.json<{ events: number }>().events, counted.length)
  })
}

/** Gives what the requests sent so far say that there was, with what waits in the one instance. */
function eventsTold(container: Container): () => number {
  let [read, sum] = [0, 0]
  return () => {
    for (const { body } of container.requests.slice(read)) {
      const { weight = 1, total_events = weight } = JSON.parse(body) as { weight?: number; total_events?: number }
      sum += total_events
    }
    read = container.requests.length
    return sum + openEvents(container.storage(0))
  }
}

/** Events in the unsent batches of an instance. */
function openEvents(storage: Readonly<Record<string, unknown>>): number {
  const buffers = Object.values(storage) as { open: { total_events: number } | null }[]
  return buffers.reduce((sum, { open }) => sum + (open?.total_events ?? 0), 0)
}
