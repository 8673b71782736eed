import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { KeyIndex } from '../../src/ingest/key-index.ts'
import { Ingest } from '../../src/ingest/service.ts'
import { DAY, monthOf } from '../../src/lib/index.ts'
import { type Store, StoreError } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { openEmptyStore, sqlite, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'
import { joinNode } from '../cluster/support.ts'

const clock = new TestClock('2026-11-20T10:00:00Z')
const expiry = { expiryTime: () => clock.now() }

/** A store whose first answers to a reader are held back, after they were read, until the test lets them go. */
function holdingStore(store: Store, holds: number) {
  const held = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  let left = holds
  const slow = steppingStore(store, async (what) => {
    if (what !== 'read' || left === 0) return
    left--
    if (left === 0) held.resolve()
    await letGo.promise
  })
  return { slow, held: held.promise, letGo: letGo.resolve }
}

/** How the key ended; null: it is valid, or not known. */
function endOf(keys: KeyIndex, key: string): string | null {
  const entry = keys.find(key)
  return entry === undefined ? null : (keys.endOf(entry)?.how ?? null)
}

/** Longer than the reading of one change takes, so that one that does not wait for its turn has come to its end. */
async function timeToOvertake(store: Store): Promise<void> {
  for (let reads = 0; reads < 20; reads++) await store.read.selectFrom('sites').selectAll().execute()
}

testOnEveryEngine('a key that is revoked while all keys are read stays revoked', async (store) => {
  const site = await insertSite(store)
  // Clients, sites and their keys.
  const { slow, held, letGo } = holdingStore(store, 3)
  const keys = new KeyIndex(slow, clock, expiry)
  const loaded = keys.load()
  await held
  await store.write.updateTable('sites').set({ key_revoked_at: 1 }).where('id', '=', site.id).execute()
  const published = store.changes.publish({ kind: 'site', id: site.id })
  await timeToOvertake(store)
  letGo()
  await Promise.all([loaded, published])
  assert.equal(endOf(keys, site.ingest_key), 'revoked')
})

testOnEveryEngine('a site that is deleted while all keys are read stays deleted', async (store) => {
  const site = await insertSite(store)
  const { slow, held, letGo } = holdingStore(store, 3)
  const keys = new KeyIndex(slow, clock, expiry)
  const loaded = keys.load()
  await held
  await store.write.deleteFrom('sites').where('id', '=', site.id).execute()
  const published = store.changes.publish({ kind: 'site', id: site.id })
  await timeToOvertake(store)
  letGo()
  await Promise.all([loaded, published])
  assert.deepEqual([keys.find(site.ingest_key), keys.clientOf(site.site_no)], [undefined, undefined])
})

testOnEveryEngine('a site is open while it and its client are, and usage is that of this month', async (store) => {
  const { id, client_id, ingest_key } = await insertSite(store)
  const months = [clock.now() - 31 * DAY, clock.now(), clock.now() + 31 * DAY].map(monthOf)
  const usage = months.map((month, index) => ({ client_id, month, events: 7 + index, requests: 1 }))
  await store.write.insertInto('client_usage').values(usage).execute()
  const keys = new KeyIndex(store, clock, expiry)
  await keys.load()
  await keys.loadUsage()
  assert.equal(keys.meters.get(client_id)?.snapshotUsage(clock.now()).events, 8)
  for (const [site, client] of [
    [1, 1],
    [0, 1],
    [1, 0],
  ] as const) {
    await store.write.updateTable('sites').set({ is_active: site }).where('id', '=', id).execute()
    await store.write.updateTable('clients').set({ is_active: client }).where('id', '=', client_id).execute()
    await store.changes.publish({ kind: 'client', id: client_id })
    assert.equal(keys.find(ingest_key)?.site.isOpen, site + client === 2, `site ${site}, client ${client}`)
  }
  keys.close()
})

test('a reading that began before a change never overwrites the one that began after it', async (t) => {
  const store = await openEmptyStore(sqlite, t)
  const site = await insertSite(store)
  let slowReads = 0
  const held = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  const keys = new KeyIndex(
    steppingStore(store, async (what) => {
      if (what !== 'read' || slowReads-- !== 1) return
      held.resolve()
      await letGo.promise
    }),
    clock,
    expiry,
  )
  await keys.load()
  slowReads = 1
  const first = store.changes.publish({ kind: 'site', id: site.id })
  await held.promise
  await store.write.updateTable('sites').set({ key_revoked_at: 1 }).where('id', '=', site.id).execute()
  const second = store.changes.publish({ kind: 'site', id: site.id })
  await timeToOvertake(store)
  letGo.resolve()
  await Promise.all([first, second])
  assert.equal(endOf(keys, site.ingest_key), 'revoked')
})

test('many changes of one site while another is read cost one reading', async (t) => {
  const store = await openEmptyStore(sqlite, t)
  const site = await insertSite(store)
  const { slow, held, letGo } = holdingStore(store, 3)
  let reads = 0
  const counting = steppingStore(slow, async (what) => {
    if (what === 'read') reads++
  })
  const keys = new KeyIndex(counting, clock, expiry)
  const loaded = keys.load()
  await held
  const published = Array.from({ length: 100 }, () => store.changes.publish({ kind: 'site', id: site.id }))
  letGo()
  await Promise.all([loaded, ...published])
  assert.equal(reads, 6)
})

test('a key whose revocation could not be read is refused as soon as the store can be read again', async (t) => {
  const store = await openEmptyStore(sqlite, t)
  const site = await insertSite(store)
  let failures = 0
  const failing = steppingStore(store, async (what) => {
    if (what === 'read' && failures > 0 && failures-- > 0) throw new StoreError('busy', 'the disk is slow')
  })
  const errors: string[] = []
  const node = { store: failing, clock, expiry, keyHeaders: ['x-service-key'], ...(await joinNode(t, store, clock)) }
  const ingest = await Ingest.open({ ...node, onError: ({ message }) => errors.push(message) })
  const server = createServer((request, response) => ingest.endpoint.handle(request, response)).listen(0)
  t.after(async () => {
    server.close().closeAllConnections()
    await ingest.stop()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const send = async () => {
    const headers = { 'content-type': 'application/json', 'x-service-key': site.ingest_key }
    const { status } = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: '{}' })
    return status
  }
  assert.equal(await send(), 400)
  await store.write.updateTable('sites').set({ key_revoked_at: 1 }).where('id', '=', site.id).execute()
  const keys = ingest.loops.find(({ name }) => name === 'keys')
  failures = 2
  await failing.changes.publish({ kind: 'site', id: site.id })
  await keys?.tick()
  await keys?.tick()
  assert.deepEqual([await send(), errors], [403, ['the disk is slow']])
})

testOnEveryEngine('after a change of all, keys and sites are those of the store', async (store) => {
  const [kept, gone] = [await insertSite(store), await insertSite(store)]
  const keys = new KeyIndex(store, clock, expiry)
  await keys.load()
  await store.write.updateTable('sites').set({ key_revoked_at: 1 }).where('id', '=', kept.id).execute()
  await store.write.deleteFrom('sites').where('id', '=', gone.id).execute()
  await store.write.deleteFrom('clients').where('id', '=', gone.client_id).execute()
  const added = await insertSite(store)
  await store.changes.publish({ kind: 'all', id: '*' })
  assert.deepEqual([endOf(keys, kept.ingest_key), keys.find(gone.ingest_key)], ['revoked', undefined])
  assert.equal(keys.find(added.ingest_key)?.site.siteNo, added.site_no)
  assert.deepEqual(new Set(keys.meters.keys()), new Set([kept.client_id, added.client_id]))
  assert.equal(keys.siteCount, 2)
})
