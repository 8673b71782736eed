import assert from 'node:assert/strict'
import type { SiteKeyRecord, SiteRecord } from '../../src/management/index.ts'
import { StoreError } from '../../src/store/index.ts'
import { testLogic } from '../../testkit/engines.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'
import { openManagement } from './support.ts'

testLogic('a saved change of a site or key is answered when nothing can be read', async (store, t) => {
  let fails = false
  const failing = steppingStore(store, async (what) => {
    if (what === 'read' && fails) throw new StoreError('unavailable', 'no connection is free')
  })
  const api = await openManagement(failing, t)
  const { id: client_id } = await api.client()
  fails = true
  const site = await api.call<SiteRecord>('POST', '/api/sites', {
    client_id,
    name: 'Shop',
    url: 'https://shop.example',
  })
  assert.equal(site.status, 201, JSON.stringify(site.body))
  const keysUrl = `/api/sites/${site.body.id}/keys`
  const added = await api.call<SiteKeyRecord>('POST', keysUrl, { name: 'app' })
  assert.equal(added.status, 201, JSON.stringify(added.body))
  const rotated = await api.call<SiteKeyRecord>('POST', `${keysUrl}/${added.body.id}/rotate`)
  assert.equal(rotated.status, 201, JSON.stringify(rotated.body))
  const renamed = await api.patch<SiteKeyRecord>(`${keysUrl}/${rotated.body.id}`, { name: 'web' })
  assert.deepEqual(renamed, { ...rotated.body, name: 'web' })
  const { status, body: revoked } = await api.call<SiteKeyRecord>('POST', `${keysUrl}/${added.body.id}/revoke`)
  assert.deepEqual([status, revoked.state], [200, 'revoked'])
  const moved = await api.patch<SiteRecord>(`/api/sites/${site.body.id}`, { timezone: 'Asia/Tokyo' })
  const closed = await api.call<SiteRecord>('POST', `/api/sites/${site.body.id}/revoke-key`)
  assert.equal(closed.status, 200)
  fails = false
  const [newest, old] = await api.get<SiteKeyRecord[]>(keysUrl)
  assert.deepEqual({ ...newest, state: 'valid', revoked_at: null }, renamed)
  assert.deepEqual(old, revoked)
  assert.deepEqual(await api.get(`/api/sites/${site.body.id}`), closed.body)
  assert.deepEqual({ ...moved, key_revoked_at: closed.body.key_revoked_at }, closed.body)
})

testLogic('a site, its key, and a pause that ends are answered only when every node knows', async (store, t) => {
  const waits: { commits: number; go: () => void }[] = []
  const api = await openManagement(store, t, {
    untilAllKnowIt: () => new Promise((go) => void waits.push({ commits: api.takeChanges().length, go })),
  })
  const { id: client_id } = await api.client()
  api.takeChanges()
  async function madeAfterWait<T>(url: string, body?: object, method: 'POST' | 'PATCH' = 'POST'): Promise<T> {
    let isAnswered = false
    const answer = api.call<T>(method, url, body).finally(() => {
      isAnswered = true
    })
    while (waits.length === 0 && !isAnswered) await new Promise(setImmediate)
    const wait = waits.pop()
    assert.ok(wait !== undefined, 'answered at once')
    assert.deepEqual([wait.commits, isAnswered], [1, false])
    wait.go()
    const { status, body: made } = await answer
    assert.equal(status, method === 'POST' ? 201 : 200)
    return made
  }
  const site = await madeAfterWait<SiteRecord>('/api/sites', { client_id, name: 'Shop', url: 'https://shop.example' })
  const keysUrl = `/api/sites/${site.id}/keys`
  await madeAfterWait(keysUrl, { name: 'app' })
  await madeAfterWait(`${keysUrl}/${site.id}/rotate`)
  for (const url of [`/api/sites/${site.id}`, `/api/clients/${client_id}`]) {
    // No wait: until the nodes know of a pause, they accept events as before.
    await api.patch(url, { is_active: false })
    api.takeChanges()
    await madeAfterWait(url, { is_active: true }, 'PATCH')
    await api.patch(url, { is_active: true })
  }
  assert.equal(waits.length, 0)
})
