import assert from 'node:assert/strict'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { type Answer, type Management, openManagement, UNKNOWN_ID } from './support.ts'

/** Follows the links from a list's first page, and checks that only the last has none. */
async function pagesOf<T>(api: Management, first: string): Promise<T[][]> {
  const pages: T[][] = []
  for (let url: string | undefined = first; url !== undefined; ) {
    const { status, body, link }: Answer<T[]> = await api.call('GET', url)
    assert.equal(status, 200)
    pages.push(body)
    url = link?.match(/^<(.*)>; rel="next"$/)?.[1]
  }
  return pages
}

testOnEveryEngine('clients and sites come whole, or in pages that the answers link to', async (store, t) => {
  const api = await openManagement(store, t)
  const clients = []
  for (const name of ['A', 'B', 'C']) clients.push(await api.client({ name }))
  const [acme, beta] = clients
  if (acme === undefined || beta === undefined) throw new Error('clients are missing')
  const sites = []
  for (const client of [acme, beta, acme, acme]) sites.push(await api.site(client))
  const [first, ofBeta, second, third] = sites
  assert.deepEqual(await pagesOf(api, '/api/clients'), [clients])
  assert.deepEqual(await pagesOf(api, '/api/clients?limit=2'), [clients.slice(0, 2), clients.slice(2)])
  assert.deepEqual(await pagesOf(api, '/api/clients?limit=3'), [clients])
  assert.deepEqual(await pagesOf(api, '/api/sites?limit=3'), [sites.slice(0, 3), sites.slice(3)])
  assert.deepEqual(await pagesOf(api, `/api/sites?client_id=${acme.id}&limit=2`), [[first, second], [third]])
  assert.deepEqual(await pagesOf(api, `/api/sites?client_id=${beta.id}&limit=2`), [[ofBeta]])
})

testOnEveryEngine('sites that were created in the same moment are each on one page', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const sites = []
  for (let site = 0; site < 5; site++) {
    // Each call moves the clock on by as much.
    api.clock.advance(-1_000)
    sites.push(await api.site(client))
  }
  assert.deepEqual(await pagesOf(api, '/api/sites?limit=2'), [sites.slice(0, 2), sites.slice(2, 4), sites.slice(4)])
})

testOnEveryEngine('a page that would follow an unknown or deleted record is refused', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const site = await api.site(client)
  for (const [path, deleted] of [
    ['/api/sites', site.id],
    ['/api/clients', client.id],
  ] as const) {
    await api.delete(`${path}/${deleted}`)
    for (const after of [UNKNOWN_ID, deleted]) {
      const { details } = await api.refused(400, 'GET', `${path}?limit=2&after=${after}`)
      const what = path === '/api/sites' ? 'a site' : 'a client'
      assert.deepEqual(details, [{ path: '/after', message: `is not the id of ${what}: begin again without it` }])
    }
  }
  for (const query of ['after=7', 'limit=0', 'limit=1001']) await api.refused(400, 'GET', `/api/sites?${query}`)
})
