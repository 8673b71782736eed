import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type CompiledQuery, sql } from 'kysely'
import {
  connectWithoutThread,
  migrate,
  openSqliteStore,
  type Store,
  StoreError,
  sqlitePath,
} from '../../src/store/index.ts'
import { tempDir } from '../../testkit/engines.ts'

async function open(t: TestContext): Promise<{ store: Store; path: string }> {
  const dataDir = await tempDir(t)
  const store = await openSqliteStore(dataDir)
  t.after(() => store.close())
  await migrate(store.write, store.columnTypes)
  return { store, path: sqlitePath(dataDir) }
}

const ofKind = (kind: StoreError['kind']) => (error: unknown) => {
  assert.ok(error instanceof StoreError)
  assert.equal(error.kind, kind)
  return true
}

/** Writes the journal's one row, again and again. */
const journalRow = (store: Store, payload: string): CompiledQuery =>
  store.write
    .insertInto('journal')
    .values({ node_id: 'n', seq: 1, written_at: 0, payload })
    .onConflict((conflict) => conflict.columns(['node_id', 'seq']).doUpdateSet({ payload }))
    .compile()

test('commits are durable and foreign keys hold on the connection that writes', async (t) => {
  const { store } = await open(t)
  const setting = async (name: string) =>
    Object.values((await sql.raw(`pragma ${name}`).execute(store.write)).rows[0] ?? {})
  assert.deepEqual(await setting('journal_mode'), ['wal'])
  assert.deepEqual(await setting('synchronous'), [2])
  assert.deepEqual(await setting('foreign_keys'), [1])
})

/** The setting under which `write` ran a statement: 1 for commits that do not wait for the disk, 2 for those that do. */
async function syncedBy(store: Store, write: (query: CompiledQuery) => Promise<unknown>): Promise<string | undefined> {
  const setting = sql<string>`(select synchronous from pragma_synchronous)`
  await write(store.write.updateTable('journal').set({ payload: setting }).compile())
  return (await store.read.selectFrom('journal').select('payload').executeTakeFirst())?.payload
}

test('a repeatable batch does not wait for the disk, and whatever follows it does', async (t) => {
  const { store } = await open(t)
  const noted = (write: (query: CompiledQuery) => Promise<unknown>) => syncedBy(store, write)
  const repeatable = (query: CompiledQuery) => store.batch([{ kind: 'statement', query }], { isRepeatable: true })
  await repeatable(journalRow(store, ''))
  const [normal, full] = ['1', '2']
  assert.equal(await noted(repeatable), normal)
  assert.equal(await noted((query) => store.batch([{ kind: 'statement', query }])), full)
  assert.equal(await noted(repeatable), normal)
  assert.equal(await noted((query) => store.write.executeQuery(query)), full)
  assert.equal(await noted(repeatable), normal)
  await assert.rejects(store.batch([{ kind: 'statement', query: sql`nonsense`.compile(store.write) }]))
  assert.equal(await noted((query) => store.write.transaction().execute((trx) => trx.executeQuery(query))), full)
})

test('no commit of a store that is filled again after a power failure waits for the disk', async (t) => {
  const store = await openSqliteStore(await tempDir(t), {
    connect: (options) => connectWithoutThread({ ...options, isRepeatable: true }),
  })
  t.after(() => store.close())
  await migrate(store.write, store.columnTypes)
  const batch = (query: CompiledQuery, isRepeatable: boolean) =>
    store.batch([{ kind: 'statement', query }], { isRepeatable })
  await batch(journalRow(store, ''), true)
  const normal = '1'
  assert.equal(await syncedBy(store, (query) => store.write.executeQuery(query)), normal)
  assert.equal(await syncedBy(store, (query) => batch(query, false)), normal)
})

test('a full database refuses writes as full, keeps what it had, and goes on when there is room', async (t) => {
  const { store } = await open(t)
  await store.batch([{ kind: 'statement', query: journalRow(store, 'before') }])
  const limit = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(store.write)
  // SQLite takes the present size when the limit is below it: from here on not one page more.
  await limit(1)
  const large = journalRow(store, 'x'.repeat(100_000))
  await assert.rejects(store.batch([{ kind: 'statement', query: large }]), ofKind('full'))
  const transaction = store.write.transaction().execute((trx) => trx.executeQuery(large))
  await assert.rejects(transaction, ofKind('full'))
  assert.deepEqual(await store.read.selectFrom('journal').select('payload').execute(), [{ payload: 'before' }])

  await limit(10_000)
  await store.batch([{ kind: 'statement', query: large }])
})

test('a lock that another program holds is reported as busy, and writes go on when it is gone', async (t) => {
  const { store, path } = await open(t)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  other.exec('begin immediate')
  const row = journalRow(store, 'x')
  await assert.rejects(store.batch([{ kind: 'statement', query: row }]), ofKind('busy'))
  await assert.rejects(
    store.write.transaction().execute((trx) => trx.executeQuery(row)),
    ofKind('busy'),
  )
  assert.deepEqual(await store.read.selectFrom('journal').selectAll().execute(), [])
  other.exec('rollback')
  await store.batch([{ kind: 'statement', query: row }])
})

test('the write-ahead log does not grow for ever under writes that never pause', async (t) => {
  const { store, path } = await open(t)
  const logBytes = async () => (await stat(`${path}-wal`)).size
  const size = 16_384
  // A log that never starts over is as long as all that was ever written.
  for (let written = 0; written < 8_000_000 || written < 3 * (await logBytes()); written += size) {
    assert.ok(written < 400_000_000, `after ${written} bytes the log has ${await logBytes()}`)
    // Another text each time: SQLite writes no page that stays as it was.
    const text = String.fromCharCode(97 + ((written / size) % 26)).repeat(size)
    await store.batch([{ kind: 'statement', query: journalRow(store, text) }])
  }
})

test('closing moves the write-ahead log into the database file', async (t) => {
  const dataDir = await tempDir(t)
  const store = await openSqliteStore(dataDir)
  await migrate(store.write, store.columnTypes)
  await store.batch([{ kind: 'statement', query: journalRow(store, 'kept') }])
  await store.close()
  await assert.rejects(stat(`${sqlitePath(dataDir)}-wal`), { code: 'ENOENT' })
  const file = new DatabaseSync(sqlitePath(dataDir), { readOnly: true })
  t.after(() => file.close())
  assert.deepEqual({ ...file.prepare('select payload from journal').get() }, { payload: 'kept' })
})
