import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../testkit/clock.ts'
import { openEndpoint } from './endpoint.ts'
import { fieldsFor, NOW, openContainer } from './support.ts'

const TAGS = [{ id: 31, status: 'success', executionTime: 5 }]

for (const sendMode of ['per_event', 'batched']) {
  test(`in preview mode an event is sent at once and leaves nothing behind: ${sendMode}`, async (t) => {
    const endpoint = await openEndpoint(t)
    const fields = fieldsFor('key', { sendMode, batchSize: 50 })
    const container = await openContainer(t, new TestClock(NOW), endpoint.address, { fields })
    await container.fire({ event_name: 'page_view' }, TAGS, { preview: true })
    await container.fire({ event_name: 'page_view' }, TAGS, { preview: true })
    await container.idle()
    assert.equal(endpoint.received.length, 2)
    assert.deepEqual(container.storage(0), {})
    const what = sendMode === 'batched' ? 'batch of 1 event' : 'page_view with 1 tag'
    assert.deepEqual(
      container.logs.map(({ text }) => text),
      [`Tagwarden: ${what}: answered 200`, `Tagwarden: ${what}: answered 200`],
    )
  })
}

test('a preview does not take along what production has counted', async (t) => {
  const endpoint = await openEndpoint(t)
  const fields = fieldsFor('key', { sendMode: 'batched', batchSize: 2 })
  const container = await openContainer(t, new TestClock(NOW), endpoint.address, { fields })
  for (const preview of [false, true, false]) {
    await container.fire({ event_name: preview ? 'seen' : 'live' }, TAGS, { preview })
    await container.idle()
  }
  const counts = endpoint.received.map(({ body }) => (JSON.parse(body) as { event_counts: object }).event_counts)
  assert.deepEqual(counts, [{ seen: 1 }, { live: 2 }])
  assert.deepEqual(
    container.logs.map(({ text }) => text),
    ['Tagwarden: batch of 1 event: answered 200'],
  )
})
