import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../testkit/clock.ts'
import { openEndpoint } from './endpoint.ts'
import { fieldsFor, NOW, openContainer, overviewOf, startMonitored } from './support.ts'

const HOUR = 3_600_000

/** The formula of docs/tag.md: events in a batch of an instance whose events come evenly. */
const eventsInBatch = (size: number, ageMs: number, gapMs: number): number =>
  ageMs === 0 ? size : Math.min(size, Math.ceil(ageMs / gapMs) + 1)

/** Batch size, age in seconds, ms between two events of the instance: the rows of the table in docs/tag.md, and edges. */
const CASES = [
  [50, 60, 25_920, 4],
  [50, 60, 2_592, 25],
  [50, 60, 777, 50],
  [50, 60, 60_000, 2],
  [50, 60, 360_000, 2],
  [1, 60, 1_000, 1],
  [7, 0, 600_000, 7],
] as const

for (const [batchSize, maxBatchAgeSeconds, gap, expected] of CASES) {
  test(`batches of ${batchSize} or ${maxBatchAgeSeconds} s hold ${expected} events that come every ${gap} ms`, async (t) => {
    assert.equal(eventsInBatch(batchSize, maxBatchAgeSeconds * 1_000, gap), expected)
    const clock = new TestClock(NOW)
    const endpoint = await openEndpoint(t)
    const fields = fieldsFor('key', { sendMode: 'batched', batchSize, maxBatchAgeSeconds })
    const container = await openContainer(t, clock, endpoint.address, { fields })
    for (let n = 0; n < 3 * expected; n++) {
      await container.fire({ event_name: 'page_view' }, [])
      clock.advance(gap)
    }
    await container.idle()
    const totals = endpoint.received.map(({ body }) => (JSON.parse(body) as { total_events: number }).total_events)
    assert.deepEqual(totals, [expected, expected, expected])
  })
}

test('what waited in a batch for the next event is counted when it came: 40 events of an evening, and one of the next morning', async (t) => {
  const monitored = await startMonitored(t)
  const { clock, api, site } = monitored
  const fields = fieldsFor(site.ingest_key, { sendMode: 'batched' })
  const container = await openContainer(t, clock, api.url, { fields })
  for (let n = 0; n < 40; n++) await container.fire({ event_name: 'page_view' }, [])
  clock.advance(10 * HOUR)
  await container.fire({ event_name: 'page_view' }, [])
  await container.idle()
  assert.equal((await overviewOf(monitored)).total_events, 1, 'of the last three hours')
  assert.equal((await overviewOf(monitored, 12)).total_events, 41)
})
