import assert from 'node:assert/strict'
import type { SiteRecord } from '../../src/management/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { hearFrom } from '../../testkit/sites.ts'
import { type Call, openManagement, UNKNOWN_ID } from './support.ts'

const INFRASTRUCTURE = {
  tag_server_url: 'https://sgtm.shop.example',
  tag_manager_web_container_id: 'GTM-ABCDE',
  tag_manager_server_container_id: 'GTM-FGHIJ',
  analytics_property_id: '123456789',
  analytics_measurement_id: 'G-ABCDEF1234',
  warehouse_project: 'acme-prod',
  warehouse_dataset: 'analytics_123456789',
  hosting_a_container_id: 'abcd',
  hosting_b_container_id: 'efgh',
  cmp_provider: 'cookiebot',
  average_order_value: 79.9,
  currency: 'EUR',
  slo_target: 99.95,
}
const NONE = Object.fromEntries(Object.keys(INFRASTRUCTURE).map((field) => [field, null]))

testOnEveryEngine('a site is created with a key and defaults, and read as it was answered', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  api.takeChanges()
  const site = await api.site(client, { name: ' Shop ' })
  assert.match(String(site.ingest_key), /^[A-Za-z0-9_-]{43}$/)
  assert.deepEqual(site, {
    id: site.id,
    client_id: client.id,
    name: 'Shop',
    url: 'https://shop.example',
    is_active: true,
    timezone: 'UTC',
    ...NONE,
    ingest_key: site.ingest_key,
    key_revoked_at: null,
    last_event_at: null,
    created_at: '2026-11-20T10:00:02.000Z',
  })
  assert.deepEqual(await api.get(`/api/sites/${site.id}`), site)
  assert.deepEqual(await api.get('/api/sites'), [site])
  assert.deepEqual(api.takeChanges(), [{ kind: 'site', id: site.id }])
})

testOnEveryEngine('a site is created with every field, and every optional one can be cleared', async (store, t) => {
  const api = await openManagement(store, t)
  const fields = { is_active: false, timezone: 'Europe/Berlin', ...INFRASTRUCTURE }
  const site = await api.site(await api.client(), fields)
  assert.deepEqual(site, { ...site, ...fields })
  const cleared = await api.patch(`/api/sites/${site.id}`, NONE)
  assert.deepEqual(cleared, { ...site, ...NONE })
  assert.deepEqual(await api.patch(`/api/sites/${site.id}`, INFRASTRUCTURE), site)
})

testOnEveryEngine('an order value needs a currency, whichever of the two is changed', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client(), { average_order_value: 79.9, currency: 'EUR' })
  const other = await api.site(await api.client())
  for (const [id, patch] of [
    [site.id, { currency: null }],
    [other.id, { average_order_value: 5 }],
  ] as const) {
    const { details } = await api.refused(400, 'PATCH', `/api/sites/${id}`, patch)
    assert.deepEqual(details, [{ path: '/currency', message: 'is required with an average order value' }])
  }
  await api.patch(`/api/sites/${site.id}`, { average_order_value: null, currency: null })
})

testOnEveryEngine('two sites never have the same key', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const keys = [await api.site(client), await api.site(client)].map((site) => site.ingest_key)
  assert.notEqual(keys[0], keys[1])
})

testOnEveryEngine('a PATCH changes what it names and nothing else', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client(), INFRASTRUCTURE)
  api.takeChanges()
  const patch = { name: 'renamed', url: 'http://other.example', is_active: false, timezone: 'Asia/Tokyo' }
  assert.deepEqual(await api.patch(`/api/sites/${site.id}`, patch), { ...site, ...patch })
  assert.deepEqual(api.takeChanges(), [{ kind: 'site', id: site.id }])
  assert.deepEqual(await api.patch(`/api/sites/${site.id}`, {}), { ...site, ...patch })
  assert.deepEqual(api.takeChanges(), [])
})

testLogic('a revoked key stays revoked since its first time', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  api.takeChanges()
  const url = `/api/sites/${site.id}/revoke-key`
  const revoked = await api.call<SiteRecord>('POST', url)
  assert.equal(revoked.status, 200)
  assert.deepEqual(revoked.body, { ...site, key_revoked_at: '2026-11-20T10:00:03.000Z' })
  assert.deepEqual(api.takeChanges(), [{ kind: 'site', id: site.id }])
  assert.deepEqual((await api.call('POST', url)).body, revoked.body)
  assert.deepEqual(await api.get(`/api/sites/${site.id}`), revoked.body)
  assert.deepEqual(api.takeChanges(), [])
})

testOnEveryEngine('a site shows when it last sent an event, whatever the container', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const [busy, silent] = [await api.site(client), await api.site(client)]
  const elsewhere = await api.site(await api.client())
  const newest = Date.parse('2026-11-20T09:59:30.500Z')
  await hearFrom(store, busy.id, newest - 60_000, 'GTM-OLD1')
  await hearFrom(store, busy.id, newest, 'GTM-NEW1')
  await hearFrom(store, elsewhere.id, newest + 1, 'GTM-NEW1')
  const seen = { ...busy, last_event_at: '2026-11-20T09:59:30.500Z' }
  assert.deepEqual(await api.get(`/api/sites/${busy.id}`), seen)
  assert.deepEqual(await api.get(`/api/sites?client_id=${client.id}`), [seen, silent])
  assert.deepEqual(await api.get('/api/sites'), [
    seen,
    silent,
    { ...elsewhere, last_event_at: '2026-11-20T09:59:30.501Z' },
  ])
  assert.deepEqual(await api.patch(`/api/sites/${busy.id}`, { name: 'x' }), { ...seen, name: 'x' })
})

testOnEveryEngine('sites are listed oldest first, by client and by activity of both', async (store, t) => {
  const api = await openManagement(store, t)
  const [acme, beta] = [await api.client(), await api.client({ is_active: false })]
  const first = await api.site(acme, { name: 'Z' })
  const second = await api.site(beta, { name: 'M' })
  const third = await api.site(acme, { name: 'A', is_active: false })
  assert.deepEqual(await api.get('/api/sites'), [first, second, third])
  assert.deepEqual(await api.get('/api/sites?active_only=true'), [first])
  assert.deepEqual(await api.get(`/api/sites?client_id=${acme.id}`), [first, third])
  assert.deepEqual(await api.get(`/api/sites?client_id=${acme.id}&active_only=true`), [first])
  assert.deepEqual(await api.get(`/api/sites?client_id=${beta.id}&active_only=true`), [])
  assert.deepEqual(await api.get(`/api/sites?client_id=${UNKNOWN_ID}`), [])
})

testLogic('what is not there is not found', async (store, t) => {
  const api = await openManagement(store, t)
  for (const id of [UNKNOWN_ID, 'nope']) {
    const calls: Call[] = [
      ['GET', `/api/sites/${id}`],
      ['PATCH', `/api/sites/${id}`, { name: 'x' }],
      ['DELETE', `/api/sites/${id}`],
      ['POST', `/api/sites/${id}/revoke-key`],
    ]
    for (const [method, url, body] of calls) {
      assert.equal((await api.refused(404, method, url, body)).error, 'not_found')
    }
  }
  assert.deepEqual(api.takeChanges(), [])
})
