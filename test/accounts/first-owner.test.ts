import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstOwnerLink, type InvitedUser } from '../../src/accounts/index.ts'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/lib/index.ts'
import { apiClient } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { NOW, PASSWORD, secretOf, signIn } from './support.ts'

testOnEveryEngine('while no owner has a password each start offers a link, and then none', async (store) => {
  const clock = new TestClock(NOW)
  const offer = (email: string | null) => firstOwnerLink({ store, clock }, email, 'https://tags.example')
  assert.equal(await offer(null), null)
  const [first, second] = [await offer('Ada@agency.example'), await offer('ada@agency.example')]
  assert.match(first?.url ?? '', /^https:\/\/tags\.example\/welcome#[\w-]{43}$/)
  assert.notEqual(first?.url, second?.url)
  assert.equal((await store.read.selectFrom('users').selectAll().execute()).length, 1)
  // Without the setting an owner who was invited gets one.
  assert.equal((await offer(null))?.email, 'Ada@agency.example')
  await store.write.updateTable('users').set({ password_hash: 'something' }).execute()
  assert.equal(await offer('ada@agency.example'), null)
})

testOnEveryEngine('a start that makes an account the first owner says so in the audit log once', async (store) => {
  const clock = new TestClock(NOW)
  const offer = () => firstOwnerLink({ store, clock }, 'ada@agency.example', 'https://tags.example')
  await offer()
  await store.write.updateTable('user_roles').set({ role: 'viewer' }).execute()
  await store.write.updateTable('users').set({ disabled_at: clock.now() }).execute()
  await offer()
  await offer()
  const entries = await store.read.selectFrom('audit_log').select(['actor', 'action', 'after']).orderBy('id').execute()
  assert.deepEqual(
    entries.map(({ actor, action, after }) => [actor, action, JSON.parse(after ?? '')]),
    [
      ['the start', 'user.create', { email: 'ada@agency.example', is_active: true, roles: 'owner of all clients' }],
      ['the start', 'user.update', { is_active: true, roles: 'owner of all clients' }],
    ],
  )
})

test('with an address of the first owner the service asks for a sign-in from the start', async (t) => {
  assert.equal(readConfig({ HOST: '0.0.0.0', ADMIN_EMAIL: 'ada@agency.example' }).adminEmail, 'ada@agency.example')
  assert.throws(() => readConfig({ HOST: '0.0.0.0' }), /ADMIN_TOKEN, or .*, or ADMIN_EMAIL/)
  assert.throws(() => readConfig({ ADMIN_EMAIL: 'ada' }), /ADMIN_EMAIL/)
  const api = await startTestService(t, systemClock, { ADMIN_EMAIL: 'ada@agency.example' })
  assert.equal((await api.call('GET', '/api/clients')).status, 401)
  const { store } = api.service
  const link = await firstOwnerLink({ store, clock: systemClock }, 'ada@agency.example', api.url)
  await api.ask('POST', '/api/password-links/use', { secret: secretOf(link?.url ?? ''), password: PASSWORD })
  const ada = await signIn(api.url, 'ada@agency.example')
  assert.deepEqual(ada.answer.json<{ access: unknown }>().access, { all: 'owner', clients: [] })
})

test('where no one has to sign in, the first account has to own everything, and ends that', async (t) => {
  const api = await startTestService(t, systemClock)
  const client = await api.newClient()
  const roles = [{ client_id: client.id, role: 'owner' }]
  assert.equal((await api.call('POST', '/api/users', { email: 'a@b.example', roles })).status, 409)
  assert.equal((await api.call('GET', '/api/clients')).status, 200)
  const invited = await api.ask<InvitedUser>('POST', '/api/users', {
    email: 'a@b.example',
    roles: [{ client_id: null, role: 'owner' }],
  })
  assert.equal((await api.call('GET', '/api/clients')).status, 401)
  const session = await api.ask<{ role: null; authentication_required: boolean; accounts: boolean }>(
    'GET',
    '/api/session',
  )
  assert.deepEqual([session.role, session.authentication_required, session.accounts], [null, true, true])
  await apiClient(api.url).ask('POST', '/api/password-links/use', {
    secret: secretOf(invited.link?.url ?? ''),
    password: PASSWORD,
  })
  const owner = await signIn(api.url, 'a@b.example')
  assert.equal((await owner.call('GET', '/api/clients')).status, 200)
})
