import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import { signInIdentity } from '../../src/accounts/oidc/identities.ts'
import { hashOf, newId, newSecret, systemClock } from '../../src/lib/index.ts'
import type { Store, Tables, Transaction } from '../../src/store/index.ts'
import { type Answer, apiClient } from '../../testkit/api.ts'
import { openEmptyStore, postgres } from '../../testkit/engines.ts'
import { until } from '../../testkit/until.ts'
import { describedBy } from '../contract/described.ts'
import { type AccountService, join, openAccounts, PASSWORD, secretOf, signIn } from './support.ts'

// On SQLite one transaction follows the other, so nothing can happen in between.

const EMAIL = 'ada@agency.example'
const ANOTHER = 'another good sentence'

const EVE = {
  issuer: 'https://id.example',
  subject: 'eve',
  email: 'eve@agency.example',
  name: 'Eve',
  groups: ['one'],
}

/** A sign-in at the provider, which makes those of group `one` editors of these clients; null: of all. */
const signInGiving = (store: Store, clients: string[] | null) => ({
  store,
  clock: systemClock,
  groupRoles: [{ group: 'one', role: 'editor' as const, clients }],
  actor: 'single sign-on',
  warn: () => {},
})

/** Resolves when so many transactions wait for others, or the work has ended. */
async function waitsOrEnds(store: Store, count: number, work: Promise<unknown>): Promise<void> {
  let hasEnded = false
  const end = () => {
    hasEnded = true
  }
  work.then(end, end)
  await until('the other waits', async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(store.read)
    return rows.length >= count || hasEnded || undefined
  })
}

/**
 * Does something while a transaction holds what `hold` has changed, which is committed once the other waits for it or has ended.
 *
 * @param goOn what the transaction does before it commits
 */
async function during<T>(
  store: Store,
  hold: (trx: Transaction<Tables>) => Promise<unknown>,
  act: () => Promise<T>,
  goOn: (trx: Transaction<Tables>) => Promise<unknown> = async () => {},
): Promise<T> {
  const { done } = await store.write.transaction().execute(async (trx) => {
    await hold(trx)
    const done = act()
    await waitsOrEnds(store, 1, done)
    await goOn(trx)
    return { done }
  })
  return done
}

/** Does the second while the first has done all but its audit entry. Returns the statuses of both. */
async function atOnce(store: Store, first: () => Promise<Answer>, second: () => Promise<Answer>): Promise<number[]> {
  const { both } = await store.write.transaction().execute(async (trx) => {
    await sql`lock table audit_log in share mode`.execute(trx)
    const one = first()
    await waitsOrEnds(store, 1, one)
    const other = second()
    await waitsOrEnds(store, 2, other)
    return { both: Promise.all([one, other]) }
  })
  return (await both).map(({ status }) => status)
}

const lock = (trx: Transaction<Tables>, id: string) =>
  trx.updateTable('users').set({ name: 'Ada' }).where('id', '=', id).execute()

interface Invited extends AccountService {
  store: Store
  client: { id: string }
  id: string
  secret: string
}

async function openInvited(t: TestContext): Promise<Invited> {
  const service = await openAccounts(t, postgres)
  const client = await service.admin.newClient()
  const roles = [{ client_id: client.id, role: 'viewer' }]
  const { id, link } = await service.admin.ask<{ id: string; link: { url: string } }>('POST', '/api/users', {
    email: EMAIL,
    roles,
  })
  return { ...service, store: service.api.service.store, client, id, secret: secretOf(link.url) }
}

const use = ({ api }: Invited, secret: string) =>
  apiClient(api.url).call('POST', '/api/password-links/use', { secret, password: ANOTHER })

test('a link that is replaced while it is used sets no password', async (t) => {
  const invited = await openInvited(t)
  const { store, id, secret } = invited
  const later = newSecret()
  const replace = async (trx: Transaction<Tables>) => {
    await lock(trx, id)
    const old = await trx.deleteFrom('user_links').where('user_id', '=', id).returningAll().executeTakeFirstOrThrow()
    await trx
      .insertInto('user_links')
      .values({ ...old, id: hashOf(later) })
      .execute()
  }
  const used = await during(store, replace, () => use(invited, secret))
  assert.equal(used.status, 409, used.text)
  assert.equal((await describedBy(apiClient(invited.api.url)))('POST /api/password-links/use', used), null)
  assert.equal((await use(invited, later)).status, 204)
})

test('a name that an owner changes while a link sets the password stays', async (t) => {
  const invited = await openInvited(t)
  const { store, id, secret } = invited
  const used = await during(
    store,
    (trx) => lock(trx, id),
    () => use(invited, secret),
  )
  assert.equal(used.status, 204, used.text)
  assert.equal((await invited.admin.ask<{ name: string }[]>('GET', '/api/users'))[0]?.name, 'Ada')
})

test('the owner of a client gets no link of someone who accepts the invitation meanwhile', async (t) => {
  const invited = await openInvited(t)
  const { api, admin, store, client, id } = invited
  await join(admin, 'owner@own.example', [{ client_id: client.id, role: 'owner' }])
  const owner = await signIn(api.url, 'owner@own.example')
  const accept = async (trx: Transaction<Tables>) => {
    await trx.updateTable('users').set({ password_hash: 'chosen' }).where('id', '=', id).execute()
    await trx.deleteFrom('user_links').where('user_id', '=', id).execute()
  }
  const made = await during(store, accept, () => owner.call('POST', `/api/users/${id}/link`))
  assert.equal(made.status, 403, made.text)
  assert.deepEqual(await store.read.selectFrom('user_links').selectAll().execute(), [])
})

test('someone whose account is deleted while they sign in at the provider can sign in again', async (t) => {
  const store = await openEmptyStore(postgres, t)
  const options = signInGiving(store, null)
  const ada = { issuer: 'https://id.example', subject: 'ada', email: EMAIL, name: 'Ada', groups: ['one'] }
  const { userId } = await signInIdentity(options, { ...ada, issuer: 'https://earlier.example' })
  const remove = async (trx: Transaction<Tables>) => {
    await lock(trx, userId)
    await trx.deleteFrom('user_identities').where('user_id', '=', userId).execute()
    await trx.deleteFrom('users').where('id', '=', userId).execute()
  }
  await during(store, remove, () => signInIdentity(options, ada))
  const again = await signInIdentity(options, ada)
  assert.notEqual(again.userId, userId)
})

test('an account that is deleted while its owner signs in at the provider leaves no role', async (t) => {
  const { admin, store } = await openInvited(t)
  const options = signInGiving(store, null)
  const { userId, identityId } = await signInIdentity(options, EVE)
  const deleted = await during(
    store,
    (trx) =>
      trx.updateTable('user_identities').set({ created_at: 1 }).where('id', '=', identityId).executeTakeFirstOrThrow(),
    () => admin.call('DELETE', `/api/users/${userId}`),
    async (trx) => {
      await trx.deleteFrom('identity_roles').where('identity_id', '=', identityId).execute()
      await trx
        .insertInto('identity_roles')
        .values({ identity_id: identityId, client_id: 'all', role: 'viewer' })
        .execute()
    },
  )
  assert.equal(deleted.status, 204, deleted.text)
  assert.deepEqual(await store.read.selectFrom('identity_roles').selectAll().execute(), [])
})

test('a client that is deleted while someone signs in with a role for it leaves no role', async (t) => {
  const { admin, store, client } = await openInvited(t)
  const options = signInGiving(store, [client.id])
  const { one, other } = await store.write.transaction().execute(async (trx) => {
    await sql`lock table audit_log in share mode`.execute(trx)
    const one = signInIdentity(options, EVE)
    await waitsOrEnds(store, 1, one)
    const other = admin.call('DELETE', `/api/clients/${client.id}`)
    await waitsOrEnds(store, 2, other)
    return { one, other }
  })
  await one
  assert.equal((await other).status, 204)
  assert.deepEqual(await store.read.selectFrom('identity_roles').selectAll().execute(), [])
})

test('a second step that is confirmed while another is begun stays on', async (t) => {
  const { api, store, id, ...invited } = await openInvited(t)
  await use({ api, store, id, ...invited }, invited.secret)
  const ada = await signIn(api.url, EMAIL, ANOTHER)
  const begin = () => ada.call('POST', '/api/account/two-step', { password: ANOTHER })
  assert.equal((await begin()).status, 201)
  const confirm = (trx: Transaction<Tables>) => trx.updateTable('user_two_steps').set({ confirmed_at: 1 }).execute()
  assert.equal((await during(store, confirm, begin)).status, 409)
  const { confirmed_at } = await store.read.selectFrom('user_two_steps').selectAll().executeTakeFirstOrThrow()
  assert.equal(Number(confirmed_at), 1)
})

test('someone who signs in with the password alone while the second step is turned on has to send a code', async (t) => {
  const invited = await openInvited(t)
  const { api, store } = invited
  await use(invited, invited.secret)
  const ada = await signIn(api.url, EMAIL, ANOTHER)
  await ada.ask('POST', '/api/account/two-step', { password: ANOTHER })
  const confirm = (trx: Transaction<Tables>) => trx.updateTable('user_two_steps').set({ confirmed_at: 1 }).execute()
  const { answer } = await during(store, confirm, () => signIn(api.url, EMAIL, ANOTHER))
  assert.deepEqual([answer.status, answer.json<{ details: { path: string }[] }>().details[0]?.path], [401, '/code'])
})

test('an account that is disabled while its owner signs in gets no session, nor one once it is enabled', async (t) => {
  const invited = await openInvited(t)
  const { api, store, id } = invited
  await use(invited, invited.secret)
  const disable = (trx: Transaction<Tables>) =>
    trx.updateTable('users').set({ disabled_at: 1 }).where('id', '=', id).execute()
  const { answer } = await during(store, disable, () => signIn(api.url, EMAIL, ANOTHER))
  assert.equal(answer.status, 401, answer.text)
  assert.deepEqual(await store.read.selectFrom('sign_ins').selectAll().execute(), [])
})

test('an account that is deleted while its second step is begun leaves none', async (t) => {
  const invited = await openInvited(t)
  const { api, store, id } = invited
  await use(invited, invited.secret)
  const ada = await signIn(api.url, EMAIL, ANOTHER)
  const remove = async (trx: Transaction<Tables>) => {
    await lock(trx, id)
    await trx.deleteFrom('users').where('id', '=', id).execute()
  }
  const begun = await during(store, remove, () => ada.call('POST', '/api/account/two-step', { password: ANOTHER }))
  assert.equal(begun.status, 404, begun.text)
  assert.deepEqual(await store.read.selectFrom('user_two_steps').selectAll().execute(), [])
})

test('a token that two people revoke at once is revoked once', async (t) => {
  const { admin, store } = await openInvited(t)
  const { id } = await admin.ask<{ id: string }>('POST', '/api/tokens', { name: 'x', role: 'viewer' })
  const revoke = (trx: Transaction<Tables>) => trx.deleteFrom('api_tokens').where('id', '=', id).execute()
  const second = await during(store, revoke, () => admin.call('DELETE', `/api/tokens/${id}`))
  assert.equal(second.status, 404, second.text)
})

test('of two who turn the second step on, or take it away, in the same moment only the first does', async (t) => {
  const { api, admin, clock } = await openAccounts(t, postgres)
  const { store } = api.service
  const { id } = await join(admin, EMAIL, [{ client_id: null, role: 'viewer' }])
  const ada = await signIn(api.url, EMAIL)
  const { secret } = await ada.ask<{ secret: string }>('POST', '/api/account/two-step', { password: PASSWORD })
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.now() })
  const confirm = (trx: Transaction<Tables>) =>
    trx.updateTable('user_two_steps').set({ confirmed_at: clock.now() }).where('user_id', '=', id).execute()
  const second = await during(store, confirm, () => ada.call('POST', '/api/account/two-step/confirm', { code }))
  assert.equal(second.status, 409, second.text)
  const remove = (trx: Transaction<Tables>) => trx.deleteFrom('user_two_steps').where('user_id', '=', id).execute()
  const reset = await during(store, remove, () => admin.call('DELETE', `/api/users/${id}/two-step`))
  assert.equal(reset.status, 409, reset.text)
})

test('a client that is deleted while someone gives a role or a token for it leaves neither', async (t) => {
  const { admin, store, client } = await openInvited(t)
  const { id: other } = await admin.newClient()
  const remove = (id: string) => () => admin.call('DELETE', `/api/clients/${id}`)
  const roles = [{ client_id: client.id, role: 'editor' }]
  const invite = () => admin.call('POST', '/api/users', { email: 'bob@agency.example', roles })
  assert.deepEqual(await atOnce(store, invite, remove(client.id)), [201, 204])
  const token = () => admin.call('POST', '/api/tokens', { name: 'x', role: 'viewer', client_ids: [other] })
  assert.deepEqual(await atOnce(store, token, remove(other)), [201, 204])
  for (const table of ['user_roles', 'api_tokens'] as const) {
    assert.deepEqual(await store.read.selectFrom(table).selectAll().execute(), [], table)
  }
})

test('a role or a token for a client that is being deleted is refused', async (t) => {
  const { admin, store, client, id } = await openInvited(t)
  const { id: other } = await admin.newClient()
  const remove = (clientId: string) => () => admin.call('DELETE', `/api/clients/${clientId}`)
  const roles = [{ client_id: client.id, role: 'editor' }]
  const give = () => admin.call('PATCH', `/api/users/${id}`, { roles })
  assert.deepEqual(await atOnce(store, remove(client.id), give), [204, 400])
  const token = () => admin.call('POST', '/api/tokens', { name: 'x', role: 'viewer', client_ids: [other] })
  assert.deepEqual(await atOnce(store, remove(other), token), [204, 400])
})

test('of two tokens that the owner of a client makes at once only one takes the last place', async (t) => {
  const { api, admin, store, client } = await openInvited(t)
  await join(admin, 'owner@own.example', [{ client_id: client.id, role: 'owner' }])
  const owner = await signIn(api.url, 'owner@own.example')
  const make = () => owner.call('POST', '/api/tokens', { name: 'x', role: 'viewer', client_ids: [client.id] })
  assert.equal((await make()).status, 201)
  const first = await store.read.selectFrom('api_tokens').selectAll().executeTakeFirstOrThrow()
  const more = Array.from({ length: 98 }, () => ({ ...first, id: newId(), token_hash: newSecret() }))
  await store.write.insertInto('api_tokens').values(more).execute()
  assert.deepEqual(await atOnce(store, make, make), [201, 409])
})

test('of two people whom the owner of a client invites at once only one takes the last place', async (t) => {
  const { api, admin, store, client } = await openInvited(t)
  await join(admin, 'owner@own.example', [{ client_id: client.id, role: 'owner' }])
  const owner = await signIn(api.url, 'owner@own.example')
  const more = Array.from({ length: 497 }, () => ({ user_id: newId(), client_id: client.id, role: 'viewer' as const }))
  await store.write.insertInto('user_roles').values(more).execute()
  const roles = [{ client_id: client.id, role: 'viewer' }]
  const invite = (email: string) => () => owner.call('POST', '/api/users', { email, roles })
  assert.deepEqual(await atOnce(store, invite('one@own.example'), invite('two@own.example')), [201, 409])
})
