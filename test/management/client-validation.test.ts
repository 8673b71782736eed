import assert from 'node:assert/strict'
import { testLogic } from '../../testkit/engines.ts'
import { type Call, openManagement } from './support.ts'

/** Values that a field takes neither in POST nor in PATCH. */
const BAD: Record<string, unknown[]> = {
  name: ['', ' \n', 7, null, 'x'.repeat(201), 'a\0b', 'a\nb', 'shop\u202egnp', '\u200b'],
  email: ['', 'nope', 7, `${'x'.repeat(300)}@example.com`],
  chat_webhook: ['', 'ftp://hooks.example', 'hooks.example', 7, `https://hooks.example/${'x'.repeat(2_100)}`],
  is_active: ['true', 1, null],
  plan: ['gold', 'Free', '', null],
  notify_resolved: [1, 'true', null],
  digest: ['hourly', '', null],
  reminder_minutes: [4, 0, -5, 5.5, '30', 600_000],
  colour: ['red', null],
  id: ['7d444840-9dc0-41d1-b245-5ffdce74fad2'],
  created_at: ['2026-11-20T10:00:00.000Z'],
}

const LIMITS_BAD = [0, -1, 1.5, '5', true, 2 ** 53]

testLogic('every field of a client is checked, and nothing of a refused call is kept', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client({ plan: 'enterprise' })
  const url = `/api/clients/${client.id}`
  const cases = { ...BAD, requests_per_second: LIMITS_BAD, events_per_month: LIMITS_BAD }
  for (const [field, values] of Object.entries(cases)) {
    for (const value of values) {
      const body = { name: 'Acme', plan: 'enterprise', [field]: value }
      const calls: Call[] = [
        ['POST', '/api/clients', body],
        ['PATCH', url, { [field]: value }],
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
  assert.deepEqual(await api.get('/api/clients'), [client])
})

testLogic('the longest and shortest values are taken', async (store, t) => {
  const api = await openManagement(store, t)
  const longest = { name: '🚀'.repeat(200), plan: 'enterprise', requests_per_second: 1, events_per_month: 1 } as const
  const client = await api.client(longest)
  assert.equal(client.name, longest.name)
  assert.equal((await api.client({ name: 'x' })).name, 'x')
})

testLogic('own limits are refused on every plan but enterprise', async (store, t) => {
  const api = await openManagement(store, t)
  const free = await api.client()
  const own = await api.client({ plan: 'enterprise', events_per_month: 5 })
  for (const plan of ['free', 'pro', 'business']) {
    const body = { name: 'x', plan, requests_per_second: 5, events_per_month: 5 }
    const { details } = await api.refused(400, 'POST', '/api/clients', body)
    assert.deepEqual(details, [
      { path: '/requests_per_second', message: 'can only be set with plan enterprise' },
      { path: '/events_per_month', message: 'can only be set with plan enterprise' },
    ])
    await api.refused(400, 'PATCH', `/api/clients/${own.id}`, { plan, events_per_month: 5 })
  }
  await api.refused(400, 'POST', '/api/clients', { name: 'x', requests_per_second: 5 })
  await api.refused(400, 'PATCH', `/api/clients/${free.id}`, { requests_per_second: 5 })
  assert.deepEqual(await api.get('/api/clients'), [free, own])
  assert.deepEqual(await api.patch(`/api/clients/${free.id}`, { requests_per_second: null }), free)
})

testLogic('a client needs a name, and the body must be a JSON object', async (store, t) => {
  const api = await openManagement(store, t)
  const { details } = await api.refused(400, 'POST', '/api/clients', {})
  assert.deepEqual(details, [{ path: '/name', message: 'is required' }])
  for (const body of [undefined, [], 'text', null, 7]) await api.refused(400, 'POST', '/api/clients', body)
})

testLogic('the list of clients knows its parameters', async (store, t) => {
  const api = await openManagement(store, t)
  for (const query of ['active_only=yes', 'active_only=', 'active_only=2', 'active=true', 'limit=0', 'after=7']) {
    const { error, details } = await api.refused(400, 'GET', `/api/clients?${query}`)
    assert.equal(error, 'invalid_request')
    assert.equal(details[0]?.path, `/${query.split('=')[0]}`)
  }
})
