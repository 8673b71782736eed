import { type Kysely, sql } from 'kysely'
import { StartupError } from '../../lib/index.ts'
import type { Store, UpsertSpec } from '../store.ts'
import type { Tables } from '../tables.ts'
import {
  advance,
  beginProgress,
  type CopyProgress,
  endProgress,
  FIRST_ROWS,
  hasUnfinishedCopy,
  nameOf,
  readPage,
  readProgress,
  requireEmpty,
  rowsAfter,
  type TableProgress,
} from './progress.ts'
import { copiedTables, differences, rowsIn, type Tally, talliesOf } from './tables.ts'

/** Called with the number of rows in the target so far. */
export type RowsCopied = (rows: number) => void

export interface CopyOptions {
  /** An embedded store that no other process has open, with the schema of this program. */
  source: Store
  /** A PostgreSQL store with the schema of this program, on which no service runs. */
  target: Store
  /**
   * Runs the copy of `total` rows and shows its progress.
   *
   * @param already rows that an earlier run has copied
   */
  watch: (total: number, already: number, copy: (copied: RowsCopied) => Promise<void>) => Promise<void>
}

/**
 * Copies an embedded store into PostgreSQL and verifies the copy; the source stays unchanged. Returns each table's sums, which
 * are the same on both sides.
 *
 * It may be interrupted at any point, even by kill -9, and run again: each page of rows is one transaction, which also records
 * the last key in it, so exactly what is recorded is in the target. The record is deleted once everything is verified.
 *
 * @throws StartupError when the source is empty, the target holds something else, or the two differ at the end
 * @throws StoreError when a database fails; run again and the copy resumes
 */
export async function copyToPostgres({ source, target, watch }: CopyOptions): Promise<Tally[]> {
  const tables = await copiedTables(source.read)
  const tallies = await talliesOf(source.read, tables)
  const total = rowsIn(tallies)
  if (total === 0)
    throw new StartupError('the source holds nothing to copy: a new database needs only to be started on')
  const progress = await progressIn(target, tables, tallies)
  if (progress !== undefined) {
    const already = [...progress.values()].reduce((sum, { copied }) => sum + copied, 0)
    await watch(total, already, (copied) => copyTables({ source, target, tables, progress, copied }))
    requireSame(tallies, await talliesOf(target.admin, tables))
    // Until autovacuum runs, PostgreSQL plans as for empty tables: with 300,000 alerts a list of incidents took half a second.
    await sql`analyze ${sql.join(tables.map(({ table }) => sql.table(table)))}`.execute(target.admin)
  }
  await carryOnCounting(source.read, target.admin, tables)
  await carryOnListening(source.read, target.admin)
  if (progress !== undefined) await endProgress(target.admin)
  return tallies
}

/** Where the copy resumes; undefined when it was interrupted at its very end and everything is copied. */
async function progressIn(
  target: Store,
  tables: readonly UpsertSpec[],
  source: readonly Tally[],
): Promise<CopyProgress | undefined> {
  if (await hasUnfinishedCopy(target.admin)) return readProgress(target.admin, nameOf(source))
  const there = await talliesOf(target.admin, tables)
  if (differences(source, there).length === 0) return undefined
  requireEmpty(there)
  return beginProgress(target.admin, nameOf(source), tables)
}

interface TablesCopy {
  source: Store
  target: Store
  tables: readonly UpsertSpec[]
  progress: CopyProgress
  copied: RowsCopied
}

async function copyTables({ source, target, tables, progress, copied }: TablesCopy): Promise<void> {
  let done = 0
  for (const table of tables) {
    const from = progress.get(table.table) ?? { lastKey: null, copied: 0 }
    const before = done
    done += await copyTable(source, target, table, from, (rows) => copied(before + rows))
  }
}

/** @returns the number of the table's rows in the target */
async function copyTable(
  source: Store,
  target: Store,
  table: UpsertSpec,
  from: TableProgress,
  copied: RowsCopied,
): Promise<number> {
  let progress = from
  let page = await readPage(source.read, table, from.lastKey, FIRST_ROWS)
  while (page !== undefined) {
    const { query, after } = advance(target.write, table.table, progress, page)
    // Read the next page while this one is written.
    const [next] = await Promise.all([
      readPage(source.read, table, after.lastKey, rowsAfter(page)),
      target.batch([
        { kind: 'upsert', spec: table, values: page.values },
        { kind: 'statement', query, expectChanges: 1 },
      ]),
    ])
    progress = after
    copied(progress.copied)
    page = next
  }
  return progress.copied
}

function requireSame(source: readonly Tally[], target: readonly Tally[]): void {
  const lines = differences(source, target)
  if (lines.length === 0) return
  throw new StartupError(
    `the copy is not the same as the source, do not use it: ${lines.join('; ')}. ` +
      'Something else has written to the target: drop that database, create it again and rerun this command',
  )
}

/**
 * Copies the time since which no process accepts events, so that the time of the move does not count as a site's silence.
 * Overwrites what a service that once ran on the empty target has left there.
 */
async function carryOnListening(source: Kysely<Tables>, target: Kysely<Tables>): Promise<void> {
  const row = await source.selectFrom('listening').selectAll().executeTakeFirst()
  if (row === undefined) return
  await target
    .insertInto('listening')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}

/**
 * Continues the source's id sequences in the target, also past deleted rows: the number of a deleted site must never be assigned
 * again. SQLite keeps the highest in `sqlite_sequence`.
 */
async function carryOnCounting(
  source: Kysely<Tables>,
  target: Kysely<Tables>,
  tables: readonly UpsertSpec[],
): Promise<void> {
  const { rows } = await sql<{ name: string; highest: number }>`
    select name, seq as highest from sqlite_sequence where seq > 0`.execute(source)
  for (const { name, highest } of rows) {
    const [key] = tables.find(({ table }) => table === name)?.keys ?? []
    if (key === undefined) continue
    const highestCopied = sql`(select max(${sql.ref(key)}) from ${sql.table(name)})`
    await sql`select setval(pg_get_serial_sequence(${name}, ${key}),
      greatest(cast(${highest} as bigint), ${highestCopied}))`.execute(target)
  }
}
