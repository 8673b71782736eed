import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { connectWithoutThread, openSqliteStore } from '../../src/store/index.ts'
import { tempDir } from '../../testkit/engines.ts'

/** A store that counts its connections for reading. @param more called before each of them but the first */
async function readers(t: Parameters<typeof tempDir>[0], more: () => Promise<void> = () => Promise.resolve()) {
  const counts = { readers: 0 }
  const store = await openSqliteStore(await tempDir(t), {
    async connect(options) {
      if (options.mode === 'reader') counts.readers += 1
      if (counts.readers > 1) await more()
      return connectWithoutThread(options)
    },
  })
  t.after(() => store.close())
  return { store, counts }
}

test('short reads at once share one reader', async (t) => {
  const { store, counts } = await readers(t)
  const answers = await Promise.all([1, 2, 3].map((n) => sql<{ n: number }>`select ${n} as n`.execute(store.read)))
  assert.deepEqual(
    answers.map(({ rows }) => rows[0]?.n),
    [1, 2, 3],
  )
  assert.equal(counts.readers, 1)
})

test('a read does not wait for a long one: it gets a second reader', async (t) => {
  const { store, counts } = await readers(t)
  await store.read.transaction().execute(async (transaction) => {
    await sql`select 1`.execute(transaction)
    const [one, other] = [sql`select 2`.execute(store.read), sql`select 3`.execute(store.read)]
    await Promise.all([one, other])
    assert.equal(counts.readers, 2)
  })
  await Promise.all([sql`select 4`.execute(store.read), sql`select 5`.execute(store.read)])
  assert.equal(counts.readers, 2)
})

test('while no second reader can be opened, reads use the first one', async (t) => {
  const isOpening = Promise.withResolvers<void>()
  const mayFail = Promise.withResolvers<void>()
  const { store, counts } = await readers(t, async () => {
    isOpening.resolve()
    await mayFail.promise
    throw new Error('too many open files')
  })
  const { other } = await store.read.transaction().execute(async (transaction) => {
    await sql`select 1`.execute(transaction)
    const other = assert.rejects(sql`select 2`.execute(store.read), /too many open files/)
    await isOpening.promise
    return { other }
  })
  mayFail.resolve()
  await other
  await sql`select 3`.execute(store.read)
  assert.equal(counts.readers, 2)
})

test('a report that a person waits for opens its reader at once', async (t) => {
  const { store, counts } = await readers(t)
  await Promise.all([sql`select 1`.execute(store.interactive), sql`select 2`.execute(store.interactive)])
  assert.equal(counts.readers, 3)
})
