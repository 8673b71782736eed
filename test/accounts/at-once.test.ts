import assert from 'node:assert/strict'
import { signInIdentity } from '../../src/accounts/oidc/identities.ts'
import { systemClock } from '../../src/lib/index.ts'
import type { ApiClient } from '../../testkit/api.ts'
import { testOnEveryEngine, testPerEngine } from '../../testkit/engines.ts'
import { join, openAccounts, PASSWORD, type Role, signIn } from './support.ts'

const EMAIL = 'ada@agency.example'
const owner: Role[] = [{ client_id: null, role: 'owner' }]
const many = <T>(work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 8 }, (_, n) => work(n)))

/** On a machine that is loaded some of them wait too long for their turn, and come again. */
async function whenServed({ call }: Pick<ApiClient, 'call'>, ...request: Parameters<ApiClient['call']>) {
  for (;;) {
    const answer = await call(...request)
    if (answer.status !== 429) return answer
  }
}

testPerEngine('what several do at the same moment to one account is done one after the other', async (engine, t) => {
  const { api, admin } = await openAccounts(t, engine)
  const client = await admin.newClient()
  const roles = [{ client_id: client.id, role: 'editor' }]
  const invited = await many(() => whenServed(admin, 'POST', '/api/users', { email: EMAIL, roles }))
  assert.deepEqual([...new Set(invited.map(({ status }) => status))], [201])
  const ids = new Set(invited.map((answer) => answer.json<{ id: string }>().id))
  assert.equal(ids.size, 1)
  const [id = ''] = ids
  const changed = await many((n) =>
    n % 2 === 0
      ? whenServed(admin, 'POST', '/api/users', { email: EMAIL, roles: owner })
      : whenServed(admin, 'PATCH', `/api/users/${id}`, { roles: [...roles, ...owner] }),
  )
  assert.deepEqual(new Set(changed.map(({ status }) => status)), new Set([201, 200]))
  await join(admin, 'bob@agency.example', owner)
  const bob = await signIn(api.url, 'bob@agency.example')
  const begun = await many(() => whenServed(bob, 'POST', '/api/account/two-step', { password: PASSWORD }))
  assert.deepEqual([...new Set(begun.map(({ status }) => status))], [201])
})

testOnEveryEngine(
  'one person who signs in with several pages at once gets the roles of their groups',
  async (store) => {
    const groupRoles = ['one', 'two'].map((group) => ({ group, role: 'editor' as const, clients: null }))
    const options = { store, clock: systemClock, groupRoles, actor: 'single sign-on', warn: () => {} }
    const ada = { issuer: 'https://id.example', subject: 'ada', email: EMAIL, name: 'Ada' }
    const come = (group: string) => many(() => signInIdentity(options, { ...ada, groups: [group] }))
    const first = await come('one')
    await store.write.updateTable('identity_roles').set({ role: 'viewer' }).execute()
    const then = await come('two')
    assert.equal(new Set([...first, ...then].map(({ identityId }) => identityId)).size, 1)
    const rows = await store.read.selectFrom('identity_roles').select(['client_id', 'role']).execute()
    assert.deepEqual(rows, [{ client_id: 'all', role: 'editor' }])
  },
)
