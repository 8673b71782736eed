import { createHash } from 'node:crypto'
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import { StartupError } from '../../lib/index.ts'
import { columnsOf, type SqlValue, type UpsertSpec } from '../store.ts'
import type { Tables } from '../tables.ts'
import { rowsIn, type Tally } from './tables.ts'

/** Exists in the target from the first copied row until everything is verified; one row per table. */
type UnfinishedCopy = {
  table_name: string
  /** Identifies the source and its state, see `nameOf`. */
  source: string
  /** JSON of the highest key copied; null before the first. */
  last_key: string | null
  copied: number
}

type CopyTables = {
  unfinished_copy: UnfinishedCopy
}

const TABLE = 'unfinished_copy'

/** How much of one table is copied. */
export interface TableProgress {
  lastKey: readonly SqlValue[] | null
  copied: number
}

export type CopyProgress = ReadonlyMap<string, TableProgress>

/** Identifies the source by a hash of its sums: another store, or this one after further writes, has others. */
export const nameOf = (source: readonly Tally[]): string =>
  createHash('sha256').update(JSON.stringify(source)).digest('hex')

/** Whether the database holds an interrupted copy: no service may run on it. */
export async function hasUnfinishedCopy(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass(${TABLE}) is not null as found`.execute(db)
  return rows[0]?.found === true
}

/**
 * The progress of the copy in the target.
 *
 * @throws StartupError when it is a copy of something else
 */
export async function readProgress(db: Kysely<Tables>, source: string): Promise<CopyProgress> {
  const rows = await db.withTables<CopyTables>().selectFrom(TABLE).selectAll().execute()
  if (rows.some((row) => row.source !== source)) {
    throw new StartupError(
      'the target holds the unfinished copy of another store, or of this one before it was changed again: ' +
        'drop that database, create it again and rerun this command',
    )
  }
  return new Map(
    rows.map(({ table_name, last_key, copied }) => [
      table_name,
      { lastKey: last_key === null ? null : (JSON.parse(last_key) as SqlValue[]), copied },
    ]),
  )
}

/** Marks the empty target as a copy of this source. */
export async function beginProgress(
  db: Kysely<Tables>,
  source: string,
  tables: readonly UpsertSpec[],
): Promise<CopyProgress> {
  await db
    .withTables<CopyTables>()
    .transaction()
    .execute(async (trx) => {
      await trx.schema
        .createTable(TABLE)
        .addColumn('table_name', 'text', (column) => column.primaryKey())
        .addColumn('source', 'text', (column) => column.notNull())
        .addColumn('last_key', 'text')
        .addColumn('copied', 'bigint', (column) => column.notNull())
        .execute()
      const rows = tables.map(({ table }) => ({ table_name: table, source, last_key: null, copied: 0 }))
      await trx.insertInto(TABLE).values(rows).execute()
    })
  return new Map(tables.map(({ table }) => [table, { lastKey: null, copied: 0 }]))
}

/**
 * Records that a page was copied; run it in the transaction that writes the page. Changes one row, or none when another process
 * has copied meanwhile.
 */
export const advance = (
  db: Kysely<Tables>,
  table: string,
  before: TableProgress,
  page: Page,
): { query: CompiledQuery; after: TableProgress } => {
  const after = { lastKey: page.lastKey, copied: before.copied + page.rows }
  const query = db
    .withTables<CopyTables>()
    .updateTable(TABLE)
    .set({ last_key: JSON.stringify(after.lastKey), copied: after.copied })
    .where('table_name', '=', table)
    .where('copied', '=', before.copied)
    .compile()
  return { query, after }
}

export async function endProgress(db: Kysely<Tables>): Promise<void> {
  await db.schema.dropTable(TABLE).execute()
}

/** @throws StartupError when the target, which is not an unfinished copy, holds anything */
export function requireEmpty(target: readonly Tally[]): void {
  if (rowsIn(target) === 0) return
  const held = target.filter(({ rows }) => rows > 0).map(({ table, rows }) => `${table} ${rows}`)
  throw new StartupError(
    `the target already holds data (rows: ${held.join(', ')}): a copy needs an empty database of its own: create one`,
  )
}

/** Consecutive rows of a table, in the order of its key. */
interface Page {
  rows: number
  /** Row after row, each in the order of `columnsOf(table)`. */
  values: SqlValue[]
  lastKey: readonly SqlValue[]
}

/** Length of a page, in characters and numbers: two pages take little memory, and round trips are few. */
const PAGE_LENGTH = 1_000_000
const MAX_ROWS = 10_000
/** Rows in the first page, before their length is known: rows of the journal may have some hundred thousand characters each. */
export const FIRST_ROWS = 10

/**
 * The rows that follow the key `after`, or the first ones when it is null; undefined when there are none. Keys are ordered by the
 * source (SQLite compares text by bytes), so the last copied key tells what is left, whatever the target's collation.
 */
export async function readPage(
  db: Kysely<Tables>,
  table: UpsertSpec,
  after: readonly SqlValue[] | null,
  limit: number,
): Promise<Page | undefined> {
  const columns = columnsOf(table)
  const counters = new Set(table.sums)
  // A counter may exceed the integers that JavaScript holds exactly; as a float it is what the target's column stores anyway.
  const selected = columns.map((column) =>
    counters.has(column)
      ? sql`cast(${sql.ref(column)} as double precision) as ${sql.id(column)}`
      : sql`${sql.ref(column)}`,
  )
  const keys = sql.join(table.keys.map((key) => sql.ref(key)))
  const follows = after === null ? sql`` : sql`where (${keys}) > (${sql.join(after)})`
  const { rows } = await sql<Record<string, SqlValue>>`
    select ${sql.join(selected)} from ${sql.table(table.table)} ${follows} order by ${keys} limit ${limit}`.execute(db)
  const last = rows.at(-1)
  if (last === undefined) return undefined
  const values: SqlValue[] = []
  for (const row of rows) for (const column of columns) values.push(row[column] ?? null)
  return {
    rows: rows.length,
    values,
    lastKey: table.keys.map((key) => last[key] ?? null),
  }
}

/** How many rows the next page should have if its rows are as long as this one's. */
export function rowsAfter({ rows, values }: Page): number {
  let length = 0
  for (const value of values) length += typeof value === 'string' ? value.length + 1 : 1
  return Math.max(1, Math.min(MAX_ROWS, Math.floor((PAGE_LENGTH * rows) / length)))
}
