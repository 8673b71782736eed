import assert from 'node:assert/strict'
import { type BatchOperation, type SqlValue, type Store, StoreError, upsertInto } from '../../src/store/index.ts'
import { testOnEveryRealEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'

const usage = upsertInto('client_usage', { keys: ['client_id', 'month'], sums: ['events', 'requests'] })
const containers = upsertInto('site_containers', { keys: ['site_no', 'container_id'], maxima: ['last_seen_at'] })
const payloads = upsertInto('recent_payloads', { keys: ['site_no', 'id'], fixed: ['accepted_at', 'payload'] })
const dirtyBuckets = upsertInto('dirty_buckets', { keys: ['site_no', 'grain', 'bucket'] })

const journalRow = (store: Store, seq: number): BatchOperation => ({
  kind: 'statement',
  query: store.write.insertInto('journal').values({ node_id: 'n', seq, written_at: 0, payload: '' }).compile(),
})
const deletion = (store: Store, expectChanges: number): BatchOperation => ({
  kind: 'statement',
  query: store.write.deleteFrom('journal').where('node_id', '=', 'n').compile(),
  expectChanges,
})
const journalSeqs = async (store: Store) =>
  (await store.read.selectFrom('journal').select('seq').orderBy('seq').execute()).map(({ seq }) => seq)

const ofKind = (kind: StoreError['kind']) => (error: unknown) => {
  assert.ok(error instanceof StoreError)
  assert.equal(error.kind, kind)
  return true
}

testOnEveryRealEngine('a batch is kept as a whole', async (store) => {
  await store.batch([journalRow(store, 1), { kind: 'upsert', spec: usage, values: ['c', 202611, 5, 1] }])
  assert.deepEqual(await journalSeqs(store), [1])
  assert.deepEqual(await store.read.selectFrom('client_usage').selectAll().execute(), [
    { client_id: 'c', month: 202611, events: 5, requests: 1 },
  ])
  await store.batch([])
})

testOnEveryRealEngine('a batch of which one part fails leaves nothing, whatever part it is', async (store) => {
  await store.batch([journalRow(store, 1)])
  const good: BatchOperation = { kind: 'upsert', spec: usage, values: ['c', 202611, 5, 1] }
  await assert.rejects(store.batch([good, journalRow(store, 2), journalRow(store, 1)]), ofKind('unique'))
  await assert.rejects(store.batch([journalRow(store, 1), good]), ofKind('unique'))
  const half: BatchOperation = { kind: 'upsert', spec: usage, values: ['c', 202611, 5, 1, 'd', 202611, null, 1] }
  await assert.rejects(store.batch([journalRow(store, 3), half]), ofKind('other'))
  assert.deepEqual(await journalSeqs(store), [1])
  assert.deepEqual(await store.read.selectFrom('client_usage').selectAll().execute(), [])
  await store.batch([good, journalRow(store, 2)])
  assert.deepEqual(await journalSeqs(store), [1, 2])
})

testOnEveryRealEngine(
  'a statement that changes another number of rows than expected rolls the batch back',
  async (store) => {
    await store.batch([journalRow(store, 1), journalRow(store, 2)])
    await assert.rejects(store.batch([journalRow(store, 3), deletion(store, 2)]), ofKind('unexpected_changes'))
    await assert.rejects(store.batch([deletion(store, 3)]), ofKind('unexpected_changes'))
    assert.deepEqual(await journalSeqs(store), [1, 2])
    await store.batch([deletion(store, 2)])
    assert.deepEqual(await journalSeqs(store), [])
  },
)

testOnEveryRealEngine('an upsert adds up sums', async (store) => {
  await store.batch([{ kind: 'upsert', spec: usage, values: ['a', 1, 10, 1, 'b', 1, 20, 2] }])
  await store.batch([{ kind: 'upsert', spec: usage, values: ['a', 1, 5, 1, 'a', 2, 7, 3] }])
  const rows = await store.read.selectFrom('client_usage').selectAll().orderBy('client_id').orderBy('month').execute()
  assert.deepEqual(
    rows.map(({ client_id, month, events, requests }) => [client_id, month, events, requests]),
    [
      ['a', 1, 15, 2],
      ['a', 2, 7, 3],
      ['b', 1, 20, 2],
    ],
  )
})

testOnEveryRealEngine(
  'an upsert of many rows adds up, whether they are new, there already, or twice in it, however many are left over',
  async (store) => {
    const expected = new Map<string, number>()
    const usageRows = (count: number, offset: number): SqlValue[] =>
      Array.from({ length: count }, (_, index) => {
        // Every third row is of the client of the one before it.
        const client = `client ${String(offset + index - Number(index % 3 === 2)).padStart(3, '0')}`
        expected.set(client, (expected.get(client) ?? 0) + index + 1)
        return [client, 1, index + 1, 1]
      }).flat()
    // Statements take eight rows: one less, as many, one more, and several with a rest, half of them there already.
    for (const [count, offset] of [
      [7, 0],
      [8, 4],
      [9, 10],
      [43, 0],
    ] as const) {
      await store.batch([{ kind: 'upsert', spec: usage, values: usageRows(count, offset) }])
    }
    const rows = await store.read.selectFrom('client_usage').selectAll().orderBy('client_id').execute()
    assert.deepEqual(
      rows.map(({ client_id, events }) => [client_id, events]),
      [...expected].sort(([a], [b]) => (a < b ? -1 : 1)),
    )
    assert.equal(
      rows.reduce((sum, { requests }) => sum + requests, 0),
      7 + 8 + 9 + 43,
    )
    const broken = usageRows(20, 0).with(4 * 12 + 2, null)
    await assert.rejects(store.batch([{ kind: 'upsert', spec: usage, values: broken }]), ofKind('other'))
    const after = await store.read.selectFrom('client_usage').selectAll().orderBy('client_id').execute()
    assert.deepEqual(after, rows)
  },
)

testOnEveryRealEngine('an upsert keeps the largest of maxima', async (store) => {
  const seen = async (at: number) => {
    await store.batch([{ kind: 'upsert', spec: containers, values: [1, 'GTM-A', at] }])
    return store.read.selectFrom('site_containers').select('last_seen_at').executeTakeFirstOrThrow()
  }
  assert.deepEqual(await seen(200), { last_seen_at: 200 })
  assert.deepEqual(await seen(100), { last_seen_at: 200 })
  assert.deepEqual(await seen(300), { last_seen_at: 300 })
})

testOnEveryRealEngine('an upsert leaves what is fixed, and rows of keys alone, as they stand', async (store) => {
  const write = (payload: string): BatchOperation[] => [
    { kind: 'upsert', spec: payloads, values: [1, 1, 5, payload] },
    { kind: 'upsert', spec: dirtyBuckets, values: [1, 60, 0, 1, 60, 60_000] },
  ]
  await store.batch(write('first'))
  await store.batch(write('second'))
  assert.deepEqual(await store.read.selectFrom('recent_payloads').selectAll().execute(), [
    { site_no: 1, id: 1, accepted_at: 5, payload: 'first' },
  ])
  assert.equal((await store.read.selectFrom('dirty_buckets').selectAll().execute()).length, 2)
})

testOnEveryRealEngine('errors are named by what the caller can do about them', async (store) => {
  const site = await insertSite(store)
  await assert.rejects(insertSite(store, { id: site.id }), ofKind('unique'))
  await assert.rejects(insertSite(store, { ingest_key: site.ingest_key }), ofKind('unique'))
  const orphan = store.write.updateTable('sites').set({ client_id: 'nobody' }).where('id', '=', site.id)
  await assert.rejects(orphan.execute(), ofKind('foreign_key'))
})

testOnEveryRealEngine('numbers up to 2^53 − 1 and any text come back as they went in', async (store) => {
  const text = 'Käufe/ß 😀 \' " \\ \n % _'
  await store.batch([{ kind: 'upsert', spec: payloads, values: [1, Number.MAX_SAFE_INTEGER, 0, text] }])
  assert.deepEqual(await store.read.selectFrom('recent_payloads').selectAll().executeTakeFirstOrThrow(), {
    site_no: 1,
    id: Number.MAX_SAFE_INTEGER,
    accepted_at: 0,
    payload: text,
  })
})
