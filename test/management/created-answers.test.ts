import assert from 'node:assert/strict'
import type { SiteRecord } from '../../src/management/index.ts'
import { testLogic } from '../../testkit/engines.ts'
import { openManagement } from './support.ts'

testLogic('a site or key is answered only when every node knows it', async (store, t) => {
  const waits: { commits: number; go: () => void }[] = []
  const api = await openManagement(store, t, {
    untilAllKnowIt: () => new Promise((go) => void waits.push({ commits: api.takeChanges().length, go })),
  })
  const { id: client_id } = await api.client()
  api.takeChanges()
  async function madeAfterWait<T>(url: string, body?: object): Promise<T> {
    let isAnswered = false
    const answer = api.call<T>('POST', url, body).finally(() => {
      isAnswered = true
    })
    while (waits.length === 0 && !isAnswered) await new Promise(setImmediate)
    const wait = waits.pop()
    assert.ok(wait !== undefined, 'answered at once')
    assert.deepEqual([wait.commits, isAnswered], [1, false])
    wait.go()
    const { status, body: made } = await answer
    assert.equal(status, 201)
    return made
  }
  const site = await madeAfterWait<SiteRecord>('/api/sites', { client_id, name: 'Shop', url: 'https://shop.example' })
  const keysUrl = `/api/sites/${site.id}/keys`
  await madeAfterWait(keysUrl, { name: 'app' })
  await madeAfterWait(`${keysUrl}/${site.id}/rotate`)
})
