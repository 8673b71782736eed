import assert from 'node:assert/strict'
import { testLogic } from '../../testkit/engines.ts'
import { type Call, openManagement, UNKNOWN_ID } from './support.ts'

const CONTAINER_IDS = ['', 'GTM-ABC', 'GTM-ABCDEFGHIJK', 'gtm-abcde', 'GTM-abcde', 'XGTM-ABCDE', 'GTM-ABCDE\n', 7]
const FOREIGN_NAMES = ['', ' ', 'x'.repeat(201), 'a\0b', 7]

/** Values that a field takes neither in POST nor in PATCH. */
const BAD: Record<string, unknown[]> = {
  name: ['', ' ', 7, null, 'x'.repeat(201), 'a\0b'],
  url: ['', 'shop.example', 'ftp://shop.example', 'javascript:alert(1)', null, 7],
  is_active: ['false', 0, null],
  timezone: ['', 'Mars/Olympus', '+02:00', null, 7],
  tag_server_url: ['', 'sgtm.shop.example', 'ftp://sgtm.shop.example', 7],
  tag_manager_web_container_id: CONTAINER_IDS,
  tag_manager_server_container_id: CONTAINER_IDS,
  analytics_property_id: ['', '12a', '-1', '1'.repeat(21), 123],
  analytics_measurement_id: ['', 'G-ABC', 'G-ABCDEFGHIJKLMNO', 'UA-12345', 'g-abcdef', 7],
  warehouse_project: FOREIGN_NAMES,
  warehouse_dataset: FOREIGN_NAMES,
  hosting_a_container_id: FOREIGN_NAMES,
  hosting_b_container_id: FOREIGN_NAMES,
  cmp_provider: FOREIGN_NAMES,
  average_order_value: [0, -1, '79', 1e10],
  currency: ['', 'eur', 'EURO', 'XXQ', 7],
  ingest_key: ['mine', null],
  key_revoked_at: ['2026-11-20T10:00:00.000Z', null],
  last_event_at: [null],
  created_at: ['2026-11-20T10:00:00.000Z'],
  site_no: [1],
  colour: ['red'],
}

testLogic('every field of a site is checked, and nothing of a refused call is kept', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const site = await api.site(client)
  for (const [field, values] of Object.entries(BAD)) {
    for (const value of values) {
      const body = { client_id: client.id, name: 'Shop', url: 'https://shop.example', [field]: value }
      const patch = { [field]: value }
      const calls: Call[] = [
        ['POST', '/api/sites', body],
        ['PATCH', `/api/sites/${site.id}`, patch],
      ]
      for (const [method, path, sent] of calls) {
        const error = await api.refused(400, method, path, sent)
        assert.equal(error.error, 'invalid_request')
        assert.ok(
          error.details.some(({ path }) => path === `/${field}`),
          `${field}=${value}: ${error.message}`,
        )
      }
    }
  }
  assert.deepEqual(await api.get('/api/sites'), [site])
})

testLogic('a site needs a client, a name and an address', async (store, t) => {
  const api = await openManagement(store, t)
  const { details } = await api.refused(400, 'POST', '/api/sites', {})
  assert.deepEqual(details.map(({ path }) => path).sort(), ['/client_id', '/name', '/url'])
})

testLogic('a site of an unknown client is refused, naming the field', async (store, t) => {
  const api = await openManagement(store, t)
  for (const [client_id, message] of [
    [UNKNOWN_ID, 'is not the id of a client'],
    ['nope', 'must be a UUID'],
    [null, 'must be text'],
  ]) {
    const body = { client_id, name: 'x', url: 'https://x.example' }
    const error = await api.refused(400, 'POST', '/api/sites', body)
    assert.deepEqual(error.details, [{ path: '/client_id', message }])
  }
  assert.deepEqual(await api.get('/api/audit'), [])
})

testLogic('a site stays with its client', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  const other = await api.client()
  const { details } = await api.refused(400, 'PATCH', `/api/sites/${site.id}`, { client_id: other.id })
  assert.equal(details[0]?.path, '/client_id')
})

testLogic('the list of sites knows its parameters', async (store, t) => {
  const api = await openManagement(store, t)
  for (const query of ['client_id=nope', 'client_id=', 'active_only=yes', 'auto_probes=true']) {
    const { details } = await api.refused(400, 'GET', `/api/sites?${query}`)
    assert.equal(details[0]?.path, `/${query.split('=')[0]}`)
  }
})
