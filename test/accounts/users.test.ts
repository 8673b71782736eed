import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InvitedUser, NewApiToken, SessionRecord, UserRecord } from '../../src/accounts/index.ts'
import { Passwords } from '../../src/accounts/passwords.ts'
import { OverloadedError } from '../../src/http/index.ts'
import { DAY, HOUR, MINUTE, newId } from '../../src/lib/index.ts'
import type { AuditRecord } from '../../src/management/index.ts'
import { chunksOf } from '../../src/store/index.ts'
import { type ApiClient, apiClient, bearer } from '../../testkit/api.ts'
import { logicEngines, sqlite, testPerEngine } from '../../testkit/engines.ts'
import { insertIncident } from '../../testkit/incidents.ts'
import { newProbeRow } from '../../testkit/probes.ts'
import { join, openAccounts, PASSWORD, type Role, secretOf, signIn } from './support.ts'

/** Passwords that cannot be compared for a while. */
class BusyPasswords extends Passwords {
  isBusy = false

  override async isRight(password: string, stored: string | null): Promise<boolean> {
    if (this.isBusy) throw new OverloadedError('Passwords cannot be compared: try again', 5)
    return super.isRight(password, stored)
  }
}

testPerEngine('an invitation becomes an account that sees its clients alone', async (engine, t) => {
  const { api, admin } = await openAccounts(t, engine, {}, {})
  const [own, other] = [await admin.newClient({ name: 'Own' }), await admin.newClient({ name: 'Other' })]
  const invited = await admin.ask<InvitedUser>('POST', '/api/users', {
    email: 'Ada@Agency.example',
    name: 'Ada',
    roles: [{ client_id: own.id, role: 'editor' }],
  })
  assert.equal(invited.status, 'invited')
  assert.ok(invited.link !== null && !invited.link.mailed)
  const secret = secretOf(invited.link.url)
  const stranger = apiClient(api.url)
  const read = await stranger.ask('POST', '/api/password-links/read', { secret })
  assert.deepEqual(read, {
    email: 'Ada@Agency.example',
    name: 'Ada',
    is_invitation: true,
    expires_at: '2026-11-27T10:00:00.000Z',
  })
  const ofAll = { email: 'bob@agency.example', roles: [{ all_clients: true, role: 'owner' }] }
  const refused = await admin.call('POST', '/api/users', ofAll)
  assert.match(refused.text, /\/roles\/0\/client_id is required: the id of a client, or null for all of them;/)
  const short = await stranger.call('POST', '/api/password-links/use', { secret, password: 'short' })
  assert.equal(short.status, 400)
  await stranger.ask('POST', '/api/password-links/use', { secret, password: PASSWORD })
  const again = await stranger.call('POST', '/api/password-links/use', { secret, password: PASSWORD })
  assert.equal(again.status, 404)

  const ada = await signIn(api.url, 'ada@AGENCY.example')
  assert.equal(ada.answer.status, 200, ada.answer.text)
  assert.deepEqual(ada.answer.json<{ access: unknown; user: unknown }>().access, {
    all: null,
    clients: [{ client_id: own.id, role: 'editor' }],
  })
  const clients = await ada.ask<{ id: string }[]>('GET', '/api/clients')
  assert.deepEqual(
    clients.map(({ id }) => id),
    [own.id],
  )
  assert.equal((await ada.call('GET', `/api/clients/${other.id}`)).status, 404)
  assert.equal((await ada.call('PATCH', `/api/clients/${own.id}`, { name: 'Mine' })).status, 200)
  assert.equal((await ada.call('DELETE', `/api/clients/${own.id}`)).status, 403)
  const [change] = await ada.ask<{ actor: string }[]>('GET', '/api/audit')
  assert.equal(change?.actor, 'Ada@Agency.example')
  const stored = JSON.stringify(await api.service.store.read.selectFrom('users').selectAll().execute())
  assert.ok(!stored.includes(PASSWORD) && stored.includes('$scrypt$ln=15,r=8,p=3$'))
  const links = await api.service.store.read.selectFrom('user_links').selectAll().execute()
  assert.deepEqual(links, [])
})

test('a link ends after its time, when another is made, and when the account is disabled', async (t) => {
  const { api, clock, admin } = await openAccounts(t, sqlite)
  const roles = [{ client_id: null, role: 'viewer' }]
  const { id, link } = await admin.ask<InvitedUser>('POST', '/api/users', { email: 'a@b.example', roles })
  const stranger = apiClient(api.url)
  const works = async (url: string) =>
    (await stranger.call('POST', '/api/password-links/read', { secret: secretOf(url) })).status === 200
  assert.ok(await works(link?.url ?? ''))
  const second = await admin.ask<{ url: string }>('POST', `/api/users/${id}/link`)
  assert.deepEqual([await works(link?.url ?? ''), await works(second.url)], [false, true])
  await admin.ask('PATCH', `/api/users/${id}`, { is_active: false })
  assert.ok(!(await works(second.url)))
  await admin.ask('PATCH', `/api/users/${id}`, { is_active: true })
  clock.advance(7 * DAY)
  assert.ok(!(await works(second.url)))
})

test('someone whose last role was taken manages their own account, and sees nothing else', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  const { id } = await join(admin, 'ada@agency.example', [{ client_id: null, role: 'viewer' }])
  const [here, there] = [await signIn(api.url, 'ada@agency.example'), await signIn(api.url, 'ada@agency.example')]
  await admin.ask('PATCH', `/api/users/${id}`, { roles: [] })
  const [other] = (await here.ask<SessionRecord[]>('GET', '/api/account/sessions')).filter((one) => !one.is_current)
  await here.ask('DELETE', `/api/account/sessions/${other?.id}`)
  assert.equal((await there.call('GET', '/api/account')).status, 401)
  await here.ask('PATCH', '/api/account', { current_password: PASSWORD, password: 'another good sentence' })
  for (const path of ['/api/clients', '/api/sites', '/api/users', '/api/settings', '/api/dashboard/overview']) {
    const answer = await here.call('GET', path)
    assert.equal(answer.status, 403, `${path}: ${answer.text}`)
  }
})

test('of sessions that were seen in the same moment the latest is listed first', async (t) => {
  const { api, clock, admin } = await openAccounts(t, sqlite)
  await join(admin, 'ada@agency.example', [{ client_id: null, role: 'viewer' }])
  const browsers: ApiClient[] = []
  for (let count = 0; count < 6; count++) {
    browsers.push(await signIn(api.url, 'ada@agency.example'))
    clock.advance(1)
  }
  clock.advance(5 * MINUTE)
  for (const browser of browsers) await browser.ask('GET', '/api/account')
  const sessions = (await browsers[0]?.ask<SessionRecord[]>('GET', '/api/account/sessions')) ?? []
  assert.equal(new Set(sessions.map(({ last_seen_at }) => last_seen_at)).size, 1)
  assert.deepEqual(
    sessions.map(({ created_at }) => created_at),
    [5, 4, 3, 2, 1, 0].map((ms) => `2026-11-20T10:00:00.00${ms}Z`),
  )
})

test('sessions are listed, end on demand, with the account and with another password', async (t) => {
  const { api, clock, admin } = await openAccounts(t, sqlite)
  const { id } = await join(admin, 'ada@agency.example', [{ client_id: null, role: 'viewer' }])
  const [here, there] = [await signIn(api.url, 'ada@agency.example'), await signIn(api.url, 'ada@agency.example')]
  clock.advance(5 * MINUTE)
  const sessions = await here.ask<SessionRecord[]>('GET', '/api/account/sessions')
  assert.equal(sessions.length, 2)
  const [current] = sessions.filter(({ is_current }) => is_current)
  assert.equal(current?.last_seen_at, '2026-11-20T10:05:00.000Z')
  const wrong = { current_password: 'not my password', password: 'another good sentence' }
  assert.equal((await here.call('PATCH', '/api/account', wrong)).status, 400)
  await here.ask('PATCH', '/api/account', { current_password: PASSWORD, password: 'another good sentence' })
  assert.equal((await here.call('GET', '/api/clients')).status, 200)
  assert.equal((await there.call('GET', '/api/clients')).status, 401)
  const third = await signIn(api.url, 'ada@agency.example', 'another good sentence')
  const [other] = (await here.ask<SessionRecord[]>('GET', '/api/account/sessions')).filter((one) => !one.is_current)
  await here.ask('DELETE', `/api/account/sessions/${other?.id}`)
  assert.equal((await third.call('GET', '/api/clients')).status, 401)
  await signIn(api.url, 'ada@agency.example', 'another good sentence')
  const [fourth] = (await here.ask<SessionRecord[]>('GET', '/api/account/sessions')).filter((one) => !one.is_current)
  await admin.ask('DELETE', `/api/users/${id}/sessions/${fourth?.id}`)
  const audit = await api.service.store.read
    .selectFrom('audit_log')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(2)
    .execute()
  assert.deepEqual(
    audit.map(({ actor, action, entity_id, before, after }) => [actor, action, entity_id, before, after]),
    ['admin', 'ada@agency.example'].map((actor) => {
      return [actor, 'user.update', id, '{"session":"unknown browser"}', '{"session":"ended"}']
    }),
  )
  await admin.ask('PATCH', `/api/users/${id}`, { is_active: false })
  assert.equal((await here.call('GET', '/api/clients')).status, 401)
  assert.equal((await signIn(api.url, 'ada@agency.example', 'another good sentence')).answer.status, 401)
})

test('guesses at one account make it wait, wherever they come from, and say nothing of whether there is one', async (t) => {
  const { api, clock, admin } = await openAccounts(t, sqlite)
  await join(admin, 'ada@agency.example', [{ client_id: null, role: 'viewer' }])
  const [known, unknown] = [[] as string[], [] as string[]]
  for (const [email, answers] of [
    ['ada@agency.example', known],
    ['nobody@agency.example', unknown],
  ] as const) {
    for (let n = 0; n < 7; n++) {
      const { answer } = await signIn(api.url, email, 'a wrong password')
      answers.push(`${answer.status} ${answer.text}`)
    }
    clock.advance(20 * MINUTE)
  }
  assert.deepEqual(known, unknown)
  assert.ok(known[0]?.startsWith('401') && known.at(-1)?.startsWith('429'), known.join('\n'))
  assert.equal((await signIn(api.url, 'ada@agency.example')).answer.status, 200)
})

test('a password that could not be compared is no guess, and takes back no guess', async (t) => {
  const passwords = new BusyPasswords({ ln: 4, r: 8, p: 1 })
  const { api, admin } = await openAccounts(t, sqlite, {}, { passwords })
  await join(admin, 'ada@agency.example', [{ client_id: null, role: 'viewer' }])
  const ada = await signIn(api.url, 'ada@agency.example')
  const change = async (current_password: string) =>
    (await ada.call('PATCH', '/api/account', { current_password, password: 'another good sentence' })).status
  const trying = async (password: string) => (await signIn(api.url, 'ada@agency.example', password)).answer.status
  for (let n = 0; n < 4; n++) assert.equal(await trying('a wrong password'), 401)
  passwords.isBusy = true
  for (let n = 0; n < 6; n++) assert.deepEqual([await trying(PASSWORD), await change(PASSWORD)], [503, 503])
  passwords.isBusy = false
  assert.deepEqual([await trying('a wrong password'), await trying(PASSWORD)], [401, 429])
})

test('an owner of some clients manages their people and tokens alone', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  const [own, other] = [await admin.newClient({ name: 'Own' }), await admin.newClient({ name: 'Other' })]
  await join(admin, 'owner@own.example', [{ client_id: own.id, role: 'owner' }])
  const stranger = await join(admin, 'someone@other.example', [{ client_id: other.id, role: 'viewer' }])
  const both = await join(admin, 'both@agency.example', [
    { client_id: own.id, role: 'viewer' },
    { client_id: other.id, role: 'editor' },
  ])
  const tokenFor = (...client_ids: string[]) =>
    admin.ask<{ id: string }>('POST', '/api/tokens', { name: 'x', role: 'viewer', client_ids })
  const [ofOther, ofBoth] = [await tokenFor(other.id), await tokenFor(own.id, other.id)]
  const owner = await signIn(api.url, 'owner@own.example')
  assert.deepEqual(await owner.ask('GET', '/api/tokens'), [])
  const people = await owner.ask<UserRecord[]>('GET', '/api/users')
  assert.deepEqual(people.map(({ email }) => email).sort(), ['both@agency.example', 'owner@own.example'])
  assert.deepEqual(people.find(({ id }) => id === both.id)?.roles, [{ client_id: own.id, role: 'viewer' }])
  const refusals: [method: string, path: string, body: object | undefined, status: number][] = [
    ['POST', '/api/users', { email: 'x@y.example', roles: [{ client_id: null, role: 'viewer' }] }, 403],
    ['POST', '/api/users', { email: 'x@y.example', roles: [{ client_id: other.id, role: 'viewer' }] }, 400],
    ['PATCH', `/api/users/${stranger.id}`, { roles: [] }, 404],
    ['PATCH', `/api/users/${both.id}`, { is_active: false }, 403],
    ['POST', `/api/users/${both.id}/link`, undefined, 403],
    ['GET', `/api/users/${both.id}/sessions`, undefined, 403],
    ['DELETE', `/api/users/${both.id}`, undefined, 403],
    ['POST', '/api/tokens', { name: 'x', role: 'viewer' }, 403],
    ['POST', '/api/tokens', { name: 'x', role: 'viewer', client_ids: [other.id] }, 400],
    ['DELETE', `/api/tokens/${ofOther.id}`, undefined, 404],
    ['DELETE', `/api/tokens/${ofBoth.id}`, undefined, 404],
    ['POST', '/api/clients', { name: 'x' }, 403],
  ]
  for (const [method, path, body, status] of refusals) {
    const answer = await owner.call(method, path, body)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
  }
  assert.equal((await admin.ask<unknown[]>('GET', '/api/tokens')).length, 2)
  await owner.ask('PATCH', `/api/users/${both.id}`, { roles: [] })
  const [left] = (await admin.ask<UserRecord[]>('GET', '/api/users')).filter(({ id }) => id === both.id)
  assert.deepEqual(left?.roles, [{ client_id: other.id, role: 'editor' }])
  await owner.ask('POST', '/api/tokens', { name: 'pipeline', role: 'editor', client_ids: [own.id] })
})

test('someone who reads everything and owns one client changes nothing of another, nor what belongs to several', async (t) => {
  const { api, admin, clock } = await openAccounts(t, sqlite)
  const [own, other] = [await admin.newClient({ name: 'Own' }), await admin.newClient({ name: 'Other' })]
  const { id: vendors } = await insertIncident(api.service.store, null, clock.now(), { vendor: 'meta' })
  await join(admin, 'ada@agency.example', [
    { client_id: null, role: 'viewer' },
    { client_id: own.id, role: 'owner' },
  ])
  const ada = await signIn(api.url, 'ada@agency.example')
  const calls: [method: string, path: string, body: object | undefined, status: number][] = [
    ['PATCH', `/api/clients/${own.id}`, { name: 'Mine' }, 200],
    ['POST', '/api/tokens', { name: 'x', role: 'viewer', client_ids: [own.id] }, 201],
    ['PATCH', `/api/clients/${other.id}`, { name: 'Mine' }, 403],
    ['POST', '/api/tokens', { name: 'x', role: 'viewer', client_ids: [own.id, other.id] }, 403],
    ['GET', `/api/incidents/${vendors}`, undefined, 200],
    ['POST', `/api/incidents/${vendors}/acknowledge`, {}, 403],
  ]
  for (const [method, path, body, status] of calls) {
    const answer = await ada.call(method, path, body)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
  }
})

test('the owner of one client leaves room for the people and tokens of others', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  const [own, other] = [await admin.newClient({ name: 'Own' }), await admin.newClient({ name: 'Other' })]
  await join(admin, 'owner@own.example', [{ client_id: own.id, role: 'owner' }])
  const owner = await signIn(api.url, 'owner@own.example')
  const { write } = api.service.store
  const token = await owner.ask<{ id: string }>('POST', '/api/tokens', {
    name: 'x',
    role: 'viewer',
    client_ids: [own.id],
  })
  const row = await write.selectFrom('api_tokens').selectAll().where('id', '=', token.id).executeTakeFirstOrThrow()
  const copies = Array.from({ length: 99 }, (_, n) => ({ ...row, id: `${n}`, token_hash: `${n}` }))
  await write.insertInto('api_tokens').values(copies).execute()
  const people = Array.from({ length: 499 }, (_, n) => ({
    user_id: `${n}`,
    client_id: own.id,
    role: 'viewer' as const,
  }))
  await write.insertInto('user_roles').values(people).execute()
  const makes = [
    ['/api/tokens', (id: string) => ({ name: 'y', role: 'viewer', client_ids: [id] })],
    ['/api/users', (id: string) => ({ email: 'new@own.example', roles: [{ client_id: id, role: 'viewer' }] })],
  ] as const
  for (const [path, body] of makes) {
    const refused = await owner.call('POST', path, body(own.id))
    assert.deepEqual([refused.status, /one/.test(refused.text)], [409, true], refused.text)
    assert.equal((await admin.call('POST', path, body(other.id))).status, 201)
  }
})

test('tokens for several clients count for each of them, and an owner of all clients may make any number', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  const [one, two] = [await admin.newClient({ name: 'One' }), await admin.newClient({ name: 'Two' })]
  const ofOne = { client_id: one.id, role: 'owner' } as const
  await join(admin, 'owner@own.example', [ofOne, { client_id: two.id, role: 'owner' }])
  await join(admin, 'boss@own.example', [ofOne, { client_id: null, role: 'owner' }])
  const owner = await signIn(api.url, 'owner@own.example')
  const boss = await signIn(api.url, 'boss@own.example')
  const make = (by: ApiClient, client_ids: string[]) =>
    by.call('POST', '/api/tokens', { name: 'x', role: 'viewer', client_ids })
  const { id } = (await make(owner, [one.id, two.id])).json<{ id: string }>()
  const { write } = api.service.store
  const row = await write.selectFrom('api_tokens').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const copies = Array.from({ length: 99 }, (_, n) => ({ ...row, id: `${n}`, token_hash: `${n}` }))
  await write.insertInto('api_tokens').values(copies).execute()
  const refused = await make(owner, [one.id])
  assert.deepEqual([refused.status, /100 tokens/.test(refused.text)], [409, true], refused.text)
  assert.equal((await make(boss, [one.id, two.id])).status, 201)
})

testPerEngine(
  'owners of a client who invite people and take their roles away leave room for others',
  async (engine, t) => {
    const { api, admin } = await openAccounts(t, engine)
    const own = await admin.newClient({ name: 'Own' })
    const roles = [{ client_id: own.id, role: 'viewer' as const }]
    const { id: ownerId } = await join(admin, 'owner@own.example', [{ client_id: own.id, role: 'owner' }])
    const owner = await signIn(api.url, 'owner@own.example')
    const invited = await owner.ask<InvitedUser>('POST', '/api/users', { email: 'new@own.example', roles })
    const accepted = await join(owner, 'accepted@own.example', roles)
    for (const { id } of [invited, accepted]) await owner.ask('PATCH', `/api/users/${id}`, { roles: [] })
    const ids = async () => (await admin.ask<UserRecord[]>('GET', '/api/users')).map(({ id }) => id)
    assert.deepEqual(
      (await ids()).sort(),
      [ownerId, accepted.id].sort(),
      'an invitation that gives nothing any more is gone',
    )
    const entries = await admin.ask<{ action: string }[]>('GET', `/api/audit?entity_id=${invited.id}`)
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['user.delete', 'user.create'],
    )
    const { write } = api.service.store
    const row = await write.selectFrom('users').selectAll().where('id', '=', accepted.id).executeTakeFirstOrThrow()
    const copies = Array.from({ length: 999 }, (_, n) => ({ ...row, id: `${n}`, email_key: `${n}` }))
    for (const chunk of chunksOf(copies)) await write.insertInto('users').values(chunk).execute()
    const another = { email: 'another@own.example', roles }
    const refused = await owner.call('POST', '/api/users', another)
    assert.deepEqual([refused.status, /1000 accounts have no role/.test(refused.text)], [409, true], refused.text)
    assert.equal((await admin.call('POST', '/api/users', another)).status, 201)
  },
)

testPerEngine('people of one client leave room for the sites and probes of others', async (engine, t) => {
  const { api, admin } = await openAccounts(t, engine)
  const [own, other] = [await admin.newClient({ name: 'Own' }), await admin.newClient({ name: 'Other' })]
  await join(admin, 'editor@own.example', [{ client_id: own.id, role: 'editor' }])
  await join(admin, 'both@own.example', [
    { client_id: null, role: 'viewer' },
    { client_id: own.id, role: 'editor' },
  ])
  const editor = await signIn(api.url, 'editor@own.example')
  const both = await signIn(api.url, 'both@own.example')
  const siteOf = (client_id: string) => ({ client_id, name: 'Shop', url: 'https://shop.example' })
  const [site, elsewhere] = [
    await editor.ask<{ id: string }>('POST', '/api/sites', siteOf(own.id)),
    await admin.ask<{ id: string }>('POST', '/api/sites', siteOf(other.id)),
  ]
  const { write } = api.service.store
  const [row] = await write.selectFrom('sites').selectAll().where('id', '=', site.id).execute()
  const { site_no: _, ...copied } = row ?? assert.fail('the site is not there')
  const sites = Array.from({ length: 499 }, (_, n) => ({ ...copied, id: `${n}`, ingest_key: `${n}` }))
  for (const chunk of chunksOf(sites)) await write.insertInto('sites').values(chunk).execute()
  const probes = Array.from({ length: 5_000 }, () => newProbeRow(site.id, { is_active: 0 }))
  for (const chunk of chunksOf(probes)) await write.insertInto('probes').values(chunk).execute()
  const probeOf = ({ id }: { id: string }) => ({ site_id: id, probe_type: 'data_freshness' })
  for (const [path, body, more] of [
    ['/api/sites', siteOf(own.id), siteOf(other.id)],
    ['/api/probes', probeOf(site), probeOf(elsewhere)],
  ] as const) {
    const refused = await editor.call('POST', path, body)
    assert.deepEqual([refused.status, /delete one/.test(refused.text)], [409, true], refused.text)
    assert.equal((await admin.call('POST', path, body)).status, 201, 'the operator may add more')
    assert.equal((await both.call('POST', path, body)).status, 201, 'and so may an editor who sees all clients')
    assert.equal((await admin.call('POST', path, more)).status, 201)
  }
  await write.deleteFrom('sites').where('id', 'in', ['0', '1', '2', '3']).execute()
  const refused = await editor.call('POST', '/api/sites?auto_probes=true', siteOf(own.id))
  assert.deepEqual([refused.status, /5000 probes: delete one/.test(refused.text)], [409, true], refused.text)
  assert.equal((await both.call('POST', '/api/sites?auto_probes=true', siteOf(own.id))).status, 201)
  assert.equal((await editor.call('POST', '/api/sites', siteOf(own.id))).status, 201, 'without probes there is room')
})

test('no one with a role for one client alone resumes it or gives it a larger plan, and all else of it they may change', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  const own = await admin.newClient({ name: 'Own', plan: 'free' })
  await join(admin, 'owner@own.example', [{ client_id: own.id, role: 'owner' }])
  await join(admin, 'editor@all.example', [
    { client_id: null, role: 'editor' },
    { client_id: own.id, role: 'owner' },
  ])
  const path = `/api/clients/${own.id}`
  const owner = await signIn(api.url, 'owner@own.example')
  for (const larger of [{ plan: 'pro' }, { plan: 'enterprise', requests_per_second: null }]) {
    const refused = await owner.call('PATCH', path, larger)
    assert.deepEqual([refused.status, /plan/.test(refused.text)], [403, true], refused.text)
  }
  for (const is_active of [false, true]) {
    const refused = await owner.call('PATCH', path, { is_active })
    assert.deepEqual([refused.status, /pause or resume/.test(refused.text)], [403, true], refused.text)
    assert.equal((await owner.call('PATCH', path, { is_active: !is_active })).status, 200, 'nothing changes')
    await admin.ask('PATCH', path, { is_active })
  }
  const renamed = await owner.call('PATCH', path, { name: 'Mine', plan: 'free', is_active: true })
  assert.equal(renamed.status, 200, renamed.text)
  const editor = await signIn(api.url, 'editor@all.example')
  const token = { name: 'x', role: 'owner' }
  assert.equal((await editor.call('POST', '/api/tokens', token)).status, 403, 'a token for all clients')
  assert.equal(
    (await editor.call('PATCH', path, { plan: 'enterprise', events_per_month: 900, is_active: false })).status,
    200,
  )
  assert.equal((await owner.call('PATCH', path, { events_per_month: null })).status, 403)
  assert.equal((await owner.ask<{ events_per_month: number }>('GET', path)).events_per_month, 900)
})

test('the owners of a client cannot have people flooded with invitations', async (t) => {
  const { api, admin, clock } = await openAccounts(t, sqlite)
  const own = await admin.newClient({ name: 'Own' })
  const roles = [{ client_id: own.id, role: 'viewer' }]
  await join(admin, 'owner@own.example', [{ client_id: own.id, role: 'owner' }])
  const owner = await signIn(api.url, 'owner@own.example')
  const invite = { email: 'new@own.example', roles }
  const { id } = await owner.ask<UserRecord>('POST', '/api/users', invite)
  for (let n = 1; n < 60; n++) await owner.ask('POST', `/api/users/${id}/link`)
  const refused = [await owner.call('POST', `/api/users/${id}/link`), await owner.call('POST', '/api/users', invite)]
  assert.deepEqual(
    refused.map(({ status }) => status),
    [429, 429],
  )
  assert.match(refused[0]?.text ?? '', /At most 60 invitations and links an hour: wait 3600 s/)
  await admin.ask('POST', `/api/users/${id}/link`)
  clock.advance(HOUR)
  await owner.ask('POST', `/api/users/${id}/link`)
})

test('who was invited by others gets no role from someone who could hold their link', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  const [own, other] = [await admin.newClient({ name: 'Own' }), await admin.newClient({ name: 'Other' })]
  await join(admin, 'owner@own.example', [{ client_id: own.id, role: 'owner' }])
  const owner = await signIn(api.url, 'owner@own.example')
  await admin.ask('POST', '/api/users', { email: 'new@x.example', roles: [{ client_id: other.id, role: 'viewer' }] })
  const roles = [{ client_id: own.id, role: 'viewer' }]
  assert.equal((await owner.call('POST', '/api/users', { email: 'NEW@x.example', roles })).status, 409)
  // The other way round the link that the first had ends, as whoever manages everything makes another.
  const first = await owner.ask<InvitedUser>('POST', '/api/users', { email: 'two@x.example', roles })
  await admin.ask('POST', '/api/users', { email: 'two@x.example', roles: [{ client_id: other.id, role: 'viewer' }] })
  const old = await apiClient(api.url).call('POST', '/api/password-links/read', {
    secret: secretOf(first.link?.url ?? ''),
  })
  assert.equal(old.status, 404)
})

test('the last owner of everything stays, and roles for a client go with it', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  const client = await admin.newClient()
  const ada = await join(admin, 'ada@agency.example', [{ client_id: null, role: 'owner' }])
  const bob = await join(admin, 'bob@agency.example', [{ client_id: client.id, role: 'viewer' }])
  for (const body of [{ is_active: false }, { roles: [] }, { roles: [{ client_id: null, role: 'editor' }] }]) {
    assert.equal((await admin.call('PATCH', `/api/users/${ada.id}`, body)).status, 409)
  }
  // Who was invited and never came could not stand in.
  const roles = [{ client_id: null, role: 'owner' }]
  const eve = await admin.ask<InvitedUser>('POST', '/api/users', { email: 'eve@agency.example', roles })
  assert.equal((await admin.call('DELETE', `/api/users/${ada.id}`)).status, 409)
  // Nor could someone who came from an identity provider that is no longer the service's.
  const { write } = api.service.store
  const identity = { id: newId(), user_id: eve.id, issuer: 'https://former.example', subject: 'eve', created_at: 0 }
  await write.insertInto('user_identities').values(identity).execute()
  await write
    .insertInto('identity_roles')
    .values({ identity_id: identity.id, client_id: 'all', role: 'owner' })
    .execute()
  assert.equal((await admin.call('DELETE', `/api/users/${ada.id}`)).status, 409)
  await admin.ask('DELETE', `/api/users/${eve.id}`)
  await admin.ask('DELETE', `/api/clients/${client.id}`)
  const left = await signIn(api.url, 'bob@agency.example')
  const refused = await left.call('GET', '/api/clients')
  assert.equal(refused.status, 403)
  assert.match(refused.text, /no role/)
  await admin.ask('DELETE', `/api/users/${bob.id}`)
  assert.equal((await left.call('GET', '/api/clients')).status, 401)
})

testPerEngine('saved views of one’s own are deleted with the account or the token', async (engine, t) => {
  const { api, admin } = await openAccounts(t, engine)
  const client = await admin.newClient()
  const ada = await join(admin, 'ada@agency.example', [{ client_id: client.id, role: 'editor' }])
  const tokenOf = (name: string) =>
    admin.ask<NewApiToken>('POST', '/api/tokens', { name, role: 'editor', client_ids: [client.id] })
  const [revoked, left] = [await tokenOf('revoked'), await tokenOf('left')]
  const callers = [await signIn(api.url, 'ada@agency.example'), admin]
  for (const { token } of [revoked, left]) callers.push(apiClient(api.url, bearer(token)))
  for (const [n, caller] of callers.entries()) await caller.ask('POST', '/api/views', { name: `${n}`, path: '/sites' })
  const views = async () => {
    const rows = await api.service.store.read.selectFrom('saved_views').select('name').orderBy('name').execute()
    return rows.map(({ name }) => name).join(' ')
  }
  assert.equal(await views(), '0 1 2 3')
  await admin.ask('DELETE', `/api/users/${ada.id}`)
  await admin.ask('DELETE', `/api/tokens/${revoked.id}`)
  assert.equal(await views(), '1 3')
  await admin.ask('DELETE', `/api/clients/${client.id}`)
  assert.equal(await views(), '1')
})

testPerEngine(
  'an invitation adds to the roles of someone who has an account, and takes none away',
  async (engine, t) => {
    const { api, admin } = await openAccounts(t, engine)
    const [own, other] = [await admin.newClient({ name: 'Own' }), await admin.newClient({ name: 'Other' })]
    const ada = await join(admin, 'ada@agency.example', [{ client_id: null, role: 'owner' }])
    const bob = await join(admin, 'bob@own.example', [{ client_id: own.id, role: 'owner' }])
    const rolesOf = async (id: string) => {
      const people = await admin.ask<UserRecord[]>('GET', '/api/users')
      return people.find((person) => person.id === id)?.roles
    }
    const invite = (email: string, roles: readonly Role[]) =>
      admin.ask<InvitedUser>('POST', '/api/users', { email, roles })
    await invite('ada@agency.example', [{ client_id: null, role: 'viewer' }])
    assert.deepEqual(await rolesOf(ada.id), [{ client_id: null, role: 'owner' }])
    const again = await invite('bob@own.example', [
      { client_id: own.id, role: 'viewer' },
      { client_id: other.id, role: 'editor' },
    ])
    const expected = [
      { client_id: own.id, role: 'owner' },
      { client_id: other.id, role: 'editor' },
    ]
    const inOrder = (roles: readonly Role[] = []) => roles.toSorted((a, b) => (a.role < b.role ? 1 : -1))
    assert.deepEqual(inOrder(again.roles), expected)
    assert.deepEqual(inOrder(await rolesOf(bob.id)), expected)
    await invite('bob@own.example', [{ client_id: other.id, role: 'owner' }])
    const owner = await signIn(api.url, 'bob@own.example')
    assert.equal((await owner.call('DELETE', `/api/clients/${other.id}`)).status, 204)
  },
)

test('guesses at the password of a session wait as those at the sign-in do', async (t) => {
  const { api, clock, admin } = await openAccounts(t, sqlite)
  await join(admin, 'ada@agency.example', [{ client_id: null, role: 'viewer' }])
  const ada = await signIn(api.url, 'ada@agency.example')
  const change = (current_password: string) =>
    ada.call('PATCH', '/api/account', { current_password, password: 'another good sentence' })
  const begin = (password: string) => ada.call('POST', '/api/account/two-step', { password })
  for (const tried of [change, begin, change, begin, change])
    assert.equal((await tried('a wrong password')).status, 400)
  for (const tried of [change, begin]) {
    const { status, headers } = await tried(PASSWORD)
    assert.deepEqual([status, headers.get('retry-after')], [429, '1'])
  }
  assert.equal((await ada.call('PATCH', '/api/account', { name: 'Ada' })).status, 204)
  clock.advance(1_000)
  assert.equal((await change(PASSWORD)).status, 204)
  assert.equal((await begin('another good sentence')).status, 201)
})

test('who edits one client and sees another sees queries of addresses in probes of the first alone', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  const [own, other] = [await admin.newClient({ name: 'Own' }), await admin.newClient({ name: 'Other' })]
  for (const client of [own, other]) {
    const site = await admin.newSite(client, { tag_server_url: 'https://sgtm.example' })
    const config = { path: `/healthy?of=${client.id}` }
    await admin.ask('POST', '/api/probes', { site_id: site.id, probe_type: 'http_health', config })
  }
  await join(admin, 'ada@agency.example', [
    { client_id: own.id, role: 'editor' },
    { client_id: other.id, role: 'viewer' },
  ])
  const ada = await signIn(api.url, 'ada@agency.example')
  const probes = await ada.ask<{ config: { path: string } }[]>('GET', '/api/probes')
  const paths = probes.map(({ config }) => config.path)
  assert.deepEqual(new Set(paths), new Set([`/healthy?of=${own.id}`, '/healthy?…']))
})

test('a disabled account is neither invited nor given a link, which would open nothing', async (t) => {
  const { admin } = await openAccounts(t, sqlite)
  const roles = [{ client_id: null, role: 'viewer' }]
  const { id } = await admin.ask<InvitedUser>('POST', '/api/users', { email: 'ada@agency.example', roles })
  await admin.ask('PATCH', `/api/users/${id}`, { is_active: false })
  for (const path of ['/api/users', `/api/users/${id}/link`]) {
    const body = path === '/api/users' ? { email: 'ADA@agency.example', roles } : undefined
    const { status, text } = await admin.call('POST', path, body)
    assert.equal(status, 409, text)
    assert.match(text, /disabled/)
  }
  await admin.ask('PATCH', `/api/users/${id}`, { is_active: true })
  assert.equal((await admin.call('POST', `/api/users/${id}/link`)).status, 201)
})

test('who makes a link for the password of someone else is in the audit log, and the link is not', async (t) => {
  const { api, admin } = await openAccounts(t, sqlite)
  await join(admin, 'ada@agency.example', [{ client_id: null, role: 'owner' }])
  const bob = await join(admin, 'bob@agency.example', [{ client_id: null, role: 'viewer' }])
  const ada = await signIn(api.url, 'ada@agency.example')
  const { url } = await ada.ask<{ url: string }>('POST', `/api/users/${bob.id}/link`)
  const audit = await admin.call('GET', `/api/audit?entity_id=${bob.id}`)
  const [latest] = audit.json<{ actor: string; action: string; after: object }[]>()
  assert.deepEqual([latest?.actor, latest?.action], ['ada@agency.example', 'user.update'])
  assert.deepEqual(latest?.after, { password_link: 'made' })
  assert.ok(!audit.text.includes(secretOf(url)))
})

testPerEngine(
  'the audit log has the name that someone gives with a link, and nothing of a change that changes nothing',
  async (engine, t) => {
    const { api, admin } = await openAccounts(t, engine)
    const roles = [{ client_id: null, role: 'owner' }]
    const { id, link } = await admin.ask<InvitedUser>('POST', '/api/users', { email: 'ada@agency.example', roles })
    const secret = secretOf(link?.url ?? '')
    await apiClient(api.url).ask('POST', '/api/password-links/use', { secret, password: PASSWORD, name: ' Ada L. ' })
    const [latest] = await admin.ask<AuditRecord[]>('GET', `/api/audit?entity_id=${id}`)
    assert.deepEqual(latest?.before, { password: 'never set', name: 'ada' })
    assert.deepEqual(latest?.after, { password: 'set with a link', name: 'Ada L.' })
    for (const change of [{}, { name: ' Ada L.' }, { is_active: true }, { roles }]) {
      await admin.ask('PATCH', `/api/users/${id}`, change)
    }
    await admin.ask('POST', '/api/users', { email: 'ada@agency.example', roles })
    await (await signIn(api.url, 'ada@agency.example')).ask('PATCH', '/api/account', { name: 'Ada L. ' })
    assert.equal((await admin.ask<AuditRecord[]>('GET', `/api/audit?entity_id=${id}`))[0]?.id, latest?.id)

    const invite = () => admin.ask<InvitedUser>('POST', '/api/users', { email: 'bob@agency.example', roles })
    const bob = await invite()
    await invite()
    const ofBob = await admin.ask<AuditRecord[]>('GET', `/api/audit?entity_id=${bob.id}`)
    assert.deepEqual(
      ofBob.map(({ action, after }) => [action, after?.password_link]),
      [
        ['user.update', 'made'],
        ['user.create', undefined],
      ],
    )
  },
  logicEngines,
)
