import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type CredentialOptions, createCredentials } from '../../src/accounts/credentials.ts'
import type { Role } from '../../src/http/index.ts'
import { DAY, HOUR } from '../../src/lib/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { ADMIN, NOW, VIEWER } from '../management/support.ts'

const TOKENS = { admin: ADMIN, viewer: VIEWER }

/** Sessions by the roles they stand for. */
async function createSessions(options: Omit<CredentialOptions, 'onError'>) {
  const credentials = await createCredentials({ ...options, onError: (error) => assert.fail(error) })
  const rolesOf = async (values: readonly string[]) =>
    new Map([...(await credentials.accessesOf(values))].map(([value, { role }]) => [value, role] as const))
  return {
    begin: (role: Role) => credentials.begin({ role }),
    end: (value: string) => credentials.end(value),
    rolesOf,
    roleOf: async (value: string) => (await rolesOf([value])).get(value) ?? null,
  }
}

testOnEveryEngine('a session holds on every node until it is ended on one, or its time is over', async (store) => {
  const clock = new TestClock(NOW)
  const options = { store, clock, tokens: TOKENS }
  const [here, there] = [await createSessions(options), await createSessions(options)]
  const admin = await here.begin('admin')
  const viewer = await here.begin('viewer')
  assert.match(admin, /^[\w-]{43}$/)
  assert.deepEqual([await there.roleOf(admin), await there.roleOf(viewer)], ['admin', 'viewer'])
  assert.equal(await there.roleOf(`${viewer.slice(0, 20)}${admin.slice(20)}`), null)
  const roles = [...(await there.rolesOf([viewer, 'a stranger', admin]))]
  assert.deepEqual(roles.toSorted(), [[admin, 'admin'] as const, [viewer, 'viewer'] as const].toSorted())
  assert.equal((await there.rolesOf([])).size, 0)
  await there.end(admin)
  assert.deepEqual([await here.roleOf(admin), await here.roleOf(viewer)], [null, 'viewer'])
  const later = await here.begin('admin')
  clock.advance(12 * HOUR - 1)
  assert.equal(await here.roleOf(later), 'admin')
  clock.advance(1)
  assert.deepEqual([await here.roleOf(later), await here.roleOf(viewer)], [null, 'viewer'])
  clock.advance(30 * DAY - 12 * HOUR - 1)
  assert.equal(await here.roleOf(viewer), 'viewer')
  clock.advance(1)
  assert.equal(await here.roleOf(viewer), null)
})

testLogic('a changed token ends the sessions of its role, and no others', async (store) => {
  const clock = new TestClock(NOW)
  const before = await createSessions({ store, clock, tokens: TOKENS })
  const [admin, viewer] = [await before.begin('admin'), await before.begin('viewer')]
  const changed = await createSessions({ store, clock, tokens: { ...TOKENS, admin: 'another-admin-token' } })
  assert.deepEqual([await changed.roleOf(admin), await changed.roleOf(viewer)], [null, 'viewer'])
  const without = await createSessions({ store, clock, tokens: { ...TOKENS, viewer: null } })
  assert.deepEqual([await without.roleOf(admin), await without.roleOf(viewer)], ['admin', null])
})

testOnEveryEngine('the database holds neither a cookie nor a fast hash of a token', async (store) => {
  const sessions = await createSessions({ store, clock: new TestClock(NOW), tokens: TOKENS })
  const value = await sessions.begin('viewer')
  const [row, ...others] = await store.read.selectFrom('sign_ins').selectAll().execute()
  assert.deepEqual(others, [])
  const kept = JSON.stringify(row)
  for (const secret of [value, VIEWER, ADMIN]) assert.ok(!kept.includes(secret))
  for (const algorithm of ['sha256', 'sha512', 'md5']) {
    for (const encoding of ['hex', 'base64url'] as const) {
      assert.ok(!kept.includes(createHash(algorithm).update(VIEWER).digest(encoding).slice(0, 20)), algorithm)
    }
  }
})

testOnEveryEngine('sessions that are over are removed, and one too many ends the oldest', async (store) => {
  const clock = new TestClock(NOW)
  const sessions = await createSessions({ store, clock, tokens: TOKENS, maxSessions: 2 })
  const begin = (role: 'admin' | 'viewer') => {
    clock.advance(1)
    return sessions.begin(role)
  }
  const count = async () => (await store.read.selectFrom('sign_ins').select('id').execute()).length
  const values = [await begin('viewer'), await begin('admin'), await begin('admin'), await begin('admin')]
  const roles = await Promise.all(values.map((value) => sessions.roleOf(value)))
  assert.deepEqual(roles, ['viewer', null, 'admin', 'admin'])
  assert.equal(await count(), 3)
  clock.advance(31 * DAY)
  await begin('viewer')
  assert.equal(await count(), 1)
})

testLogic('a cookie that begins no session is signed out without a write', async (store) => {
  const options = { clock: new TestClock(NOW), tokens: TOKENS }
  const known = await (await createSessions({ ...options, store })).begin('viewer')
  const unwritable = Object.create(store, { write: { get: () => assert.fail('written') } }) as typeof store
  const sessions = await createSessions({ ...options, store: unwritable })
  assert.equal(await sessions.end('a stranger'), null)
  await assert.rejects(sessions.end(known), /written/)
})
