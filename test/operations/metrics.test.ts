import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { clusterMetrics, DEAD_AFTER_MS } from '../../src/cluster/index.ts'
import { MINUTE } from '../../src/lib/index.ts'
import { metricsRoutes } from '../../src/operations/index.ts'
import { VERSION } from '../../src/version.ts'
import { newClock, TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { logicEngines, placeFor, testLogic, testPerEngine } from '../../testkit/engines.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import { until } from '../../testkit/until.ts'
import { joinNode } from '../cluster/support.ts'
import { openApp } from '../http/support.ts'
import { type Sample, samplesOf } from './prometheus-text.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')

async function metricsOf(api: TestService): Promise<Sample[]> {
  const answer = await api.call('GET', '/metrics')
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  return samplesOf(answer.text)
}

/** The values of a metric by one of its labels. */
const valuesBy = (samples: readonly Sample[], metric: string, label: string): Record<string, number> =>
  Object.fromEntries(
    samples.filter(({ name }) => name === metric).map(({ labels, value }) => [labels[label] ?? '', value]),
  )

testPerEngine(
  'metrics count what ingest answered and committed',
  async (engine, t) => {
    const api = await startTestService(t, new TestClock(NOW), await placeFor(engine, t))
    const site = await api.newSite(await api.newClient())
    const event = eventPayload({ timestamp_ms: NOW })
    for (const key of ['one', 'two', 'two']) await api.ingest(site, event, { 'idempotency-key': key })
    await api.ingest(site, '{')
    await api.call('POST', '/ingest', event)
    await api.call('POST', '/ingest', event, { 'x-service-key': 'unknown' })
    await api.call('PATCH', `/api/sites/${site.id}`, { is_active: false })
    await api.ingest(site, event)
    await api.service.ingest.flush()

    for (let scrape = 0; scrape < 2; scrape++) {
      const samples = await metricsOf(api)
      assert.deepEqual(valuesBy(samples, 'tagwarden_ingest_requests_total', 'result'), {
        ok: 3,
        invalid_payload: 1,
        unauthorized: 2,
        forbidden: 1,
        method_not_allowed: 0,
        payload_too_large: 0,
        rate_limited: 0,
        internal_error: 0,
        unavailable: 0,
      })
      assert.deepEqual(valuesBy(samples, 'tagwarden_submissions_total', 'outcome'), {
        committed: 2,
        duplicate: 1,
        failed: 0,
      })
      assert.deepEqual(valuesBy(samples, 'tagwarden_commits_total', ''), { '': 3 })
      assert.deepEqual(valuesBy(samples, 'tagwarden_ingest_waiting', ''), { '': 0 })
      assert.deepEqual(valuesBy(samples, 'tagwarden_ingest_bytes', ''), { '': 0 })
      assert.deepEqual(valuesBy(samples, 'tagwarden_fold_lag_seconds', ''), { '': 0 })
    }
  },
  logicEngines,
)

testPerEngine(
  'metrics name the program, its process and its loops',
  async (engine, t) => {
    const clock = new TestClock(NOW)
    const api = await startTestService(t, clock, await placeFor(engine, t))
    const samples = await metricsOf(api)
    const [info, ...others] = samples.filter(({ name }) => name === 'tagwarden_info')
    assert.deepEqual(
      [info?.labels, info?.value, others],
      [{ version: VERSION, engine: api.service.store.engine, node: api.service.membership.nodeId, role: 'all' }, 1, []],
    )
    assert.ok(samples.some(({ name, value }) => name === 'process_resident_memory_bytes' && value > 0))
    const loops = valuesBy(samples, 'tagwarden_loop_lag_seconds', 'loop')
    for (const loop of api.service.ingest.loops) assert.equal(loops[loop.name], 0, loop.name)
    assert.ok(Object.keys(loops).length > api.service.ingest.loops.length)

    const slow = api.service.ingest.loops.find(({ intervalMs }) => intervalMs >= MINUTE)
    assert.ok(slow !== undefined)
    clock.advance(slow.intervalMs + 7_000)
    const later = valuesBy(await metricsOf(api), 'tagwarden_loop_lag_seconds', 'loop')
    assert.equal(later[slow.name], 7)
  },
  logicEngines,
)

testPerEngine('metrics count the nodes and say which work this one has taken on', async (engine, t) => {
  const clock = new TestClock(NOW)
  const api = await startTestService(t, clock, await placeFor(engine, t))
  const { leases, membership, store } = api.service
  assert.equal(await leases.claim('roll-up'), true)
  assert.equal(await leases.claim('retention'), true)
  await store.write.updateTable('leases').set({ node_id: 'another' }).where('name', '=', 'retention').execute()
  await store.write
    .insertInto('nodes')
    .values({ id: 'another', name: 'host:1', role: 'worker', version: '1', started_at: NOW, seen_at: NOW })
    .execute()
  assert.equal(await leases.claim('retention'), false)
  const samples = await metricsOf(api)
  assert.deepEqual(valuesBy(samples, 'tagwarden_nodes', ''), { '': 2 })
  const held = valuesBy(samples, 'tagwarden_leases', 'name')
  assert.deepEqual([held['roll-up'], held.retention], [1, 0])

  clock.advance(DEAD_AFTER_MS)
  await membership.beat()
  assert.deepEqual(valuesBy(await metricsOf(api), 'tagwarden_nodes', ''), { '': 1 })
})

testPerEngine(
  'metrics say when each container of a site was last seen, whatever the site is called, until the site is deleted',
  async (engine, t) => {
    const clock = new TestClock(NOW)
    const api = await startTestService(t, clock, await placeFor(engine, t))
    const name = 'a "quoted" \\ name = {1},'
    const site = await api.newSite(await api.newClient(), { name })
    await api.ingest(site, eventPayload({ timestamp_ms: NOW, container_id: 'GTM-AAAA' }))
    clock.advance(1_500)
    await api.ingest(site, eventPayload({ timestamp_ms: NOW, container_id: 'GTM-BBBB' }))
    await api.service.ingest.flush()
    const seen = async () =>
      (await metricsOf(api)).filter((sample) => sample.name === 'tagwarden_site_last_seen_timestamp_seconds')
    const sample = (container_id: string, at: number) => ({
      name: 'tagwarden_site_last_seen_timestamp_seconds',
      labels: { site_id: site.id, site: name, container_id },
      value: at / 1_000,
    })
    assert.deepEqual(await seen(), [sample('GTM-AAAA', NOW), sample('GTM-BBBB', NOW + 1_500)])
    await api.call('DELETE', `/api/sites/${site.id}`)
    clock.advance(MINUTE)
    assert.deepEqual(await seen(), [])
  },
  logicEngines,
)

testLogic('an unavailable store takes only its own metrics with it', async (store, t) => {
  const clock = new TestClock(NOW)
  const node = await joinNode(t, store, clock)
  const app = await openApp(t, (routes) =>
    metricsRoutes(routes, {
      store,
      nodeId: node.membership.nodeId,
      rooms: [(registry) => clusterMetrics(registry, node)],
      loops: node.membership.loops,
      role: 'all',
      version: '1',
    }),
  )
  await store.close()
  const answer = await app.inject('/metrics')
  assert.equal(answer.statusCode, 200)
  const samples = samplesOf(answer.body)
  assert.deepEqual(valuesBy(samples, 'tagwarden_loop_lag_seconds', 'loop'), { heartbeat: 0 })
  assert.deepEqual(valuesBy(samples, 'tagwarden_nodes', ''), { '': 0 })
})

test('metrics hold no ingest key', async (t) => {
  const api = await startTestService(t, new TestClock(NOW))
  const site = await api.newSite(await api.newClient())
  await api.ingest(site, eventPayload({ timestamp_ms: NOW }))
  await api.service.ingest.flush()
  assert.ok(!(await api.call('GET', '/metrics')).text.includes(site.ingest_key))
})

test('a service that has ended leaves nothing in its process', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const ended = [await startAndEnd(), await startAndEnd()]
  await until('both are gone from memory', async () => {
    collectGarbage()
    return ended.every((service) => service.deref() === undefined) ? true : undefined
  })
})

/** By itself: the frame that started a service holds it. */
async function startAndEnd(): Promise<WeakRef<object>> {
  const hooks: (() => unknown)[] = []
  const context = { after: (hook: () => unknown) => hooks.push(hook) } as unknown as TestContext
  const api = await startTestService(context, newClock())
  assert.equal((await api.call('GET', '/metrics')).status, 200)
  for (const hook of hooks) await hook()
  return new WeakRef(api.service.ingest)
}
