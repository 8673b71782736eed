import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Store } from '../../src/store/index.ts'
import type { SiteKey } from '../../testkit/api.ts'
import { NOW, newClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { startTestService } from '../../testkit/service.ts'

interface Column {
  name: string
  type: string
  /** Whether it must be given. */
  notnull: number
}

const COLUMNS_OF_OWNERS = ['client_id', 'site_id', 'site_no']
/** Written by the interface: they come and go with the client or site itself. */
const OWNERS = ['clients', 'sites', 'site_removals']
/** Who deleted what stays to be read. */
const KEPT = ['audit_log']
/** Rows with a `site_no` are removed by a loop, later and in steps; each node deletes what it shares of its clients' demand. */
const isRemovedLater = (table: string, columns: readonly string[]) =>
  columns.includes('site_no') || table === 'client_demand'

const tablesOf = async ({ read }: Store): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(read)
  return rows.map(({ name }) => name)
}

const columnsOf = async ({ read }: Store, table: string): Promise<Column[]> =>
  (await sql<Column>`select name, type, "notnull" from pragma_table_info(${table})`.execute(read)).rows

/** Tables whose rows are of a client or a site, with their columns. */
async function ownedTables(store: Store): Promise<Map<string, Column[]>> {
  const owned = new Map<string, Column[]>()
  for (const table of await tablesOf(store)) {
    const columns = await columnsOf(store, table)
    const isOwned = columns.some(({ name }) => COLUMNS_OF_OWNERS.includes(name))
    if (isOwned && ![...OWNERS, ...KEPT].includes(table)) owned.set(table, columns)
  }
  return owned
}

/** A row of any table, with some value in each column, that says whose it is. */
async function insertRow({ write }: Store, table: string, columns: readonly Column[], site: SiteKey, siteNo: number) {
  const owner: Record<string, unknown> = { client_id: site.client_id, site_id: site.id, site_no: siteNo }
  const values = columns.map(
    ({ name, type }) => owner[name] ?? (type === 'text' ? `${table} of ${site.id}` : NOW + siteNo),
  )
  const names = columns.map(({ name }) => sql.ref(name))
  await sql`insert into ${sql.table(table)} (${sql.join(names)}) values (${sql.join(values)})`.execute(write)
}

test('nothing of a deleted client is left in any table, and everything of another is', async (t) => {
  const api = await startTestService(t, newClock())
  const { store } = api.service
  const [gone, kept] = [await api.newSite(await api.newClient()), await api.newSite(await api.newClient())]
  const tables = await ownedTables(store)
  assert.ok(tables.size > 10, `${[...tables.keys()]}`)
  for (const [siteNo, site] of [gone, kept].entries()) {
    for (const [table, columns] of tables) await insertRow(store, table, columns, site, siteNo + 1)
  }
  assert.equal((await api.call('DELETE', `/api/clients/${gone.client_id}`)).status, 204)
  assert.equal(
    (await api.ingest(gone, eventPayload({ timestamp_ms: NOW }))).status,
    401,
    'the keys of its sites are gone with the answer',
  )
  for (const [table, columns] of tables) {
    const names = columns.map(({ name }) => name)
    if (isRemovedLater(table, names)) continue
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(store.read)
    const texts = rows.map((row) => JSON.stringify(row))
    const has = (id: string) => texts.filter((text) => text.includes(id)).length
    assert.deepEqual(
      [has(gone.id) + has(gone.client_id), has(kept.id) > 0 || has(kept.client_id) > 0],
      [0, true],
      table,
    )
  }
  const removals = await store.read.selectFrom('site_removals').select('site_no').execute()
  assert.ok(
    removals.some(({ site_no }) => site_no === 1),
    JSON.stringify(removals),
  )
})
