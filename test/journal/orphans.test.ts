import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Folder, foldJournal, foldOrphans } from '../../src/journal/index.ts'
import { MINUTE } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { deltaOf, encode, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { openEmptyStore, postgres, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')

const oneEvent = (siteNo: number) => deltaOf(siteNo, [eventPayload({ timestamp_ms: NOW })], NOW)

const nodesLeft = async (store: Store) => {
  const rows = await store.read.selectFrom('journal').select('node_id').distinct().orderBy('node_id').execute()
  return rows.map((row) => row.node_id)
}

testOnEveryEngine('rows of every dead node are folded, and counted for the client', async (store) => {
  const { site_no, client_id } = await insertSite(store)
  for (const nodeId of ['a', 'b', 'c', 'd', 'e']) {
    for (let seq = 1; seq <= 3; seq++) await writeJournal(store, nodeId, seq, oneEvent(site_no))
  }
  assert.equal(await foldOrphans(store, ['b', 'd', 'not in the journal']), 9)
  assert.deepEqual(await nodesLeft(store), ['b', 'd'])
  assert.equal(await totalEvents(store, site_no), 9)
  const usage = await store.read.selectFrom('client_usage').select(['client_id', 'events']).execute()
  assert.deepEqual(usage, [{ client_id, events: 9 }])
  assert.equal(await foldOrphans(store, []), 6)
  assert.deepEqual(await nodesLeft(store), [])
})

testOnEveryEngine('without orphans the only query is which nodes have rows', async (store) => {
  await writeJournal(store, 'alive', 1, oneEvent(7))
  let reads = 0
  const counting = steppingStore(store, async () => {
    reads++
  })
  assert.equal(await foldOrphans(counting, ['alive']), 0)
  assert.equal(reads, 1)
})

testOnEveryEngine('a site that came after the search for orphans began is counted', async (store) => {
  const { site_no } = await insertSite(store)
  await writeJournal(store, 'a', 1, oneEvent(site_no))
  let newSiteNo = 0
  const late = steppingStore(store, async (what) => {
    if (what !== 'batch' || newSiteNo !== 0) return
    newSiteNo = (await insertSite(store)).site_no
    await writeJournal(store, 'a', 2, oneEvent(newSiteNo))
  })
  // What came after the search began is left for the next one.
  assert.equal(await foldOrphans(late, []), 1)
  assert.equal(await foldOrphans(late, []), 1)
  assert.equal(await totalEvents(store, newSiteNo), 1)
})

testOnEveryEngine('processes that fold the orphans at once count each row once', async (store) => {
  const { site_no } = await insertSite(store)
  for (const nodeId of ['a', 'b', 'c']) {
    for (let seq = 1; seq <= 5; seq++) await writeJournal(store, nodeId, seq, oneEvent(site_no))
  }
  const folded = await Promise.all(Array.from({ length: 4 }, () => foldOrphans(store, [])))
  assert.equal(
    folded.reduce((sum, rows) => sum + rows, 0),
    15,
  )
  assert.equal(await totalEvents(store, site_no), 15)
  assert.deepEqual(await store.read.selectFrom('folds').selectAll().execute(), [])
})

testOnEveryEngine(
  'the row of a fold whose journal rows are gone is deleted too, and does not block later rows',
  async (store) => {
    const { site_no } = await insertSite(store)
    const leaveMark = (nodeId: string) =>
      store.write.insertInto('folds').values({ node_id: nodeId, last_seq: 4, site_cursor: 9_999 }).execute()
    await leaveMark('dead')
    await leaveMark('alive')
    assert.equal(await foldOrphans(store, ['alive']), 0)
    assert.deepEqual(await store.read.selectFrom('folds').select('node_id').execute(), [{ node_id: 'alive' }])
    await writeJournal(store, 'alive', 5, oneEvent(site_no))
    assert.equal(await foldJournal(store, new Folder(store, () => 'client'), { nodeId: 'alive' }), 1)
    assert.equal(await totalEvents(store, site_no), 1)
    assert.deepEqual(await store.read.selectFrom('folds').selectAll().execute(), [])
  },
)

test('a row of a live node that has waited for 20 s by the database clock is folded by any node that sees it', async (t) => {
  const store = await openEmptyStore(postgres, t)
  const { site_no } = await insertSite(store)
  const now = await (store.now?.() ?? assert.fail('no clock'))
  const write = (seq: number, written_at: number) =>
    store.write
      .insertInto('journal')
      .values({ node_id: 'alive', seq, written_at, payload: encode(oneEvent(site_no)) })
      .execute()
  await write(1, now - 20_000)
  await write(2, now + MINUTE)
  assert.equal(await foldOrphans(store, ['alive']), 1)
  assert.equal(await totalEvents(store, site_no), 1)
  assert.equal(await foldOrphans(store, ['alive'], { takeAll: true }), 1)
  assert.equal(await totalEvents(store, site_no), 2)
})

testOnEveryEngine('a stream that cannot be folded does not block the others', async (store) => {
  const { site_no } = await insertSite(store)
  for (const nodeId of ['a', 'b', 'c']) await writeJournal(store, nodeId, 1, oneEvent(site_no))
  await store.write.updateTable('journal').set({ payload: '["broken"]' }).where('node_id', '=', 'a').execute()
  await assert.rejects(foldOrphans(store, []), /the journal holds string where a number belongs/)
  assert.deepEqual(await nodesLeft(store), ['a'])
  assert.equal(await totalEvents(store, site_no), 2)
})
