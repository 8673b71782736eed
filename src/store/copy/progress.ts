import { createHash } from 'node:crypto'
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import { StartupError } from '../../lib/index.ts'
import { columnsOf, type SqlValue, type UpsertSpec } from '../store.ts'
import type { Tables } from '../tables.ts'
import { rowsIn, type Tally } from './tables.ts'

/** Stands in the target from the first row copied until all are verified: one row for each table. */
type UnfinishedCopy = {
  table_name: string
  /** Says of which source, and of what state of it, this is the copy. */
  source: string
  /** JSON of the highest key copied; null = none yet. */
  last_key: string | null
  copied: number
}

type CopyTables = {
  unfinished_copy: UnfinishedCopy
}

const TABLE = 'unfinished_copy'

/** How far the copy of one table has come. */
export interface TableProgress {
  lastKey: readonly SqlValue[] | null
  copied: number
}

export type CopyProgress = ReadonlyMap<string, TableProgress>

/** What the source adds up to names it: another store, or the same one after it went on, adds up to something else. */
export const nameOf = (source: readonly Tally[]): string =>
  createHash('sha256').update(JSON.stringify(source)).digest('hex')

/** Whether the database holds a copy that was interrupted: no service may run on it. */
export async function hasUnfinishedCopy(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass(${TABLE}) is not null as found`.execute(db)
  return rows[0]?.found === true
}

/**
 * How far the copy in the target is.
 *
 * @throws StartupError when it is one of something else
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

/** Marks the empty target as the copy of this source. */
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
 * Records that a page was copied; belongs into the transaction that writes it. Changes one row, or none when another process has
 * copied in the meantime.
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

/** @throws StartupError when the target, which is no unfinished copy, holds anything */
export function requireEmpty(target: readonly Tally[]): void {
  if (rowsIn(target) === 0) return
  const held = target.filter(({ rows }) => rows > 0).map(({ table, rows }) => `${table} ${rows}`)
  throw new StartupError(
    `the target already holds data (rows: ${held.join(', ')}): a copy needs a database of its own, create an empty one`,
  )
}

/** Rows of a table in the order of its key. */
interface Page {
  rows: number
  /** Row after row, each in the order of `columnsOf(table)`. */
  values: SqlValue[]
  lastKey: readonly SqlValue[]
}

/** Length of a page, in characters and numbers: what two pages take in memory is nothing, a round trip is paid rarely. */
const PAGE_LENGTH = 1_000_000
const MAX_ROWS = 10_000
/** Before anything is known of a table's rows: those of the journal may have some hundred thousand characters each. */
export const FIRST_ROWS = 10

/**
 * The rows that follow `after`, a key or null for the beginning; undefined when there are none. The order is the source's own
 * (SQLite compares text by its bytes), so a key that was copied says what is left whatever order the target knows.
 */
export async function readPage(
  db: Kysely<Tables>,
  table: UpsertSpec,
  after: readonly SqlValue[] | null,
  limit: number,
): Promise<Page | undefined> {
  const columns = columnsOf(table)
  const counters = new Set(table.sums)
  // A counter may have grown past what a JavaScript number holds exactly; as a float it is what the target's column keeps.
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

/** How many rows the page after this one should have, if its rows are as long. */
export function rowsAfter({ rows, values }: Page): number {
  let length = 0
  for (const value of values) length += typeof value === 'string' ? value.length + 1 : 1
  return Math.max(1, Math.min(MAX_ROWS, Math.floor((PAGE_LENGTH * rows) / length)))
}
