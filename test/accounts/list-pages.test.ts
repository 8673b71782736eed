import assert from 'node:assert/strict'
import type { ApiTokenRecord, UserRecord } from '../../src/accounts/index.ts'
import type { ApiClient } from '../../testkit/api.ts'
import { testPerEngine } from '../../testkit/engines.ts'
import { join, openAccounts, signIn } from './support.ts'

/** Follows the links from a list's first page. */
async function pagesOf<T>(api: ApiClient, first: string): Promise<T[][]> {
  const pages: T[][] = []
  for (let url: string | undefined = first; url !== undefined; ) {
    const answer = await api.call('GET', url)
    assert.equal(answer.status, 200, answer.text)
    pages.push(answer.json<T[]>())
    url = /^<(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
  }
  return pages
}

testPerEngine('people and API tokens come whole, or in pages of what the caller manages', async (engine, t) => {
  const { api, admin } = await openAccounts(t, engine)
  const [own, other] = [await admin.newClient({ name: 'Own' }), await admin.newClient({ name: 'Other' })]
  await join(admin, 'owner@agency.example', [{ client_id: own.id, role: 'owner' }])
  const owner = await signIn(api.url, 'owner@agency.example')
  for (let n = 0; n < 4; n++) {
    const roles = [{ client_id: (n === 1 ? other : own).id, role: 'viewer' }]
    await admin.ask('POST', '/api/users', { email: `p${n}@agency.example`, roles })
    const token = { name: `T${n}`, role: 'viewer', client_ids: [(n === 1 ? other : own).id] }
    await admin.ask('POST', '/api/tokens', token)
  }
  for (const [path, what] of [
    ['/api/users', 'a user'],
    ['/api/tokens', 'a token'],
  ] as const) {
    for (const caller of [admin, owner]) {
      const [all = []] = await pagesOf<UserRecord | ApiTokenRecord>(caller, path)
      const pages = await pagesOf<UserRecord | ApiTokenRecord>(caller, `${path}?limit=2`)
      assert.deepEqual(pages.flat(), all)
      assert.deepEqual(
        pages.map(({ length }) => length),
        Array.from(pages, (_, n) => Math.min(2, all.length - 2 * n)),
      )
    }
    const hidden = (await admin.ask<{ id: string }[]>('GET', path)).map(({ id }) => id)
    const seen = (await owner.ask<{ id: string }[]>('GET', path)).map(({ id }) => id)
    const [unseen] = hidden.filter((id) => !seen.includes(id))
    const refused = await owner.call('GET', `${path}?after=${unseen}`)
    assert.equal(refused.status, 400)
    assert.match(refused.text, new RegExp(`/after is not the id of ${what}: begin again without it`))
  }
})
