import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'
import { columnsOf, type SqlValue, type UpsertSpec } from '../upsert.ts'

/** Rows of a table in the order of its key. */
export interface Page {
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
