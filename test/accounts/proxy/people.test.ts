import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import type { UserRecord } from '../../../src/accounts/index.ts'
import { MINUTE, SECOND } from '../../../src/lib/index.ts'
import { type ApiClient, apiClient } from '../../../testkit/api.ts'
import { TestClock } from '../../../testkit/clock.ts'
import { placeFor, sqlite, type TestEngine, testPerEngine } from '../../../testkit/engines.ts'
import { until } from '../../../testkit/until.ts'
import { join, NOW, signIn } from '../support.ts'
import { type ProxiedService, SIGN_OUT, type SigningProxy, startProxied, startSigningProxy } from './signing-proxy.ts'

interface Stage extends ProxiedService {
  clock: TestClock
  proxy: SigningProxy
  /** A browser behind the proxy, on the dashboard. */
  browser: ApiClient
}

async function open(t: TestContext, engine: TestEngine, environment: Record<string, string> = {}): Promise<Stage> {
  const clock = new TestClock(NOW)
  const stage = await startProxied(t, clock, { ...(await placeFor(engine, t)), ...environment })
  const proxy = await startSigningProxy(t, stage.api.url)
  return { ...stage, clock, proxy, browser: apiClient(proxy.url, { origin: proxy.url }) }
}

interface Session {
  role: string | null
  accounts: boolean
  authentication_required: boolean
  proxy: { problem: string | null; signs_out: boolean } | null
  user: { id: string; email: string; name: string } | null
  access: { all: string | null; clients: { client_id: string; role: string }[] }
}
const sessionOf = (api: ApiClient) => api.ask<Session>('GET', '/api/session')
const usersOf = ({ admin }: Stage) => admin.ask<UserRecord[]>('GET', '/api/users')
const ADA = { email: 'ada@agency.example', name: 'Ada', groups: 'staff, admins' }

testPerEngine(
  'whom the proxy names gets an account if a group gives a role, and signs out at the proxy',
  async (engine, t) => {
    const stage = await open(t, engine, { PROXY_SIGN_OUT_URL: SIGN_OUT })
    stage.proxy.signed = ADA
    // As a page does, many at once.
    const statuses = await Promise.all(Array.from({ length: 8 }, () => stage.browser.call('GET', '/api/clients')))
    assert.deepEqual([...new Set(statuses.map(({ status }) => status))], [200])
    const session = await sessionOf(stage.browser)
    assert.deepEqual([session.role, session.access], ['user', { all: 'owner', clients: [] }])
    assert.deepEqual(session.proxy, { problem: null, signs_out: true })
    assert.deepEqual([session.user?.email, session.user?.name], ['ada@agency.example', 'Ada'])
    const users = await usersOf(stage)
    assert.deepEqual(
      users.map((user) => [user.status, user.has_password, user.single_sign_on, user.created_by]),
      [['active', false, true, 'single sign-on']],
    )
    const made = await stage.browser.ask<{ id: string }>('POST', '/api/clients', { name: 'Acme' })
    const [change] = await stage.admin.ask<{ actor: string }[]>('GET', '/api/audit')
    assert.equal(change?.actor, 'ada@agency.example', made.id)
    const out = await stage.browser.call('DELETE', '/api/session')
    assert.deepEqual([out.status, out.json()], [200, { provider_url: SIGN_OUT }])
    // Nothing of it is kept that could outlast the proxy's session.
    const rows = await stage.api.service.store.read.selectFrom('sign_ins').select('id').execute()
    assert.deepEqual(rows, [])
    stage.proxy.signed = null
    assert.equal((await stage.browser.call('GET', '/api/clients')).status, 401)
    assert.equal((await stage.browser.call('DELETE', '/api/session')).status, 204)
  },
)

testPerEngine(
  'other groups count with the next request, and who is suspended or deleted stays out',
  async (engine, t) => {
    const stage = await open(t, engine)
    const { proxy, browser, admin, clock } = stage
    const acme = await admin.newClient({ name: 'Acme' })
    const other = await admin.newClient({ name: 'Other' })
    proxy.signed = ADA
    assert.equal((await browser.call('GET', `/api/clients/${other.id}`)).status, 200)
    proxy.signed = { ...ADA, groups: 'acme|staff' }
    assert.deepEqual((await sessionOf(browser)).access, {
      all: null,
      clients: [{ client_id: acme.id, role: 'editor' }],
    })
    assert.equal((await browser.call('GET', `/api/clients/${other.id}`)).status, 404)
    const [user] = await usersOf(stage)
    assert.ok(user !== undefined)
    await admin.ask('PATCH', `/api/users/${user.id}`, { is_active: false })
    const refused = await browser.call('GET', '/api/clients')
    assert.equal(refused.status, 401)
    assert.match(refused.json<{ message: string }>().message, /may not sign in: disabled$/)
    assert.deepEqual((await sessionOf(browser)).proxy, { problem: 'disabled', signs_out: false })
    await admin.ask('PATCH', `/api/users/${user.id}`, { is_active: true })
    clock.advance(5 * SECOND)
    assert.equal((await browser.call('GET', '/api/clients')).status, 200)
    await admin.ask('DELETE', `/api/users/${user.id}`)
    proxy.signed = { ...ADA, groups: 'staff' }
    assert.deepEqual((await sessionOf(browser)).proxy, { problem: 'no_role', signs_out: false })
    assert.deepEqual(await usersOf(stage), [])
    assert.deepEqual(
      stage.lines.map(({ problem }) => problem),
      ['disabled', 'no_role'],
    )
  },
)

test('an account of that address is theirs, and an owner gives the role where there are no groups', async (t) => {
  const stage = await open(t, sqlite, { PROXY_GROUPS_HEADER: '', PROXY_NAME_HEADER: '' })
  const { proxy, browser, admin, clock } = stage
  const acme = await admin.newClient({ name: 'Acme' })
  proxy.signed = { email: 'Bea@Agency.example', groups: 'admins' }
  assert.equal((await sessionOf(browser)).proxy?.problem, 'no_role')
  await admin.ask('POST', '/api/users', {
    email: 'bea@agency.example',
    roles: [{ client_id: acme.id, role: 'viewer' }],
  })
  clock.advance(5 * SECOND)
  const session = await sessionOf(browser)
  assert.deepEqual(session.access, { all: null, clients: [{ client_id: acme.id, role: 'viewer' }] })
  const [bea] = await usersOf(stage)
  assert.deepEqual([bea?.status, bea?.roles.length], ['active', 1])
  await admin.ask('PATCH', `/api/users/${bea?.id}`, { roles: [] })
  assert.equal((await sessionOf(browser)).role, null)
})

test('the person whom the proxy names acts, not one who was signed in before; a person it does not let in may sign in otherwise', async (t) => {
  const stage = await open(t, sqlite)
  const { proxy, admin } = stage
  await join(admin, 'cleo@agency.example', [{ client_id: null, role: 'owner' }])
  const cleo = await signIn(proxy.url, 'cleo@agency.example')
  assert.equal((await sessionOf(cleo)).user?.email, 'cleo@agency.example')
  proxy.signed = { email: 'eve@agency.example', groups: 'acme' }
  await admin.newClient({ name: 'Acme' })
  const asEve = await sessionOf(cleo)
  assert.deepEqual([asEve.user?.email, asEve.access.all], ['eve@agency.example', null])
  proxy.signed = { email: 'zoe@agency.example' }
  const asBefore = await sessionOf(cleo)
  assert.deepEqual([asBefore.user?.email, asBefore.proxy?.problem], ['cleo@agency.example', 'no_role'])
})

test('someone whom the proxy signs in gets the first answer again for the same Idempotency-Key', async (t) => {
  const { browser, clock, proxy } = await open(t, sqlite)
  proxy.signed = ADA
  const create = (by: ApiClient) => by.call('POST', '/api/clients', { name: 'Acme' }, { 'idempotency-key': 'key' })
  const first = await create(browser)
  clock.advance(SECOND)
  const again = await create(browser)
  assert.deepEqual([again.status, again.text], [201, first.text])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
})

test('who was in stays in while nothing can be written, with no other groups until something can', async (t) => {
  const { admin, api, browser, clock, proxy } = await open(t, sqlite)
  proxy.signed = ADA
  assert.equal((await browser.call('GET', '/api/clients')).status, 200)
  await admin.newClient({ name: 'Acme' })
  const names: string[] = []
  for (const change of ['update on users', 'delete on identity_roles']) {
    const name = change.replaceAll(' ', '_')
    names.push(name)
    const full = `create trigger ${name} before ${change} begin select raise(abort, 'the disk is full'); end`
    await sql.raw(full).execute(api.service.store.write)
  }
  clock.advance(6 * MINUTE)
  assert.equal((await browser.call('GET', '/api/clients')).status, 200)
  proxy.signed = { ...ADA, groups: 'acme' }
  assert.ok((await browser.call('GET', '/api/clients')).status >= 500)
  for (const name of names) await sql.raw(`drop trigger ${name}`).execute(api.service.store.write)
  assert.equal((await browser.call('GET', '/api/clients')).status, 200)
})

test('the stream of someone who is suspended ends, and every stream asks the proxy again', async (t) => {
  const stage = await open(t, sqlite)
  const { proxy, admin, clock } = stage
  proxy.signed = ADA
  const listenTo = async (): Promise<{ isOver: () => boolean }> => {
    const request = get(`${proxy.url}/api/stream`, { agent: false })
    t.after(() => request.destroy())
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    assert.equal(response.statusCode, 200)
    let isOver = false
    response.on('end', () => {
      isOver = true
    })
    response.resume()
    return { isOver: () => isOver }
  }
  const tick = () => clock.advance(2 * SECOND)
  const first = await listenTo()
  clock.advance(16 * MINUTE)
  await until('the stream ends', () => {
    tick()
    return first.isOver() || undefined
  })
  const second = await listenTo()
  const [user] = await usersOf(stage)
  await admin.ask('PATCH', `/api/users/${user?.id}`, { is_active: false })
  await until('the stream ends', () => {
    tick()
    return second.isOver() || undefined
  })
})

test('a service that only the proxy signs people in to is closed, and its first owner is whom ADMIN_EMAIL names', async (t) => {
  const alone = { ADMIN_TOKEN: '', GROUP_ROLES: '', HOST: '0.0.0.0' }
  const closed = await open(t, sqlite, alone)
  const stranger = apiClient(closed.api.url.replace('0.0.0.0', '127.0.0.1'))
  assert.equal((await stranger.call('GET', '/api/clients')).status, 401)
  const session = await sessionOf(stranger)
  assert.deepEqual([session.authentication_required, session.accounts, session.role], [true, true, null])

  const owned = await open(t, sqlite, { ...alone, ADMIN_EMAIL: 'ada@agency.example' })
  owned.proxy.signed = { email: 'ada@agency.example' }
  const browser = apiClient(owned.proxy.url, { origin: owned.proxy.url })
  assert.equal((await sessionOf(browser)).access.all, 'owner')
})
