import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { HOUR } from '../../src/lib/index.ts'
import {
  COUNT_COLUMNS,
  GRAIN,
  minuteCounts,
  NAME_COLUMNS,
  partsOf,
  type RollupTable,
  SECTIONS,
} from '../../src/rollups/index.ts'
import { countsIn } from '../../testkit/counts.ts'
import { openEmptyStore, sqlite, tempDir } from '../../testkit/engines.ts'
import { importSites } from '../../testkit/many-sites.ts'
import { openFolderWithoutThreads } from '../../testkit/sqlite.ts'
import { addMinutes, type MinuteCounts } from '../lib/counts.ts'
import { importHistory } from '../lib/history.ts'

const TABLES = Object.keys(SECTIONS) as RollupTable[]

test('the service reads the minutes that a bench writes with all names and counts', async (t) => {
  const store = await openEmptyStore(sqlite, t)
  const minute = 100 * HOUR
  const counts: MinuteCounts = Object.fromEntries(
    TABLES.map((table) => [
      table,
      ['first', '"second"'].map((name, row) => ({
        names: NAME_COLUMNS[table].map((column) => `${name} ${column}`),
        // Zeros at the end of some, which are not stored.
        counts: COUNT_COLUMNS[table].map((_, index) => (row === 1 && index > 0 ? 0 : 1 + index)),
      })),
    ]),
  )
  await store.batch([addMinutes(7, 'GTM-A', [[minute, counts]])])
  for (const table of TABLES) {
    const read = await store.read.selectFrom(countsIn(store.read, table)).selectAll().execute()
    const written = counts[table]?.map((row) => [...[7, minute, 'GTM-A'], ...row.names, ...row.counts])
    const columns = ['site_no', 'bucket', 'container_id', ...NAME_COLUMNS[table], ...COUNT_COLUMNS[table]]
    const found = read.map((row) => columns.map((column) => new Map(Object.entries(row)).get(column)))
    assert.deepEqual(found.sort(), written?.sort(), table)
  }
})

test('the past of a site has in its minutes what its hours say', async (t) => {
  const dataDir = await tempDir(t)
  await importSites(dataDir, 2)
  await importHistory(dataDir, () => {})
  const store = await openFolderWithoutThreads(dataDir)
  t.after(() => store.close())
  const sites = await store.read.selectFrom('sites').select('site_no').execute()
  for (const { site_no } of sites) {
    const parts = minuteCounts(store.read, 'tag_rollups', partsOf(site_no, 0, Date.now()))
    const { rows } = await sql<{ hour: number; total: number }>`
      select bucket - bucket % ${HOUR} as hour, sum(executions) as total from ${parts} as m group by 1`.execute(
      store.read,
    )
    const minutes = new Map(rows.map(({ hour, total }) => [hour, total]))
    const inRows = await store.read
      .selectFrom('tag_rollups')
      .select(['bucket', (eb) => eb.fn.sum<number>('executions').as('total')])
      .where('site_no', '=', site_no)
      .where('grain', '=', GRAIN.hour)
      .groupBy('bucket')
      .execute()
    const hours = new Map(inRows.map(({ bucket, total }) => [bucket, total]))
    assert.ok(minutes.size >= 24, `${minutes.size} hours of minutes`)
    for (const [hour, total] of minutes) assert.equal(total, hours.get(hour), `hour ${hour} of site ${site_no}`)
  }
})
