import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { AccountRecord, UserRecord } from '../../../src/accounts/index.ts'
import { DAY, MINUTE } from '../../../src/lib/index.ts'
import { apiClient } from '../../../testkit/api.ts'
import { TestClock } from '../../../testkit/clock.ts'
import { logicEngines, placeFor, sqlite, type TestEngine, testPerEngine } from '../../../testkit/engines.ts'
import { join, NOW, PASSWORD, secretOf, signIn } from '../support.ts'
import { type OidcService, signInAt, startWithProvider, warnings } from './support.ts'
import { startWrittenProvider, type WrittenProvider } from './written-provider.ts'

interface Stage extends OidcService {
  clock: TestClock
  provider: WrittenProvider
}

async function open(t: TestContext, engine: TestEngine, environment: Record<string, string> = {}): Promise<Stage> {
  const clock = new TestClock(NOW)
  const provider = await startWrittenProvider(t, clock)
  const place = await placeFor(engine, t)
  return { clock, provider, ...(await startWithProvider(t, clock, provider.issuer, { ...place, ...environment })) }
}

interface Session {
  role: string
  access: { all: string | null; clients: { client_id: string; role: string }[] }
  user: { id: string; email: string; name: string }
}
const sessionOf = (api: { ask: <T>(method: string, path: string) => Promise<T> }) =>
  api.ask<Session>('GET', '/api/session')
const usersOf = ({ admin }: OidcService) => admin.ask<UserRecord[]>('GET', '/api/users')

testPerEngine(
  'a person whose group has a role gets an account, a session and the page they wanted',
  async (engine, t) => {
    const stage = await open(t, engine)
    const { location, browser, api } = await signInAt(stage, stage.provider, undefined, '/sites/7?range=24h')
    assert.equal(location, '/sites/7?range=24h')
    assert.match(browser.cookie(stage.api.url, 'tagwarden_session') ?? '', /^[\w-]{43}$/)
    assert.equal(browser.cookie(stage.api.url, 'tagwarden_oidc'), undefined)
    const session = await sessionOf(api)
    assert.equal(session.role, 'user')
    assert.deepEqual(session.access, { all: 'owner', clients: [] })
    assert.deepEqual([session.user.email, session.user.name], ['ada@agency.example', 'Ada'])
    const [user, ...others] = await usersOf(stage)
    assert.deepEqual(others, [])
    assert.deepEqual(
      [user?.status, user?.roles, user?.group_roles, user?.has_password, user?.single_sign_on, user?.created_by],
      ['active', [], [{ client_id: null, role: 'owner' }], false, true, 'single sign-on'],
    )
    const [exchange] = stage.provider.exchanges
    assert.equal(exchange?.form.get('grant_type'), 'authorization_code')
    assert.match(exchange?.form.get('code_verifier') ?? '', /^[\w.~-]{43,}$/)
    assert.equal(exchange?.form.get('redirect_uri'), `${stage.api.url}/api/oidc/callback`)
    assert.match(exchange?.authorization ?? '', /^Basic /)
    assert.deepEqual(warnings(stage), [])
    const stored = JSON.stringify(await stage.api.service.store.read.selectFrom('sign_ins').selectAll().execute())
    assert.ok(!stored.includes('eyJ'), 'the ID token is stored as it came')
  },
  logicEngines,
)

testPerEngine(
  'another group gives and takes access at the next sign-in, and the audit log says so',
  async (engine, t) => {
    const stage = await open(t, engine)
    const { provider, admin } = stage
    const [acme, other] = [await admin.newClient({ name: 'Acme' }), await admin.newClient({ name: 'Other' })]
    const first = await signInAt(stage, provider)
    assert.equal((await first.api.call('GET', `/api/clients/${other.id}`)).status, 200)

    provider.script.claims = { groups: ['acme'] }
    const second = await signInAt(stage, provider)
    assert.deepEqual((await sessionOf(second.api)).access, {
      all: null,
      clients: [{ client_id: acme.id, role: 'editor' }],
    })
    assert.equal((await second.api.call('GET', `/api/clients/${other.id}`)).status, 404)
    // Of sessions before, too.
    assert.equal((await first.api.call('GET', `/api/clients/${other.id}`)).status, 404)

    provider.script.claims = { groups: [] }
    const third = await signInAt(stage, provider)
    assert.equal(third.location, '/sign-in?problem=no_role')
    assert.equal((await second.api.call('GET', '/api/clients')).status, 403)
    assert.equal((await usersOf(stage)).length, 1)

    const changes = await admin.ask<{ actor: string; action: string; after: { roles_by_groups?: string } }[]>(
      'GET',
      '/api/audit',
    )
    const roles = changes.filter(({ actor }) => actor === 'single sign-on').map(({ after }) => after.roles_by_groups)
    assert.deepEqual(
      roles.filter((words) => words !== undefined),
      // The second sign-in took the role for all clients, and gave the one for a client, which its owners read.
      ['', `editor of ${acme.id}`, '', 'owner of all clients'],
    )
  },
  logicEngines,
)

test('the person is known by the subject, whatever address and name become', async (t) => {
  const stage = await open(t, sqlite)
  const { provider } = stage
  await signInAt(stage, provider)
  provider.script.claims = { email: 'ada.lovelace@agency.example', email_verified: false, name: 'Countess' }
  const { api } = await signInAt(stage, provider)
  const { user } = await sessionOf(api)
  assert.deepEqual([user.email, user.name], ['ada@agency.example', 'Ada'])
  // Someone else who has got the address since is not Ada.
  provider.script.claims = { sub: 'eve' }
  assert.equal((await signInAt(stage, provider)).location, '/sign-in?problem=taken')
  assert.equal((await usersOf(stage)).length, 1)
})

test('a verified address joins the account that has it: password and roles stay', async (t) => {
  const stage = await open(t, sqlite)
  const { provider, admin } = stage
  const acme = await admin.newClient({ name: 'Acme' })
  const other = await admin.newClient({ name: 'Other' })
  const ada = await join(admin, 'Ada@Agency.example', [{ client_id: other.id, role: 'viewer' }])
  provider.script.claims = { groups: ['acme'] }
  const { api } = await signInAt(stage, provider)
  const session = await sessionOf(api)
  assert.equal(session.user.id, ada.id)
  assert.deepEqual(
    new Map(session.access.clients.map(({ client_id, role }) => [client_id, role])),
    new Map([
      [other.id, 'viewer'],
      [acme.id, 'editor'],
    ]),
  )
  // What groups give is no part of a session that the provider does not vouch for.
  const byPassword = await signIn(stage.api.url, 'ada@agency.example')
  assert.deepEqual((await sessionOf(byPassword)).access.clients, [{ client_id: other.id, role: 'viewer' }])
  const [change] = await admin.ask<{ after: object }[]>('GET', `/api/audit?entity_id=${ada.id}`)
  assert.ok(change !== undefined)
})

test('an address that is not verified takes over no account, and an invitation neither', async (t) => {
  const stage = await open(t, sqlite)
  const { provider, admin, api, clock } = stage
  const ada = await join(admin, 'ada@agency.example', [{ client_id: null, role: 'owner' }])
  const roles = [{ client_id: null, role: 'viewer' }]
  const invited = await admin.ask<{ link: { url: string } }>('POST', '/api/users', {
    email: 'bob@agency.example',
    roles,
  })
  for (const email of ['ada@agency.example', 'ADA@agency.example', 'bob@agency.example']) {
    for (const email_verified of [false, undefined, 'false', 1]) {
      provider.script.claims = { sub: `eve of ${email}`, email, email_verified }
      assert.equal((await signInAt(stage, provider)).location, '/sign-in?problem=email')
      clock.advance(MINUTE)
    }
  }
  const identities = await api.service.store.read.selectFrom('user_identities').selectAll().execute()
  assert.deepEqual(identities, [])
  assert.equal((await sessionOf(await signIn(api.url, 'ada@agency.example'))).user.id, ada.id)
  // With it verified the invitation is accepted, and its link ends: whoever else holds it gets nothing.
  provider.script.claims = { sub: 'bob', email: 'bob@agency.example', groups: [] }
  const bob = await signInAt(stage, provider)
  assert.deepEqual((await sessionOf(bob.api)).access, { all: 'viewer', clients: [] })
  const used = { secret: secretOf(invited.link.url), password: PASSWORD }
  assert.equal((await apiClient(api.url).call('POST', '/api/password-links/use', used)).status, 404)
})

test('an account that asks for a code is not joined: the provider may ask for none', async (t) => {
  const stage = await open(t, sqlite)
  const { provider, admin, api } = stage
  await join(admin, 'ada@agency.example', [{ client_id: null, role: 'owner' }])
  const ada = await signIn(api.url, 'ada@agency.example')
  const { secret } = await ada.ask<{ secret: string }>('POST', '/api/account/two-step', { password: PASSWORD })
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: stage.clock.now() })
  const on = await ada.ask<{ recovery_codes: string[] }>('POST', '/api/account/two-step/confirm', { code })
  assert.equal((await signInAt(stage, provider)).location, '/sign-in?problem=two_step')
  await ada.ask('POST', '/api/account/two-step/off', { code: on.recovery_codes[0] })
  assert.equal((await signInAt(stage, provider)).location, '/overview')
})

test('addresses count as verified where the operator says so, but for those that the provider says are not', async (t) => {
  const stage = await open(t, sqlite, { OIDC_TRUST_EMAIL: 'true' })
  stage.provider.script.claims = { email_verified: false }
  assert.equal((await signInAt(stage, stage.provider)).location, '/sign-in?problem=email')
  stage.provider.script.claims = { email_verified: undefined }
  assert.equal((await signInAt(stage, stage.provider)).location, '/overview')
})

test('what the token leaves out comes from the userinfo endpoint, an address with its own word about it', async (t) => {
  const stage = await open(t, sqlite, { OIDC_GROUPS_CLAIM: 'realm_access.roles' })
  const { script } = stage.provider
  script.claims = { email: undefined, email_verified: true, groups: undefined }
  script.info = { email: 'ada@agency.example', realm_access: { roles: ['admins'] } }
  assert.equal((await signInAt(stage, stage.provider)).location, '/sign-in?problem=email')
  script.info = { ...script.info, email_verified: true }
  const { api } = await signInAt(stage, stage.provider)
  assert.equal((await sessionOf(api)).access.all, 'owner')
  // Of another person it says nothing.
  script.info = { ...script.info, sub: 'eve' }
  assert.match((await signInAt(stage, stage.provider)).location, /problem=token$/)
})

test("a name from the provider is one line without half a character, as people's own names are", async (t) => {
  const stage = await open(t, sqlite)
  stage.provider.script.claims = { name: `Ada\r\nLovelace\u202e of ${'x'.repeat(81)}\u{1f600}` }
  const { api } = await signInAt(stage, stage.provider)
  const { user } = await sessionOf(api)
  assert.equal(user.name, `Ada Lovelace of ${'x'.repeat(81)}`)
  assert.equal((await api.call('PATCH', '/api/account', { name: user.name })).status, 204)
  stage.provider.script.claims = { sub: 'eve', email: 'eve@agency.example', name: '\u202e\u0007' }
  const eve = await signInAt(stage, stage.provider)
  assert.equal((await sessionOf(eve.api)).user.name, 'eve')
})

test('a rule for a client that is not there, or is there twice, gives nothing and is logged', async (t) => {
  const stage = await open(t, sqlite, { GROUP_ROLES: 'admins: viewer of Acme, Twice; admins: editor of all' })
  for (const name of ['Twice', 'Twice']) await stage.admin.newClient({ name })
  const { api } = await signInAt(stage, stage.provider)
  assert.deepEqual((await sessionOf(api)).access, { all: 'editor', clients: [] })
  assert.deepEqual(
    warnings(stage).map(({ msg }) => msg),
    Array(2).fill(
      "GROUP_ROLES names a client that does not exist, or several clients have this name: use the client's id",
    ),
  )
})

test('a disabled account stays out, and its sessions end', async (t) => {
  const stage = await open(t, sqlite)
  const { api } = await signInAt(stage, stage.provider)
  const { user } = await sessionOf(api)
  await stage.admin.ask('PATCH', `/api/users/${user.id}`, { is_active: false })
  assert.equal((await api.call('GET', '/api/clients')).status, 401)
  assert.equal((await signInAt(stage, stage.provider)).location, '/sign-in?problem=disabled')
  await stage.admin.ask('DELETE', `/api/users/${user.id}`)
  const { read } = stage.api.service.store
  assert.deepEqual(await read.selectFrom('user_identities').selectAll().execute(), [])
  assert.deepEqual(await read.selectFrom('identity_roles').selectAll().execute(), [])
})

test('a person who signs in only with the provider has no password to change, and gets no link that sets one', async (t) => {
  const stage = await open(t, sqlite)
  const { api } = await signInAt(stage, stage.provider)
  const account = await api.ask<AccountRecord>('GET', '/api/account')
  assert.deepEqual([account.has_password, account.single_sign_on], [false, true])
  const change = { current_password: PASSWORD, password: 'another good sentence' }
  assert.equal((await api.call('PATCH', '/api/account', change)).status, 409)
  assert.equal((await signIn(stage.api.url, 'ada@agency.example')).answer.status, 401)
})

test('an owner of one client sees who has it by a group, and makes no link for them', async (t) => {
  const stage = await open(t, sqlite)
  const { provider, admin } = stage
  const acme = await admin.newClient({ name: 'Acme' })
  await join(admin, 'owner@acme.example', [{ client_id: acme.id, role: 'owner' }])
  provider.script.claims = { groups: ['acme'] }
  await signInAt(stage, provider)
  const owner = await signIn(stage.api.url, 'owner@acme.example')
  const people = await owner.ask<UserRecord[]>('GET', '/api/users')
  const ada = people.find(({ email }) => email === 'ada@agency.example')
  assert.deepEqual(ada?.group_roles, [{ client_id: acme.id, role: 'editor' }])
  assert.equal((await owner.call('POST', `/api/users/${ada?.id}/link`)).status, 403)
  await admin.ask('DELETE', `/api/clients/${acme.id}`)
  const roles = await stage.api.service.store.read.selectFrom('identity_roles').selectAll().execute()
  assert.deepEqual(roles, [])
})

test('a session lasts a week, ends with another provider, and the sign-out leads to the provider', async (t) => {
  const stage = await open(t, sqlite)
  const { provider, clock } = stage
  const { api, browser } = await signInAt(stage, provider)
  clock.advance(7 * DAY - 1)
  assert.equal((await api.call('GET', '/api/clients')).status, 200)
  clock.advance(1)
  assert.equal((await api.call('GET', '/api/clients')).status, 401)
  const again = await signInAt(stage, provider, browser)
  const { provider_url } = await again.api.ask<{ provider_url: string }>('DELETE', '/api/session')
  const end = new URL(provider_url)
  assert.equal(end.origin + end.pathname, `${provider.issuer}/end`)
  assert.equal(end.searchParams.get('post_logout_redirect_uri'), `${stage.api.url}/sign-in`)
  assert.match(end.searchParams.get('id_token_hint') ?? '', /^eyJ/)
  assert.equal((await again.api.call('GET', '/api/clients')).status, 401)
  // Whoever signed in with a key stays here.
  const key = await apiClient(stage.api.url).call('POST', '/api/session', { token: 'admin-token-0123456789' })
  const cookie = key.headers.get('set-cookie')?.split(';')[0] ?? ''
  const answer = await stage.api.call('DELETE', '/api/session', undefined, { cookie, origin: stage.api.url })
  assert.equal(answer.status, 204)
})

test('a session that began at another provider is over', async (t) => {
  const stage = await open(t, sqlite)
  const { api } = await signInAt(stage, stage.provider)
  const { store } = stage.api.service
  await store.write.updateTable('user_identities').set({ issuer: 'https://before.example/' }).execute()
  assert.equal((await api.call('GET', '/api/clients')).status, 401)
})
