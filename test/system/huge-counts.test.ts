import assert from 'node:assert/strict'
import type { UsageRecord } from '../../src/management/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { placeFor, testPerEngine } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'

const MOST = Number.MAX_SAFE_INTEGER
const NOW = Date.parse('2026-11-20T10:00:00Z')

testPerEngine('a client whose counts add up beyond 2^53 is read, and the service starts again', async (engine, t) => {
  const place = await placeFor(engine, t)
  const clock = new TestClock(NOW)
  const first = await startTestService(t, clock, place)
  const client = await first.newClient()
  const site = await first.newSite(client)
  const batch = { container_id: 'GTM-A', batch: true, window_start_ms: NOW, window_end_ms: NOW, total_events: MOST }
  for (let i = 0; i < 4; i++) assert.equal((await first.ingest(site, batch)).status, 200)
  const usageOf = async (api: typeof first) => {
    const answer = await api.call('GET', `/api/clients/${client.id}/usage`)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<UsageRecord>().events
  }
  await first.service.ingest.flush()
  const usage = await until('the counts are folded', async () => (await usageOf(first)) || undefined)
  assert.equal(usage, 4 * MOST)
  // One such client is not to take the overview of all clients away.
  const overview = await first.call('GET', '/api/dashboard/overview')
  assert.equal(overview.status, 200, overview.text)
  await first.service.stop(0)
  assert.equal(await usageOf(await startTestService(t, clock, place)), 4 * MOST)
})

testPerEngine(
  'an event takes from the quota what it stands for, and one that stands for too many is refused',
  async (engine, t) => {
    const clock = new TestClock(NOW)
    const api = await startTestService(t, clock, await placeFor(engine, t))
    const client = await api.newClient({ events_per_month: 1_500 })
    const site = await api.newSite(client)
    const tags = [{ id: '1', name: 'GA4', status: 'success', execution_time: MOST }]
    const send = async (weight: number) =>
      (await api.ingest(site, { container_id: 'GTM-A', event_name: 'x', timestamp_ms: NOW, tags, weight })).status
    assert.deepEqual([await send(1_000), await send(1_000), await send(500), await send(1)], [200, 429, 200, 429])
    await api.service.ingest.flush()
    const overview = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=1`)
    assert.equal(overview.status, 200, overview.text)
    const [tag] = overview.json<{ tags: { executions: number; avg_ms: number }[] }>().tags
    assert.equal(tag?.executions, 1_500)
    assert.equal(tag?.avg_ms, MOST)
  },
)

testPerEngine('the longest names, four bytes a character, are counted in every place', async (engine, t) => {
  const api = await startTestService(t, new TestClock(NOW), await placeFor(engine, t))
  const site = await api.newSite(await api.newClient())
  // All different, so that no index can compress them.
  const text = (length: number) => String.fromCodePoint(...Array.from({ length }, (_, index) => 0x1f300 + index))
  const [name, container_id] = [text(256), text(64)]
  const container = { version: container_id, environment: container_id, clients: [container_id] }
  const tags = [{ id: container_id, name, status: 'success' }]
  const event = { event_name: name, timestamp_ms: NOW, tags, fields: { [name]: true } }
  const batch = { batch: true, window_start_ms: NOW, window_end_ms: NOW, total_events: 2, event_counts: { [name]: 2 } }
  const metrics = { tag_metrics: { [name]: { success: 2 } }, fields: { [name]: { present: 2, total: 2 } } }
  for (const payload of [event, { ...batch, ...metrics }])
    assert.equal((await api.ingest(site, { ...payload, container_id, container })).status, 200)
  await api.service.ingest.flush()
  const overview = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=1`)
  const { events } = overview.json<{ events: { event_name: string; total: number }[] }>()
  assert.deepEqual(events, [{ event_name: name, total: 3 }])
})
