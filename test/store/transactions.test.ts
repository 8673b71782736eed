import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { type Store, StoreError, type Tables, type Transaction, upsertInto } from '../../src/store/index.ts'
import { testOnEveryRealEngine } from '../../testkit/engines.ts'

const usage = upsertInto('client_usage', { keys: ['client_id', 'month'], sums: ['events', 'requests'] })
const addOneEvent = (store: Store) => store.batch([{ kind: 'upsert', spec: usage, values: ['c', 1, 1, 0] }])

const CHECK = { id: 1, checked_at: 0 }

const eventsOf = async (db: Store['read']): Promise<number> =>
  (await db.selectFrom('client_usage').select('events').executeTakeFirstOrThrow()).events

testOnEveryRealEngine('transactions and batches take turns, so that no write is lost', async (store) => {
  await addOneEvent(store)
  // Read, then write what was read and one: it loses counts as soon as another write comes between the two. PostgreSQL
  // lets one come, unless the row is locked; an update that changes nothing is the lock that both engines have.
  const readAndAdd = () =>
    store.write.transaction().execute(async (trx) => {
      await trx
        .updateTable('client_usage')
        .set(({ ref }) => ({ events: ref('events') }))
        .execute()
      const events = await eventsOf(trx)
      await trx
        .updateTable('client_usage')
        .set({ events: events + 1 })
        .execute()
    })
  await Promise.all(Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? readAndAdd() : addOneEvent(store))))
  assert.equal(await eventsOf(store.read), 31)
})

testOnEveryRealEngine("a reader's transaction sees one snapshot while writes go on", async (store) => {
  await addOneEvent(store)
  await store.read.transaction().execute(async (trx) => {
    assert.equal(await eventsOf(trx), 1)
    await addOneEvent(store)
    assert.equal(await eventsOf(trx), 1)
  })
  assert.equal(await eventsOf(store.read), 2)
})

testOnEveryRealEngine(
  'reads do not wait for a write transaction, and do not see what it has not committed',
  async (store) => {
    await addOneEvent(store)
    await store.write.transaction().execute(async (trx) => {
      await trx.updateTable('client_usage').set({ events: 100 }).execute()
      // Were reads to wait for the writer, these would wait for the transaction that waits for them.
      for (let read = 0; read < 4; read++) assert.equal(await eventsOf(store.read), 1)
      assert.equal(await eventsOf(trx), 100)
    })
    assert.equal(await eventsOf(store.read), 100)
  },
)

const FAILURES: readonly [what: string, fail: (trx: Transaction<Tables>) => Promise<unknown>][] = [
  ['a broken constraint', (trx) => trx.insertInto('write_checks').values([CHECK, CHECK]).execute()],
  ['a statement that is not SQL', (trx) => sql`this is no statement`.execute(trx)],
  ['an error of the caller', () => Promise.reject(new Error('thrown between two statements'))],
]
for (const [what, fail] of FAILURES) {
  testOnEveryRealEngine(`after ${what} in a transaction nothing of it stays, and the next one works`, async (store) => {
    const failing = store.write.transaction().execute(async (trx) => {
      await trx.insertInto('journal').values({ node_id: 'n', seq: 1, written_at: 0, payload: '' }).execute()
      await fail(trx)
    })
    await assert.rejects(failing)
    assert.deepEqual(await store.read.selectFrom('journal').selectAll().execute(), [])
    await store.write.transaction().execute((trx) => trx.insertInto('write_checks').values(CHECK).execute())
    await addOneEvent(store)
    assert.equal(await eventsOf(store.read), 1)
  })
}

testOnEveryRealEngine('a report that takes long does not keep the others waiting', async (store) => {
  await addOneEvent(store)
  await store.read.transaction().execute(async (trx) => {
    assert.equal(await eventsOf(trx), 1)
    // Were one of these to wait for the transaction, it would wait for itself.
    for (let read = 0; read < 4; read++) assert.equal(await eventsOf(store.read), 1)
  })
})

testOnEveryRealEngine('after an error in a report the reader works on', async (store) => {
  await addOneEvent(store)
  // More failures than there can be readers, so that each has had one.
  for (let i = 0; i < 8; i++) {
    await assert.rejects(store.read.transaction().execute((trx) => sql`this is no statement`.execute(trx)))
  }
  for (let i = 0; i < 8; i++) assert.equal(await eventsOf(store.read), 1)
})

testOnEveryRealEngine('a closed store refuses what comes after, as closed', async (store) => {
  await store.close()
  const isClosed = (error: unknown) => error instanceof StoreError && error.kind === 'closed'
  await assert.rejects(addOneEvent(store), isClosed)
  await assert.rejects(eventsOf(store.read), isClosed)
  await assert.rejects(
    store.write.transaction().execute((trx) => eventsOf(trx)),
    isClosed,
  )
})
