import assert from 'node:assert/strict'
import { DAY } from '../../src/lib/index.ts'
import type { SiteRecord } from '../../src/management/index.ts'
import { removeDeletedSites } from '../../src/rollups/index.ts'
import type { Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { hearFrom } from '../../testkit/sites.ts'
import { openManagement } from './support.ts'

const siteNumbers = async (store: Store): Promise<number[]> =>
  (await store.read.selectFrom('sites').select('site_no').orderBy('site_no').execute()).map(({ site_no }) => site_no)

const removals = (store: Store) => store.read.selectFrom('site_removals').selectAll().orderBy('site_no').execute()

testOnEveryEngine('a deleted site is gone at once, and its telemetry is marked for removal', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const [kept, gone] = [await api.site(client), await api.site(client)]
  await hearFrom(store, gone.id, 1, 'GTM-ABCDE')
  const [, number] = await siteNumbers(store)
  api.takeChanges()
  await api.delete(`/api/sites/${gone.id}`)
  await api.refused(404, 'GET', `/api/sites/${gone.id}`)
  await api.refused(404, 'DELETE', `/api/sites/${gone.id}`)
  assert.deepEqual(await api.get('/api/sites'), [kept])
  const requestedAt = Date.parse('2026-11-20T10:00:04.000Z')
  assert.deepEqual(await removals(store), [{ site_no: number, requested_at: requestedAt, emptied_at: null }])
  assert.deepEqual(api.takeChanges(), [{ kind: 'site', id: gone.id }])
})

testOnEveryEngine('a deleted client takes its sites and usage along, and nothing of others', async (store, t) => {
  const api = await openManagement(store, t)
  const [gone, kept] = [await api.client(), await api.client()]
  const sites = [await api.site(gone), await api.site(gone)]
  const keptSite = await api.site(kept)
  const numbers = await siteNumbers(store)
  const addUsage = (id: string) =>
    store.write.insertInto('client_usage').values({ client_id: id, month: 202611, events: 1, requests: 1 }).execute()
  for (const { id } of [gone, kept]) await addUsage(id)
  api.takeChanges()
  await api.delete(`/api/clients/${gone.id}`)
  await api.refused(404, 'GET', `/api/clients/${gone.id}`)
  for (const { id } of sites) await api.refused(404, 'GET', `/api/sites/${id}`)
  assert.deepEqual(await api.get(`/api/sites?client_id=${gone.id}`), [])
  assert.deepEqual(await api.get('/api/clients'), [kept])
  assert.deepEqual(await api.get('/api/sites'), [keptSite])
  assert.deepEqual(
    (await removals(store)).map(({ site_no }) => site_no),
    numbers.slice(0, 2),
  )
  const usage = await store.read.selectFrom('client_usage').select('client_id').execute()
  assert.deepEqual(usage, [{ client_id: kept.id }])
  // What a fold under way adds behind it goes with the second look at its sites.
  await addUsage(gone.id)
  const now = Date.parse('2026-11-20T11:00:00Z')
  for (const at of [now, now + 2 * DAY]) await removeDeletedSites(store, at, () => true)
  const left = await store.read.selectFrom('client_usage').select('client_id').execute()
  assert.deepEqual([left, await removals(store)], [usage, []])
  assert.deepEqual(api.takeChanges(), [{ kind: 'client', id: gone.id }])
})

testOnEveryEngine('a client with more sites than fit one statement is deleted whole', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const template = await api.site(client)
  const { site_no: _generated, ...row } = await store.read.selectFrom('sites').selectAll().executeTakeFirstOrThrow()
  const rows = Array.from({ length: 1_200 }, (_, n) => ({ ...row, id: `site-${n}`, ingest_key: `key-${n}` }))
  for (let start = 0; start < rows.length; start += 200) {
    await store.write
      .insertInto('sites')
      .values(rows.slice(start, start + 200))
      .execute()
  }
  await api.delete(`/api/clients/${client.id}`)
  assert.equal((await removals(store)).length, 1_201)
  const actions = await store.read
    .selectFrom('audit_log')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('action', '=', 'site.delete')
    .executeTakeFirstOrThrow()
  assert.equal(actions.count, 1_201)
  await api.refused(404, 'GET', `/api/sites/${template.id}`)
})

testOnEveryEngine('no site is left behind when it is created while its client is deleted', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const body = { client_id: client.id, name: 'x', url: 'https://x.example' }
  const [...creations] = await Promise.all([
    api.call<SiteRecord>('POST', '/api/sites', body),
    api.call<SiteRecord>('POST', '/api/sites', body),
    api.call<SiteRecord>('DELETE', `/api/clients/${client.id}`),
    api.call<SiteRecord>('POST', '/api/sites', body),
  ])
  const created = creations.filter(({ status }) => status === 201)
  assert.deepEqual(await api.get('/api/sites'), [])
  assert.equal((await removals(store)).length, created.length)
})

testLogic('a site created after a deletion does not get the number of the deleted one', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  await api.delete(`/api/sites/${(await api.site(client)).id}`)
  await api.site(client)
  const [gone] = await removals(store)
  assert.ok(gone)
  assert.ok(!(await siteNumbers(store)).includes(gone.site_no))
})
