import assert from 'node:assert/strict'
import type { ClientRecord } from '../../src/management/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { type Call, openManagement, UNKNOWN_ID } from './support.ts'

testLogic('a client is created with defaults, and read as it was answered', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client({ name: '  Acme GmbH ' })
  assert.match(client.id, /^[0-9a-f-]{36}$/)
  assert.deepEqual(client, {
    id: client.id,
    name: 'Acme GmbH',
    email: null,
    chat_webhook: null,
    is_active: true,
    plan: 'free',
    requests_per_second: null,
    events_per_month: null,
    reminder_minutes: null,
    notify_resolved: true,
    notify_escalated: true,
    quiet_from: null,
    quiet_to: null,
    digest: 'off',
    created_at: '2026-11-20T10:00:01.000Z',
  })
  assert.deepEqual(await api.get(`/api/clients/${client.id}`), client)
  assert.deepEqual(api.takeChanges(), [{ kind: 'client', id: client.id }])
})

testLogic('a client is created with every field', async (store, t) => {
  const api = await openManagement(store, t)
  const fields = {
    name: 'Müller & Söhne 🚀',
    email: 'ops@acme.example',
    chat_webhook: 'https://hooks.example/T0/B0/secret',
    is_active: false,
    plan: 'enterprise',
    requests_per_second: 2_000,
    events_per_month: Number.MAX_SAFE_INTEGER,
    reminder_minutes: 5,
    notify_resolved: false,
    notify_escalated: false,
    quiet_from: '22:00',
    quiet_to: '07:00',
    digest: 'weekly',
  } as const
  const client = await api.client(fields)
  assert.deepEqual(client, { id: client.id, ...fields, created_at: client.created_at })
  assert.deepEqual(await api.get(`/api/clients/${client.id}`), client)
})

testLogic('a client without a plan gets the configured one', async (store, t) => {
  const api = await openManagement(store, t, { defaultPlan: 'business' })
  assert.equal((await api.client()).plan, 'business')
  assert.equal((await api.client({ plan: 'pro' })).plan, 'pro')
})

testLogic('own limits fit the default plan when that is enterprise', async (store, t) => {
  const api = await openManagement(store, t, { defaultPlan: 'enterprise' })
  assert.equal((await api.client({ requests_per_second: 7 })).requests_per_second, 7)
})

testOnEveryEngine('a PATCH changes what it names, and null clears what is optional', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client({
    email: 'ops@acme.example',
    chat_webhook: 'https://hooks.example/x',
    reminder_minutes: 30,
  })
  api.takeChanges()
  const patch = { name: ' Renamed ', email: null, reminder_minutes: null, is_active: false }
  const changed = await api.patch<ClientRecord>(`/api/clients/${client.id}`, patch)
  assert.deepEqual(changed, { ...client, ...patch, name: 'Renamed' })
  assert.deepEqual(await api.get(`/api/clients/${client.id}`), changed)
  assert.deepEqual(api.takeChanges(), [{ kind: 'client', id: client.id }])
})

testLogic('a PATCH that changes nothing answers the client and publishes nothing', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client({ email: 'ops@acme.example' })
  api.takeChanges()
  for (const patch of [{}, { name: client.name, email: client.email, is_active: true, reminder_minutes: null }]) {
    assert.deepEqual(await api.patch(`/api/clients/${client.id}`, patch), client)
  }
  assert.deepEqual(api.takeChanges(), [])
})

testOnEveryEngine('leaving plan enterprise clears its own limits', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client({ plan: 'enterprise', requests_per_second: 50, events_per_month: 900 })
  const url = `/api/clients/${client.id}`
  const changed = await api.patch<ClientRecord>(url, { plan: 'pro' })
  assert.deepEqual(changed, { ...client, plan: 'pro', requests_per_second: null, events_per_month: null })
  assert.deepEqual(await api.patch(url, { plan: 'enterprise' }), { ...changed, plan: 'enterprise' })
})

testOnEveryEngine('own limits can be set together with plan enterprise, and on it', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const url = `/api/clients/${client.id}`
  assert.equal(
    (await api.patch<ClientRecord>(url, { plan: 'enterprise', requests_per_second: 5 })).requests_per_second,
    5,
  )
  assert.equal((await api.patch<ClientRecord>(url, { events_per_month: 6 })).events_per_month, 6)
  assert.equal((await api.patch<ClientRecord>(url, { requests_per_second: null })).requests_per_second, null)
})

testOnEveryEngine('clients are listed oldest first, on demand the active ones only', async (store, t) => {
  const api = await openManagement(store, t)
  assert.deepEqual(await api.get('/api/clients'), [])
  const first = await api.client({ name: 'Zebra' })
  const second = await api.client({ name: 'Middle', is_active: false })
  const third = await api.client({ name: 'Aardvark' })
  assert.deepEqual(await api.get('/api/clients'), [first, second, third])
  assert.deepEqual(await api.get('/api/clients?active_only=false'), [first, second, third])
  assert.deepEqual(await api.get('/api/clients?active_only=true'), [first, third])
})

testLogic('what is not there is not found', async (store, t) => {
  const api = await openManagement(store, t)
  for (const id of [UNKNOWN_ID, 'nope', '1']) {
    const calls: Call[] = [
      ['GET', `/api/clients/${id}`],
      ['PATCH', `/api/clients/${id}`, {}],
      ['PATCH', `/api/clients/${id}`, { name: 'x' }],
      ['DELETE', `/api/clients/${id}`],
      ['GET', `/api/clients/${id}/usage`],
    ]
    for (const [method, url, body] of calls) {
      assert.equal((await api.refused(404, method, url, body)).error, 'not_found')
    }
  }
  assert.deepEqual(api.takeChanges(), [])
})

testOnEveryEngine('changes made at the same time all count', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const url = `/api/clients/${client.id}`
  await Promise.all([
    api.patch(url, { email: 'a@b.example' }),
    api.patch(url, { reminder_minutes: 9 }),
    api.patch(url, { plan: 'pro' }),
  ])
  const { email, reminder_minutes, plan } = await api.get<ClientRecord>(url)
  assert.deepEqual({ email, reminder_minutes, plan }, { email: 'a@b.example', reminder_minutes: 9, plan: 'pro' })
})
