import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../testkit/clock.ts'
import { openEndpoint } from './endpoint.ts'
import { fieldsFor, NOW, openContainer } from './support.ts'

/** The formula of docs/tag.md: events in a batch of an instance whose events come evenly. */
const eventsInBatch = (size: number, ageMs: number, gapMs: number): number =>
  ageMs === 0 ? size : Math.min(size, Math.ceil(ageMs / gapMs) + 1)

/** Batch size, age in seconds, ms between two events of the instance: the rows of the table in docs/tag.md, and edges. */
const CASES = [
  [50, 60, 25_920, 4],
  [50, 60, 2_592, 25],
  [50, 60, 777, 50],
  [50, 60, 60_000, 2],
  [50, 60, 600_000, 2],
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
