import assert from 'node:assert/strict'
import { SiteMetrics } from '../../src/dashboard/index.ts'
import { MINUTE, newId, newSecret } from '../../src/lib/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { logicEngines, placeFor, testLogic, testOnEveryEngine, testPerEngine } from '../../testkit/engines.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import { BLANK_SITE, insertSite } from '../../testkit/sites.ts'
import { type Sample, samplesOf } from '../operations/prometheus-text.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')

/** Labels, but for the ids, and value of each sample of a metric. */
const valuesOf = (samples: readonly Sample[], metric: string) =>
  samples
    .filter(({ name }) => name === metric)
    .map(({ labels: { site_id: _site, client_id: _client, ...labels }, value }) => [...Object.values(labels), value])

const samples = async (api: TestService) => samplesOf((await api.call('GET', '/metrics')).text)

testPerEngine(
  'metrics hold events, tags and alerts of each site, and what is left of quotas',
  async (engine, t) => {
    const clock = new TestClock(NOW)
    const api = await startTestService(t, clock, await placeFor(engine, t))
    const name = 'a "quoted" \\ name = {1},\nin two lines'
    const client = await api.newClient({ name: 'ACME', plan: 'free' })
    const site = await api.newSite(client)
    // As an earlier version took it.
    await api.service.store.write.updateTable('sites').set({ name }).where('id', '=', site.id).execute()
    const statuses = ['success', 'success', 'failure', 'timeout'] as const
    for (const status of statuses) {
      await api.ingest(site, eventPayload({ timestamp_ms: NOW, tags: [{ id: '1', name: 'Ad "one"', status }] }))
    }
    await api.service.ingest.flush()
    const found = await samples(api)
    assert.deepEqual(valuesOf(found, 'tagwarden_site_events_24h'), [[name, 4]])
    assert.equal(valuesOf(found, 'tagwarden_site_last_seen_timestamp_seconds').length, 1)
    assert.deepEqual(valuesOf(found, 'tagwarden_tag_runs_24h'), [[name, 'Ad "one"', 4]])
    assert.deepEqual(valuesOf(found, 'tagwarden_tag_failures_24h'), [[name, 'Ad "one"', 2]])
    assert.deepEqual(valuesOf(found, 'tagwarden_site_score'), [], 'four events are too few for a score')
    assert.deepEqual(valuesOf(found, 'tagwarden_site_open_alerts'), [
      [name, 'warning', 0],
      [name, 'critical', 0],
    ])
    assert.deepEqual(valuesOf(found, 'tagwarden_client_quota_left_events'), [['ACME', 99_996]])

    await api.call('PATCH', `/api/sites/${site.id}`, { is_active: false })
    clock.advance(MINUTE)
    const later = await samples(api)
    for (const metric of ['tagwarden_site_events_24h', 'tagwarden_site_last_seen_timestamp_seconds']) {
      assert.deepEqual(valuesOf(later, metric), [], `${metric} of what is switched off`)
    }
  },
  logicEngines,
)

testPerEngine(
  'metrics hold what events say beside their counts, of sites that report it',
  async (engine, t) => {
    const api = await startTestService(t, new TestClock(NOW), await placeFor(engine, t))
    const client = await api.newClient()
    const [site, plain] = [await api.newSite(client, { name: 'Shop' }), await api.newSite(client, { name: 'Plain' })]
    for (const choice of ['granted', 'granted', 'denied'] as const) {
      const meta = {
        id: '1',
        name: 'Meta',
        status: 'success' as const,
        response: choice === 'denied' ? '4xx' : '2xx',
      } as const
      await api.ingest(
        site,
        eventPayload({
          timestamp_ms: NOW,
          tags: [meta, { id: '2', name: 'GA4', status: 'success' }],
          consent: { ad_storage: choice, analytics_storage: 'granted', updated: choice === 'granted' },
          identifiers: { has_event_id: true, has_client_id: false },
          ecommerce: { has_value: true, value_zero: choice === 'denied' },
        }),
      )
    }
    await api.ingest(plain, eventPayload({ timestamp_ms: NOW }))
    await api.service.ingest.flush()
    const found = await samples(api)
    assert.deepEqual(valuesOf(found, 'tagwarden_tag_answers_24h'), [['Shop', 'Meta', 3]])
    assert.deepEqual(valuesOf(found, 'tagwarden_tag_refusals_24h'), [['Shop', 'Meta', 1]])
    assert.deepEqual(valuesOf(found, 'tagwarden_site_consent_events_24h'), [
      ['Shop', 'reported', 3],
      ['Shop', 'ad_storage_granted', 2],
      ['Shop', 'ad_storage_denied', 1],
      ['Shop', 'analytics_storage_granted', 3],
      ['Shop', 'analytics_storage_denied', 0],
      ['Shop', 'never_updated', 1],
    ])
    const identifiers = valuesOf(found, 'tagwarden_site_identifier_events_24h')
    assert.deepEqual(identifiers.slice(0, 3), [
      ['Shop', 'reported', 3],
      ['Shop', 'event_id', 3],
      ['Shop', 'client_id', 0],
    ])
    const faults = valuesOf(found, 'tagwarden_site_value_faults_24h')
    assert.deepEqual(faults.slice(0, 2), [
      ['Shop', 'reported', 3],
      ['Shop', 'value_zero', 1],
    ])
  },
  logicEngines,
)

testPerEngine('the 20 tags of a site that ran most are listed apart, the rest together', async (engine, t) => {
  const api = await startTestService(t, new TestClock(NOW), await placeFor(engine, t))
  const site = await api.newSite(await api.newClient(), { name: 'Shop' })
  const tags = Array.from({ length: 25 }, (_, at) => ({
    id: String(at),
    name: `tag ${at}`,
    status: 'failure' as const,
  }))
  await api.ingest(site, eventPayload({ timestamp_ms: NOW, tags }))
  await api.ingest(site, eventPayload({ timestamp_ms: NOW, tags: tags.slice(5) }))
  await api.service.ingest.flush()
  const found = valuesOf(await samples(api), 'tagwarden_tag_failures_24h')
  assert.equal(found.length, 21)
  assert.deepEqual(found.at(-1), ['Shop', '(other)', 5])
  assert.ok(found.slice(0, 20).every(([, tag, value]) => tag !== 'tag 0' && value === 2))
})

testPerEngine(
  'they can be switched off',
  async (engine, t) => {
    const api = await startTestService(t, new TestClock(NOW), {
      ...(await placeFor(engine, t)),
      METRICS_PER_SITE: 'off',
    })
    const site = await api.newSite(await api.newClient())
    await api.ingest(site, eventPayload({ timestamp_ms: NOW }))
    await api.service.ingest.flush()
    for (const metric of ['tagwarden_site_events_24h', 'tagwarden_site_last_seen_timestamp_seconds']) {
      assert.deepEqual(valuesOf(await samples(api), metric), [], metric)
    }
  },
  logicEngines,
)

testOnEveryEngine('with over 1,000 sites there are no metrics of each, unless they are asked for', async (store) => {
  const clock = new TestClock(NOW)
  const { client_id } = await insertSite(store)
  const many = Array.from({ length: 1_000 }, (_, at) => ({
    ...{ ...BLANK_SITE, id: newId(), client_id, ingest_key: newSecret() },
    ...{ name: `shop ${at}`, url: 'https://shop.example' },
  }))
  for (let at = 0; at < many.length; at += 100) {
    await store.write
      .insertInto('sites')
      .values(many.slice(at, at + 100))
      .execute()
  }
  const countOf = async (setting: 'auto' | 'on') => {
    const text = await new SiteMetrics({ store, clock, setting }).text()
    return text === '' ? 0 : valuesOf(samplesOf(text), 'tagwarden_site_events_24h').length
  }
  assert.equal(await countOf('auto'), 0)
  assert.equal(await countOf('on'), 1_001)
  await store.write.deleteFrom('sites').where('name', '=', 'shop 0').execute()
  assert.equal(await countOf('auto'), 1_000)
})

testLogic(
  'one reading serves all callers within half a minute, and an unavailable store leaves the metrics out',
  async (store) => {
    const clock = new TestClock(NOW)
    await insertSite(store, { name: 'first' })
    const metrics = new SiteMetrics({ store, clock, setting: 'auto' })
    const names = async () =>
      valuesOf(samplesOf(await metrics.text()), 'tagwarden_site_events_24h').map(([name]) => name)
    assert.deepEqual(await names(), ['first'])
    await insertSite(store, { name: 'second' })
    assert.deepEqual(await names(), ['first'])
    clock.advance(30_000)
    assert.deepEqual(await names(), ['first', 'second'])
    clock.advance(30_000)
    await store.close()
    assert.equal(await metrics.text(), '')
  },
)
