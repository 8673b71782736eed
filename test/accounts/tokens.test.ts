import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiTokenRecord, NewApiToken } from '../../src/accounts/index.ts'
import type { AlertRecord } from '../../src/alerts/index.ts'
import { DAY, MINUTE } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import { type ApiClient, apiClient, bearer } from '../../testkit/api.ts'
import { sqlite, testPerEngine } from '../../testkit/engines.ts'
import { join, openAccounts, signIn } from './support.ts'

testPerEngine('an API token opens what it is for, until it expires or is revoked', async (engine, t) => {
  const { api, clock, admin } = await openAccounts(t, engine)
  const client = await admin.newClient()
  const made = await admin.ask<NewApiToken>('POST', '/api/tokens', {
    name: 'deploy',
    role: 'editor',
    client_ids: [client.id],
    expires_at: '2026-11-27T10:00:00Z',
  })
  assert.match(made.token, /^twk_[\w-]{43}$/)
  assert.equal(made.hint, made.token.slice(-4))
  const program = apiClient(api.url, bearer(made.token))
  assert.equal((await program.call('PATCH', `/api/clients/${client.id}`, { name: 'By a program' })).status, 200)
  assert.equal((await program.call('POST', '/api/clients', { name: 'More' })).status, 403)
  const lastUse = async () => {
    const [token] = await admin.ask<ApiTokenRecord[]>('GET', '/api/tokens')
    return token?.last_used_at
  }
  assert.equal(await lastUse(), '2026-11-20T10:00:00.000Z')
  clock.advance(MINUTE - 1)
  await program.call('GET', '/api/clients')
  assert.equal(await lastUse(), '2026-11-20T10:00:00.000Z')
  clock.advance(1)
  await program.call('GET', '/api/clients')
  assert.equal(await lastUse(), '2026-11-20T10:01:00.000Z')
  const audit = await admin.call('GET', '/api/audit?limit=1000')
  assert.ok(audit.text.includes('"actor":"token deploy"'))
  const everything = audit.text + (await admin.call('GET', '/api/tokens')).text
  const rows = JSON.stringify(await api.service.store.read.selectFrom('api_tokens').selectAll().execute())
  assert.ok(!everything.includes(made.token) && !rows.includes(made.token))
  clock.advance(7 * DAY)
  assert.equal((await program.call('GET', '/api/clients')).status, 401)
  const other = await admin.ask<NewApiToken>('POST', '/api/tokens', { name: 'short', role: 'viewer' })
  const second = apiClient(api.url, bearer(other.token))
  assert.equal((await second.call('GET', '/api/clients')).status, 200)
  await admin.ask('DELETE', `/api/tokens/${other.id}`)
  assert.equal((await second.call('GET', '/api/clients')).status, 401)
})

test('who acknowledges under another name has the account or token beside it', async (t) => {
  const { api, admin, clock } = await openAccounts(t, sqlite)
  const client = await admin.newClient({ name: 'Acme' })
  const site = await admin.newSite(client)
  const { id } = await insertAlert(api.service.store, site, clock.now())
  await join(admin, 'eve@acme.example', [{ client_id: client.id, role: 'editor' }])
  const eve = await signIn(api.url, 'eve@acme.example')
  await eve.ask('PATCH', '/api/account', { name: 'Eve' })
  const { token } = await admin.ask<NewApiToken>('POST', '/api/tokens', { name: 'Bot', role: 'editor' })
  const shown: unknown[] = []
  for (const [caller, by] of [
    [admin, 'Tom'],
    [eve, 'Tom'],
    [eve, 'Eve'],
    [eve, undefined],
    [apiClient(api.url, bearer(token)), 'Tom'],
  ] as const) {
    const alert = `/api/alerts/${id}`
    const { acknowledged_by } = await caller.ask<AlertRecord>('POST', `${alert}/acknowledge`, { by })
    shown.push(acknowledged_by)
    await admin.ask('POST', `${alert}/unacknowledge`, {})
  }
  assert.deepEqual(shown, ['Tom', 'Tom (eve@acme.example)', 'Eve', 'eve@acme.example', 'Tom (token Bot)'])
})

test('a right API token is let in whatever else its address got wrong', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  const { token } = await admin.ask<NewApiToken>('POST', '/api/tokens', { name: 'x', role: 'viewer' })
  for (let n = 0; n < 10; n++) await api.call('GET', '/api/clients', undefined, bearer(`twk_${'x'.repeat(43)}`))
  assert.equal((await api.call('GET', '/api/clients', undefined, bearer('a-wrong-key-of-some-length'))).status, 429)
  assert.equal((await api.call('GET', '/api/clients', undefined, bearer(token))).status, 200)
})

testPerEngine(
  'a client that is deleted takes along the tokens for it, and leaves those for others',
  async (engine, t) => {
    const { api, admin } = await openAccounts(t, engine)
    const [gone, left] = [await admin.newClient({ name: 'Gone' }), await admin.newClient({ name: 'Left' })]
    await join(admin, 'ada@agency.example', [
      { client_id: gone.id, role: 'owner' },
      { client_id: left.id, role: 'owner' },
    ])
    const ada = await signIn(api.url, 'ada@agency.example')
    const make = (by: ApiClient, name: string, client_ids: string[] | null) =>
      by.ask<NewApiToken>('POST', '/api/tokens', { name, role: 'editor', client_ids })
    const ofGone = await make(ada, 'of one', [gone.id])
    const ofBoth = await make(ada, 'of both', [gone.id, left.id])
    await make(admin, 'of all', null)
    await ada.ask('DELETE', `/api/clients/${gone.id}`)
    const program = (token: string) => apiClient(api.url, bearer(token)).call('GET', '/api/clients')
    assert.equal((await program(ofGone.token)).status, 401)
    assert.equal((await program(ofBoth.token)).status, 200)
    // The person who made it still sees it, and can revoke it.
    const [seen, ...others] = await ada.ask<ApiTokenRecord[]>('GET', '/api/tokens')
    assert.deepEqual([seen?.id, seen?.client_ids, others], [ofBoth.id, [left.id], []])
    const names = (await admin.ask<ApiTokenRecord[]>('GET', '/api/tokens')).map(({ name }) => name)
    assert.deepEqual(names, ['of both', 'of all'])
    await ada.ask('DELETE', `/api/tokens/${ofBoth.id}`)
    assert.equal((await program(ofBoth.token)).status, 401)
  },
)

test('an Idempotency-Key is of who sends it, and shows no one what they may not see any more', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  const client = await admin.newClient()
  const kept = { client_id: (await admin.newClient()).id, role: 'editor' } as const
  const { id } = await join(admin, 'ada@agency.example', [{ client_id: client.id, role: 'editor' }, kept])
  const ada = await signIn(api.url, 'ada@agency.example')
  const site = { client_id: client.id, name: 'Shop', url: 'https://shop.example' }
  const create = (by: ApiClient) => by.call('POST', '/api/sites', site, { 'idempotency-key': 'key' })
  const [first, again, other] = [await create(ada), await create(ada), await create(admin)]
  assert.deepEqual([first.status, again.text === first.text, other.status], [201, true, 201])
  assert.notEqual(other.json<{ id: string }>().id, first.json<{ id: string }>().id)
  // With another sign-in, what only who created it has been shown does not open.
  const later = await create(await signIn(api.url, 'ada@agency.example'))
  assert.deepEqual([later.status, later.text.includes('site.create')], [409, true])

  await admin.ask('PATCH', `/api/users/${id}`, { roles: [kept] })
  const without = await create(ada)
  assert.deepEqual([without.status, without.text.includes(site.url)], [422, false])

  // What the route itself looks at, as it is no client's that the caller has lost.
  const owner = { client_id: null, role: 'owner' } as const
  await join(admin, 'bob@agency.example', [owner])
  await admin.ask('PATCH', `/api/users/${id}`, { roles: [owner] })
  const ofAll = { name: 'of all', role: 'editor', client_ids: null }
  const token = () => ada.call('POST', '/api/tokens', ofAll, { 'idempotency-key': 'token' })
  assert.deepEqual([(await token()).status, (await token()).headers.get('idempotent-replayed')], [201, 'true'])
  await admin.ask('PATCH', `/api/users/${id}`, { roles: [{ ...kept, role: 'owner' }] })
  assert.equal((await token()).status, 422)
})
