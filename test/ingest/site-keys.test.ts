import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { MINUTE, newId, newSecret } from '../../src/lib/index.ts'
import { newCanaryName, writeKeyUses } from '../../src/management/index.ts'
import type { SiteKeyRow, SiteRow, Store } from '../../src/store/index.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { listen, NOW, payload } from './endpoint-support.ts'

async function insertKey(store: Store, site: SiteRow, over: Partial<SiteKeyRow> = {}): Promise<SiteKeyRow> {
  const row = {
    id: newId(),
    site_id: site.id,
    name: 'web container',
    ingest_key: newSecret(),
    created_at: NOW - MINUTE,
    expires_at: null,
    revoked_at: null,
    ...over,
  }
  await store.write.insertInto('site_keys').values(row).execute()
  return row
}

/** The status of a request with the key, and what its sender is told beside it. */
async function ask(url: string, key: string, body: object = payload) {
  const headers = { 'content-type': 'application/json', 'x-service-key': key }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, body: await answer.text(), why: answer.headers.get('x-refusal-reason') }
}

const rejectionsOf = (store: Store) => store.read.selectFrom('rejections').select(['reason', 'path']).execute()

testLogic('every valid key of a site is accepted, the one that is being replaced too', async (store, t) => {
  const site = await insertSite(store)
  const others = [await insertKey(store, site), await insertKey(store, site, { expires_at: NOW + 1 })]
  const { url } = await listen(t, store)
  for (const key of [site, ...others]) assert.equal((await ask(url, key.ingest_key)).status, 200)
})

testOnEveryEngine('a revoked key is named to its holder and to the owner of the site', async (store, t) => {
  const site = await insertSite(store)
  const { ingest_key } = await insertKey(store, site, { revoked_at: NOW - MINUTE })
  const { url, samples } = await listen(t, store)
  assert.deepEqual(await ask(url, ingest_key), {
    status: 403,
    body: '{"error":"forbidden"}',
    why: 'the key "web container" of this site was revoked on 2026-11-20T09:59:30.000Z',
  })
  await samples.flush()
  assert.deepEqual(await rejectionsOf(store), [{ reason: 'forbidden', path: 'key revoked: web container' }])
})

testLogic('a stranger learns nothing of the keys of a site', async (store, t) => {
  const site = await insertSite(store)
  const { ingest_key } = await insertKey(store, site, { revoked_at: NOW - MINUTE })
  const { url } = await listen(t, store)
  for (const key of [ingest_key.slice(0, -1), `${ingest_key}x`, site.id, 'web container']) {
    assert.deepEqual(await ask(url, key), { status: 401, body: '{"error":"unauthorized"}', why: null })
  }
})

testOnEveryEngine('an expired key is refused from its time on, by a clock that is trusted', async (store, t) => {
  const site = await insertSite(store)
  const { ingest_key } = await insertKey(store, site, { name: 'Käse 100 %\n', expires_at: NOW + 1 })
  const { url, clock, commits } = await listen(t, store)
  const inDoubt = await listen(t, store, { isClockInDoubt: true, commits })
  assert.equal((await ask(url, ingest_key)).status, 200)
  clock.advance(1)
  assert.deepEqual(await ask(url, ingest_key), {
    status: 403,
    body: '{"error":"forbidden"}',
    why: 'the key "K%C3%A4se 100 %25%0A" of this site expired on 2026-11-20T10:00:30.001Z',
  })
  inDoubt.clock.advance(1)
  assert.equal((await ask(inDoubt.url, ingest_key)).status, 200)
})

testOnEveryEngine(
  'keys that are added, revoked and forgotten are known before the change is answered',
  async (store, t) => {
    const site = await insertSite(store)
    const { url } = await listen(t, store)
    const publish = () => store.changes.publish({ kind: 'site', id: site.id })
    const key = await insertKey(store, site)
    assert.equal((await ask(url, key.ingest_key)).status, 401)
    await publish()
    assert.equal((await ask(url, key.ingest_key)).status, 200)
    await store.write.updateTable('site_keys').set({ revoked_at: NOW }).where('id', '=', key.id).execute()
    await publish()
    assert.deepEqual([(await ask(url, key.ingest_key)).status, (await ask(url, site.ingest_key)).status], [403, 200])
    await store.write.deleteFrom('site_keys').where('id', '=', key.id).execute()
    await store.changes.publish({ kind: 'client', id: site.client_id })
    assert.equal((await ask(url, key.ingest_key)).status, 401)
    await store.write.deleteFrom('sites').where('id', '=', site.id).execute()
    await publish()
    assert.equal((await ask(url, site.ingest_key)).status, 401)
  },
)

async function usedKeys(t: TestContext, store: Store) {
  const site = await insertSite(store)
  const revoked = await insertKey(store, site, { revoked_at: NOW - MINUTE })
  const unused = await insertKey(store, site)
  return { site, revoked, unused, ...(await listen(t, store)) }
}

testOnEveryEngine(
  'a last use is noted in memory, of refused requests too, and written as one row a key',
  async (store, t) => {
    const { site, revoked, unused, url, keys, clock } = await usedKeys(t, store)
    const uses = () => store.read.selectFrom('site_key_uses').select(['key_id', 'last_used_at']).execute()
    for (let n = 0; n < 5; n++) {
      await ask(url, site.ingest_key)
      clock.advance(1_000)
    }
    await ask(url, revoked.ingest_key)
    assert.deepEqual(await uses(), [])
    const taken = keys.takeUses()
    assert.equal(taken.length, 2)
    await writeKeyUses(store, taken)
    const rows = new Map((await uses()).map(({ key_id, last_used_at }) => [key_id, last_used_at]))
    assert.deepEqual(
      [site.id, revoked.id, unused.id].map((id) => rows.get(id)),
      [NOW + 4_000, NOW + 5_000, undefined],
    )
    assert.deepEqual(keys.takeUses(), [])
    await ask(url, site.ingest_key)
    assert.deepEqual(keys.takeUses(), [{ siteNo: site.site_no, keyId: site.id, at: NOW + 5_000 }])
  },
)

testOnEveryEngine('a canary that was made before a rotation is known by the old key', async (store, t) => {
  const site = await insertSite(store)
  const canary = { ...payload, event_name: newCanaryName(site.ingest_key) }
  const replaced = await insertKey(store, site, { ingest_key: site.ingest_key, expires_at: NOW + MINUTE, name: 'old' })
  const key = await insertKey(store, site, { created_at: NOW })
  await store.write.updateTable('sites').set({ ingest_key: key.ingest_key }).where('id', '=', site.id).execute()
  const { url, canaries } = await listen(t, store)
  assert.equal((await ask(url, replaced.ingest_key, canary)).status, 200)
  await canaries.flush()
  const arrived = await store.read.selectFrom('canary_arrivals').select('event_name').execute()
  assert.deepEqual(arrived, [{ event_name: canary.event_name }])
})
