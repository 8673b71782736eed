import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ChangeFeed, type SiteRow, type Store, StoreError } from '../../src/store/index.ts'
import { openEmptyStore, sqlite } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'
import { listen, payload } from './endpoint-support.ts'

async function sender(t: TestContext, store: Store) {
  const { url, keys } = await listen(t, store)
  const send = async (key: string | null) => {
    const headers = { 'content-type': 'application/json', ...(key === null ? {} : { 'x-service-key': key }) }
    const { status, headers: answered } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(payload) })
    return [status, answered.get('retry-after')]
  }
  return { send, keys }
}

test('while changes of others cannot be read, an unknown key may be new and is answered 503, and known keys work', async (t) => {
  let isCurrent = true
  const changes = new ChangeFeed(undefined, () => isCurrent)
  const store = { ...(await openEmptyStore(sqlite, t)), changes }
  const site = await insertSite(store)
  let reads = 0
  const { send } = await sender(
    t,
    steppingStore(store, async (what) => {
      if (what === 'read') reads++
    }),
  )
  assert.deepEqual(await send('unknown'), [401, null])
  isCurrent = false
  const readsBefore = reads
  assert.deepEqual(await send('unknown'), [503, '2'])
  assert.deepEqual(await send(null), [401, null])
  assert.deepEqual(await send(site.ingest_key), [200, null])
  assert.equal(reads, readsBefore)
  isCurrent = true
  assert.deepEqual(await send('unknown'), [401, null])
})

test('a key whose site could not be read is answered 503 until it is', async (t) => {
  const store = await openEmptyStore(sqlite, t)
  let fails = false
  const failing = steppingStore(store, async (what) => {
    if (what === 'read' && fails) throw new StoreError('busy', 'the disk is slow')
  })
  const { send, keys } = await sender(t, failing)
  const site: SiteRow = await insertSite(store)
  fails = true
  await failing.changes.publish({ kind: 'site', id: site.id })
  assert.deepEqual(await send(site.ingest_key), [503, '2'])
  fails = false
  await keys.readMissed()
  assert.deepEqual(await send(site.ingest_key), [200, null])
})
