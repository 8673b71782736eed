import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { StartupError } from '../../src/lib/index.ts'
import { distributeTables, openPostgresStore, type Store } from '../../src/store/index.ts'
import { PLACEMENTS } from '../../src/store/postgres/citus-placements.ts'
import { testOnCitus } from '../../testkit/postgres/citus.ts'
import { createDatabase } from '../../testkit/postgres/databases.ts'

const NOTHING_TO_DO = ['nothing to do: every table is in its place']

async function plainStore(t: TestContext): Promise<Store> {
  const { url, drop } = await createDatabase()
  const store = await openPostgresStore({ url, readUrl: null, poolSize: 4, onError: () => undefined })
  t.after(() => store.close())
  t.after(drop)
  return store
}

test('without Citus on the server nothing is distributed, and the error says what is missing', async (t) => {
  const store = await plainStore(t)
  await assert.rejects(distributeTables(store.admin), (error) => {
    assert.ok(error instanceof StartupError)
    assert.match(error.message, /^Citus is not installed on this PostgreSQL server: .*shared_preload_libraries.*$/)
    return true
  })
})

test('every table of the schema has a place in a cluster, and one by a column starts its key with it', async (t) => {
  const store = await plainStore(t)
  const { rows } = await sql<{ name: string; key: string[] }>`
    select t.relname as name, array_agg(a.attname::text order by k.place) as key
    from pg_class t
    join pg_index i on i.indrelid = t.oid and i.indisprimary
    cross join lateral unnest(i.indkey::smallint[]) with ordinality as k (number, place)
    join pg_attribute a on a.attrelid = t.oid and a.attnum = k.number
    where t.relnamespace = current_schema()::regnamespace and t.relname not like 'kysely%'
    group by t.relname`.execute(store.read)
  assert.deepEqual(rows.map(({ name }) => name).sort(), Object.keys(PLACEMENTS).sort())
  const placements = new Map<string, string>(Object.entries(PLACEMENTS))
  for (const { name, key } of rows) {
    const [first, ...others] = key
    const placement = placements.get(name)
    if (placement === 'site_no' || placement === 'node_id') assert.equal(first, placement, name)
    else
      assert.ok(first !== 'site_no' || others.length === 0, `${name} is telemetry: it belongs to the node of its site`)
  }
})

testOnCitus('tables are distributed with their rows, each once, and no old copy is left', async (store) => {
  await addRows(store)
  const done = await distributeTables(store.admin)
  for (const [table, placement] of Object.entries(PLACEMENTS)) {
    const line = placement === 'everywhere' ? `${table}: copied to every node` : `${table}: distributed by ${placement}`
    assert.equal(done.includes(line), placement !== 'coordinator', table)
  }
  assert.equal(await rowsIn(store, 'dirty_buckets'), SITES)
  assert.equal(await rowsIn(store, 'sites'), SITES)
  assert.equal(await localBytes(store, 'dirty_buckets'), 0)
  assert.equal(await addSite(store, 'next'), SITES + 1, 'numbers are given out from where they had come to')
  assert.deepEqual(await distributeTables(store.admin), NOTHING_TO_DO)
})

testOnCitus('what an interrupted run left undone is done by the next, and nothing else', async (store) => {
  await addRows(store)
  await distributeTables(store.admin)
  // As after an end between two tables, and as after a migration that brought a new one.
  await sql`select undistribute_table('event_rollups')`.execute(store.admin)
  await sql`select undistribute_table('folds')`.execute(store.admin)
  // As after an end between moving a table's rows and removing the old ones.
  await sql`select undistribute_table('dirty_buckets')`.execute(store.admin)
  await sql`select create_distributed_table('dirty_buckets', 'site_no', colocate_with => 'tag_rollups')`.execute(
    store.admin,
  )
  assert.deepEqual(await distributeTables(store.admin), [
    'event_rollups: distributed by site_no',
    'folds: distributed by node_id',
    'dirty_buckets: the old copy on the coordinator is removed',
  ])
  assert.equal(await rowsIn(store, 'dirty_buckets'), SITES)
  assert.equal(await siteGroups(store), 1)
  assert.deepEqual(await distributeTables(store.admin), NOTHING_TO_DO)
})

testOnCitus('a table that was distributed otherwise by hand is not built upon', async (store) => {
  await sql`select create_distributed_table('rejections', 'site_no', colocate_with => 'none')`.execute(store.admin)
  await sql`select create_distributed_table('event_rollups', 'site_no', colocate_with => 'none')`.execute(store.admin)
  await assert.rejects(distributeTables(store.admin), (error) => {
    assert.ok(error instanceof StartupError)
    assert.match(error.message, /^rejections was distributed otherwise .*undistribute_table\('rejections'\)/)
    return true
  })
})

const SITES = 20

async function addRows(store: Store): Promise<void> {
  await sql`insert into clients (id, name, is_active, plan, created_at) values ('c', 'Client', 1, 'free', 0)`.execute(
    store.write,
  )
  for (let site = 1; site <= SITES; site++) await addSite(store, String(site))
  await sql`insert into dirty_buckets (site_no, grain, bucket) select site_no, 3600, 0 from sites`.execute(store.write)
}

/** Returns the site's number. */
async function addSite(store: Store, id: string): Promise<number | undefined> {
  const { rows } = await sql<{ site_no: number }>`
    insert into sites (id, client_id, name, url, ingest_key, is_active, timezone, created_at)
    values (${id}, 'c', 'Site', 'https://example.com', ${id}, 1, 'UTC', 0) returning site_no`.execute(store.write)
  return rows[0]?.site_no
}

/** Groups of tables whose rows of one site are together. */
async function siteGroups(store: Store): Promise<number | undefined> {
  const { rows } = await sql<{ groups: number }>`
    select count(distinct colocationid) as groups from pg_dist_partition
    where partmethod = 'h' and column_to_column_name(logicalrelid, partkey) = 'site_no'`.execute(store.admin)
  return rows[0]?.groups
}

async function rowsIn(store: Store, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(store.read)
  return rows[0]?.count ?? 0
}

/** Bytes of the table itself on the coordinator; distributed rows are in tables of their own. */
async function localBytes(store: Store, table: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select pg_relation_size(${table}::regclass) as bytes`.execute(
    store.read,
  )
  return rows[0]?.bytes ?? 0
}
