import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompiledQuery, sql } from 'kysely'
import { type BatchOperation, type Store, StoreError, totalOf } from '../../../src/store/index.ts'
import { upsertSql } from '../../../src/store/postgres/values.ts'
import { until } from '../../../testkit/until.ts'
import { addUsage, dirtyBuckets, journalRow, journalSeqs, newDatabase, ofKind, openOn, usage } from './support.ts'

const BUCKET = [1, 3600, 0] as const
const markDirty: BatchOperation = { kind: 'upsert', spec: dirtyBuckets, values: BUCKET }
const clearDirty = (store: Store): BatchOperation => ({
  kind: 'statement',
  query: store.write.deleteFrom('dirty_buckets').where('site_no', '=', BUCKET[0]).compile(),
  expectChanges: 1,
})

/** Counts stand in month 1, what was derived of them in month 2. */
const derive = (store: Store): BatchOperation[] => [
  clearDirty(store),
  { kind: 'statement', query: store.write.deleteFrom('client_usage').where('month', '=', 2).compile() },
  {
    kind: 'statement',
    query:
      sql`insert into client_usage select client_id, 2, events, requests from client_usage where month = 1`.compile(
        store.write,
      ),
  },
]

async function eventsIn(store: Store, month: number): Promise<number> {
  const row = await store.read
    .selectFrom('client_usage')
    .select(totalOf('events').as('events'))
    .where('month', '=', month)
    .executeTakeFirstOrThrow()
  return row.events
}

test('counts that arrive while others derive are in the derived rows, or leave the bucket dirty', async (t) => {
  const url = await newDatabase(t)
  const stores = [await openOn(t, url), await openOn(t, url)] as const
  const rounds = 150
  let folding = 4
  let cleared = 0
  const fold = async (store: Store) => {
    for (let round = 0; round < rounds; round++) await store.batch([addUsage('c', 1), markDirty])
    folding--
  }
  const rollUp = async (store: Store) => {
    while (folding > 0) {
      try {
        await store.batch(derive(store))
        cleared++
      } catch (thrown) {
        ofKind('unexpected_changes')(thrown)
      }
      const both = await store.read.transaction().execute(async (trx) => ({
        dirty: await trx.selectFrom('dirty_buckets').select('bucket').executeTakeFirst(),
        usage: await trx.selectFrom('client_usage').select(['month', 'events']).orderBy('month').execute(),
      }))
      const [counted, derived] = both.usage
      if (both.dirty === undefined && counted !== undefined) assert.equal(derived?.events, counted.events)
    }
  }
  await Promise.all(
    [...stores, ...stores].flatMap((store, i) => (i < 3 ? [fold(store), rollUp(store)] : [fold(store)])),
  )
  assert.ok(cleared > 10, `derived ${cleared} times`)
  assert.equal(await eventsIn(stores[0], 1), 4 * rounds)
  await stores[0].batch([markDirty])
  await stores[0].batch(derive(stores[0]))
  assert.equal(await eventsIn(stores[0], 2), 4 * rounds)
})

test('a bucket that is dirty already is locked until the end of the transaction that marks it dirty', async (t) => {
  const url = await newDatabase(t)
  const [folder, roller] = [await openOn(t, url), await openOn(t, url)]
  await folder.batch([markDirty])
  const order: string[] = []
  const hasLock = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  // The upsert of a batch, with a pause before its commit.
  const holding = folder.write.transaction().execute(async (trx) => {
    const arrays = BUCKET.map((value) => `{${value}}`)
    await trx.executeQuery(
      CompiledQuery.raw(
        upsertSql(
          dirtyBuckets,
          BUCKET.map(() => 'bigint'),
        ),
        arrays,
      ),
    )
    hasLock.resolve()
    await mayEnd.promise
    order.push('marked')
  })
  await hasLock.promise
  const clearing = roller.batch([clearDirty(roller)]).then(() => order.push('cleared'))
  try {
    await waitsForLock(roller)
  } finally {
    mayEnd.resolve()
    await Promise.all([holding, clearing])
  }
  assert.deepEqual(order, ['marked', 'cleared'])
  assert.deepEqual(await folder.read.selectFrom('dirty_buckets').selectAll().execute(), [])
})

const waitsForLock = (store: Store) =>
  until('a session waits for a lock', async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(store.read)
    return rows.length > 0 ? true : undefined
  })

test('batches on the same rows in any order wait for each other and never deadlock', async (t) => {
  const url = await newDatabase(t)
  const stores = await Promise.all([1, 2, 3].map(() => openOn(t, url)))
  const clients = Array.from({ length: 40 }, (_, i) => `client ${(i * 7) % 40}`)
  const rounds = 40
  const write = async (store: Store, order: readonly string[]) => {
    for (let round = 0; round < rounds; round++) {
      const from = (round * 13) % order.length
      const turned = [...order.slice(from), ...order.slice(0, from)]
      await store.batch([
        // Each twice, far apart.
        { kind: 'upsert', spec: usage, values: [...turned, ...turned].flatMap((client) => [client, 1, 1, 2]) },
        { kind: 'upsert', spec: dirtyBuckets, values: turned.flatMap((_, i) => [i, 60, from]) },
      ])
    }
  }
  await Promise.all(stores.flatMap((store) => [write(store, clients), write(store, clients.toReversed())]))
  const rows = await stores[0]?.read.selectFrom('client_usage').select(['events', 'requests']).execute()
  const times = 2 * rounds * stores.length * 2
  assert.deepEqual(
    rows,
    clients.map(() => ({ events: times, requests: 2 * times })),
  )
})

test('sums go on beyond 2^53 and 2^63, and the row still takes counts', async (t) => {
  const store = await openOn(t, await newDatabase(t))
  const most = Number.MAX_SAFE_INTEGER
  const values = Array.from({ length: 1_500 }, () => ['c', 1, most, 1]).flat()
  await store.batch([{ kind: 'upsert', spec: usage, values }])
  await store.batch([{ kind: 'upsert', spec: usage, values }])
  await store.batch([addUsage('c', 1)])
  const row = await store.read.selectFrom('client_usage').selectAll().executeTakeFirstOrThrow()
  assert.equal(row.requests, 3_001)
  assert.ok(Math.abs(row.events / (3_000 * most) - 1) < 1e-12)
  assert.equal(await eventsIn(store, 1), row.events)
})

test('readers take part in no write, and see one snapshot in a transaction', async (t) => {
  const store = await openOn(t, await newDatabase(t))
  for (const db of [store.read, store.reports]) {
    await db.transaction().execute(async (trx) => {
      const { rows } = await sql`select current_setting('transaction_isolation') as isolation,
        current_setting('transaction_read_only') as read_only`.execute(trx)
      assert.deepEqual(rows, [{ isolation: 'repeatable read', read_only: 'on' }])
    })
    const write = db.transaction().execute((trx) => trx.deleteFrom('journal').execute())
    await assert.rejects(write, (error) => error instanceof StoreError && /read-only/.test(error.message))
  }
})

test('a batch whose session ends in the middle keeps nothing, and the next one works', async (t) => {
  const store = await openOn(t, await newDatabase(t))
  const end = sql`select pg_terminate_backend(pg_backend_pid())`.compile(store.write)
  const batch = [journalRow(store, 1), { kind: 'statement' as const, query: end }, journalRow(store, 2)]
  await assert.rejects(store.batch(batch), ofKind('unavailable', /administrator/))
  assert.deepEqual(await journalSeqs(store), [])
  await store.batch([journalRow(store, 3)])
  await store.batch([])
  assert.deepEqual(await journalSeqs(store), [3])
})

test('an upsert into a table or column that is not there fails by name', async (t) => {
  const store = await openOn(t, await newDatabase(t))
  const spec = { ...usage, sums: ['events', 'nothing'] }
  await assert.rejects(
    store.batch([{ kind: 'upsert', spec, values: ['c', 1, 1, 1] }]),
    ofKind('other', /client_usage has no column nothing/),
  )
})

test('a database that is set to read only is not written to', async (t) => {
  const url = await newDatabase(t)
  const before = await openOn(t, url)
  const database = sql.id(new URL(url).pathname.slice(1))
  await sql`alter database ${database} set default_transaction_read_only = on`.execute(before.admin)
  const store = await openOn(t, url)
  const writes = [
    store.batch([journalRow(store, 1)]),
    store.batch([journalRow(store, 2), journalRow(store, 3)]),
    store.write.transaction().execute((trx) => trx.deleteFrom('journal').execute()),
  ]
  await Promise.all(writes.map((write) => assert.rejects(write, ofKind('unavailable', /read-only transaction/))))
  assert.deepEqual(await journalSeqs(store), [])
})
