import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { StartupError } from '../../src/lib/index.ts'
import { migrate, migrationState, type Store } from '../../src/store/index.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import type { Migration } from '../../src/store/migrations/types.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'

const step = (name: string, ...statements: string[]): Migration => ({ name, statements: () => statements })
const FIRST = step('9001-first', 'create table notes (id integer primary key)')
const SECOND = step('9002-second', 'alter table notes add column body text')
const BROKEN = step(
  '9002-second',
  'create table half (id integer primary key)',
  'alter table nowhere add column x text',
)

const take = (store: Store, ...steps: Migration[]) => migrate(store.write, store.columnTypes, [...migrations, ...steps])

async function tableNames(store: Store): Promise<string[]> {
  const tables = await store.write.introspection.getTables()
  return tables.map((table) => table.name)
}

testOnEveryEngine('steps are taken in order and once, and each is named as it begins', async (store) => {
  const steps = [...migrations, FIRST, SECOND]
  const begun: string[] = []
  const taken = await migrate(store.write, store.columnTypes, steps, { onStep: (name) => begun.push(name) })
  assert.deepEqual(
    [taken, begun],
    [
      [FIRST.name, SECOND.name],
      [FIRST.name, SECOND.name],
    ],
  )
  assert.deepEqual(await take(store, FIRST, SECOND), [])
  await sql`insert into notes (id, body) values (1, 'kept')`.execute(store.write)
  assert.deepEqual(await migrationState(store.read, [...migrations, FIRST, SECOND]), {
    taken: [...migrations.map(({ name }) => name), FIRST.name, SECOND.name],
    pending: [],
    unknown: [],
  })
})

testOnEveryEngine('a step that fails leaves nothing of itself, and the steps before it stay', async (store) => {
  await assert.rejects(take(store, FIRST, BROKEN), (error) => {
    assert.ok(error instanceof StartupError)
    assert.match(error.message, /^migration 9002-second failed: .*nowhere/)
    return true
  })
  const tables = await tableNames(store)
  assert.ok(tables.includes('notes'))
  assert.ok(!tables.includes('half'))
  const { taken, pending } = await migrationState(store.read, [...migrations, FIRST, SECOND])
  assert.deepEqual([taken.at(-1), pending], [FIRST.name, [SECOND.name]])
})

testOnEveryEngine('a repaired step is taken at the next start', async (store) => {
  await assert.rejects(take(store, FIRST, BROKEN), StartupError)
  assert.deepEqual(await take(store, FIRST, SECOND), [SECOND.name])
})

testOnEveryEngine('a database that is newer than the program is refused by the names of its steps', async (store) => {
  await take(store, FIRST, SECOND)
  const before = await tableNames(store)
  await assert.rejects(take(store), (error) => {
    assert.ok(error instanceof StartupError)
    assert.equal(
      error.message,
      'the database is newer than this version (it has applied 9001-first, 9002-second): start a newer Tagwarden on it',
    )
    return true
  })
  assert.deepEqual(await tableNames(store), before)
})
