import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { migrate, type Store } from '../../../src/store/index.ts'
import { migrations } from '../../../src/store/migrations/index.ts'
import type { Migration } from '../../../src/store/migrations/types.ts'
import { tempDir } from '../../../testkit/engines.ts'
import { startServerProcess } from '../../../testkit/processes/server-process.ts'
import { until } from '../../../testkit/until.ts'
import { newDatabase, openOn } from './support.ts'

const step = (name: string, ...statements: string[]): Migration => ({ name, statements: () => statements })
const names = (steps: readonly Migration[]) => steps.map(({ name }) => name)

async function stepsTaken(store: Store): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(store.read)
  return rows.map(({ name }) => name)
}

test('of ten stores that open an empty database at once one takes each step, and none fails', async (t) => {
  const url = await newDatabase(t, { isMigrated: false })
  const stores = await Promise.all(Array.from({ length: 10 }, () => openOn(t, url, { poolSize: 4 })))
  const taken = await Promise.all(stores.map((store) => migrate(store.admin, store.columnTypes)))
  assert.deepEqual(taken.flat().sort(), names(migrations))
  for (const store of stores) assert.deepEqual(await stepsTaken(store), names(migrations))
})

test('programs that start on an empty database at once all become ready', async (t) => {
  const url = await newDatabase(t, { isMigrated: false })
  const folder = await tempDir(t)
  const programs = await Promise.all([1, 2, 3].map(() => startServerProcess(t, folder, { DATABASE_URL: url })))
  for (const { url: address } of programs) assert.equal((await fetch(`${address}/ready`)).status, 200)
  assert.deepEqual(await Promise.all(programs.map((program) => program.end('SIGTERM'))), [0, 0, 0])
})

test('a step may take longer than any limit on statements', async (t) => {
  const url = await newDatabase(t)
  // One for the store's own pools, and one that the role has of its own.
  const store = await openOn(t, url, { limits: { statement: 100, report: 100, silence: 50 } })
  await sql`alter role current_user in database ${sql.id(new URL(url).pathname.slice(1))} set statement_timeout = 100`.execute(
    store.admin,
  )
  await store.close()
  const next = await openOn(t, url, { limits: { statement: 100, report: 100, silence: 50 } })
  const slow = step('9001-slow', 'select pg_sleep(0.6)', 'create table notes (id bigint primary key)')
  assert.deepEqual(await migrate(next.admin, next.columnTypes, [...migrations, slow]), [slow.name])
  assert.deepEqual(await stepsTaken(next), [...names(migrations), slow.name])
})

test('limits that an administrator sets for all sessions hold up neither stores that migrate at once nor what they do later', async (t) => {
  const url = await newDatabase(t, { isMigrated: false })
  const admin = await openOn(t, url)
  const database = sql.id(new URL(url).pathname.slice(1))
  for (const limit of ['lock_timeout = 1', 'transaction_timeout = 400', 'idle_session_timeout = 100']) {
    await sql`alter database ${database} set ${sql.raw(limit)}`.execute(admin.admin)
  }
  await sql`alter database ${database} set default_transaction_isolation = serializable`.execute(admin.admin)
  const slow = step('0000-slow', 'select pg_sleep(0.5)', 'create table notes (id bigint primary key)')
  const stores = await Promise.all([openOn(t, url), openOn(t, url)])
  const taken = await Promise.all(stores.map((store) => migrate(store.admin, store.columnTypes, [slow])))
  assert.deepEqual(taken.flat(), [slow.name])
  for (const { write, read, reports, interactive } of stores) {
    for (const db of [write, read, reports, interactive]) {
      const { rows } = await sql<{ isolation: string }>`
        select current_setting('transaction_isolation') as isolation`.execute(db)
      assert.deepEqual(rows, [{ isolation: 'read committed' }])
    }
  }
})

test('a store whose steps another one takes says that it waits', async (t) => {
  const url = await newDatabase(t)
  const [first, second] = [await openOn(t, url), await openOn(t, url)]
  const locking = step('9001-locking', 'lock table sites in access exclusive mode')
  const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = first.write.transaction().execute(async (trx) => {
    await sql`lock table sites in access exclusive mode`.execute(trx)
    locked.resolve()
    await held.promise
  })
  await locked.promise
  const taken = [first, second].map((store) =>
    migrate(store.admin, store.columnTypes, [...migrations, locking], { onWait: held.resolve, waitMs: 50 }),
  )
  await holding
  assert.deepEqual((await Promise.all(taken)).flat(), [locking.name])
})

test('journal rows are stored without being compressed', async (t) => {
  const store = await openOn(t, await newDatabase(t))
  const { rows } = await sql<{ storage: string }>`select attstorage as storage from pg_attribute
    where attrelid = 'journal'::regclass and attname = 'payload'`.execute(store.read)
  assert.deepEqual(rows, [{ storage: 'e' }])
})

test('a step waits for a session that uses its table without holding up the nodes that run', async (t) => {
  const url = await newDatabase(t)
  const [old, next] = [await openOn(t, url), await openOn(t, url)]
  const [reads, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  t.after(() => ended.resolve())
  // As pg_dump does, for hours.
  const dump = old.reports.transaction().execute(async (trx) => {
    await trx.selectFrom('sites').selectAll().execute()
    reads.resolve()
    await ended.promise
  })
  await reads.promise
  const steps = [step('9001-first', 'alter table sites add column one integer'), step('9002-second', 'select 1')]
  const begun: string[] = []
  let waited = 0
  const taking = migrate(next.admin, next.columnTypes, [...migrations, ...steps], {
    onStep: (name) => begun.push(name),
    onTablesInUse: () => waited++,
    tables: { waitMs: 20, pauseMs: 20 },
  })
  await until('the step has let go', () => (waited > 0 ? true : undefined))
  // Behind a step that waited all the time, these would wait for the dump as well.
  for (let n = 0; n < 5; n++) await old.read.selectFrom('sites').selectAll().execute()
  ended.resolve()
  await dump
  assert.deepEqual(await taking, names(steps))
  assert.deepEqual([begun, waited], [names(steps), 1])
})
