import { type Kysely, sql } from 'kysely'
import { totalOf } from '../sql.ts'
import type { UpsertSpec } from '../store.ts'
import type { Tables } from '../tables.ts'

/** Tables that are not copied, because they describe processes on the old store. All others are, also those that later migrations add. */
const NOT_COPIED: readonly (keyof Tables)[] = [
  'nodes',
  'leases',
  'client_demand',
  'write_checks',
  'clock_checks',
  'listening',
]

const IS_NUMBER: Readonly<Record<string, boolean>> = {
  integer: true,
  real: true,
  'double precision': true,
  text: false,
}

interface ColumnRow {
  table: string
  column: string
  type: string
  /** Position in the primary key, from 1; 0 when not part of it. */
  keyPosition: number
}

/**
 * The tables to copy from an embedded store, read from its schema: `keys` is the primary key, `sums` are the other numbers and
 * `fixed` the texts. In order of creation, so that rows come after those they refer to.
 */
export async function copiedTables(db: Kysely<Tables>): Promise<UpsertSpec[]> {
  const { rows } = await sql<ColumnRow>`
    select t.name as "table", c.name as "column", lower(c.type) as type, c.pk as "keyPosition"
    from sqlite_schema as t join pragma_table_info(t.name) as c
    where t.type = 'table' and substr(t.name, 1, 7) not in ('sqlite_', 'kysely_')
    order by t.rowid, c.cid`.execute(db)
  const columnsByTable = Map.groupBy(rows, ({ table }) => table)
  for (const table of NOT_COPIED) columnsByTable.delete(table)
  return [...columnsByTable].map(([table, columns]) => specOf(table, columns))
}

function specOf(table: string, columns: readonly ColumnRow[]): UpsertSpec {
  const keys = columns.filter(({ keyPosition }) => keyPosition > 0).sort((a, b) => a.keyPosition - b.keyPosition)
  if (keys.length === 0) throw new Error(`${table} has no primary key to copy it by`)
  const others = columns.filter(({ keyPosition }) => keyPosition === 0)
  const names = (chosen: readonly ColumnRow[]) => chosen.map(({ column }) => column)
  return {
    table: table as keyof Tables,
    keys: names(keys),
    sums: names(others.filter(isNumber)),
    maxima: [],
    fixed: names(others.filter((column) => !isNumber(column))),
  }
}

function isNumber({ table, column, type }: ColumnRow): boolean {
  const found = IS_NUMBER[type]
  if (found === undefined) throw new Error(`${table}.${column} has the type ${type}, which the copy does not know`)
  return found
}

/** A table's row count and sums: enough to tell a complete copy from one with missing or duplicate rows. */
export interface Tally {
  table: string
  rows: number
  /** By column, for every number outside the key. */
  sums: Record<string, number>
}

/** Above 2^53, and with decimals, a sum depends on the order of addition, by far less than this share of it. */
const ROUNDING = 1e-9

export async function talliesOf(db: Kysely<Tables>, tables: readonly UpsertSpec[]): Promise<Tally[]> {
  const tallies: Tally[] = []
  for (const table of tables) tallies.push(await tallyOf(db, table))
  return tallies
}

async function tallyOf(db: Kysely<Tables>, { table, sums }: UpsertSpec): Promise<Tally> {
  const counted = sql`count(*) as row_total`
  const totals = sums.map((column) => sql`${totalOf(column)} as ${sql.id(column)}`)
  const { rows } = await sql<Record<string, number>>`
    select ${sql.join([counted, ...totals])} from ${sql.table(table)}`.execute(db)
  const { row_total = 0, ...byColumn } = rows[0] ?? {}
  return { table, rows: row_total, sums: byColumn }
}

export const rowsIn = (tallies: readonly Tally[]): number => tallies.reduce((total, { rows }) => total + rows, 0)

/** One line for each difference between the two sides. */
export function differences(source: readonly Tally[], target: readonly Tally[]): string[] {
  return source.flatMap((here, index) => {
    const there = target[index]
    const rows = there?.rows ?? 0
    const lines = here.rows === rows ? [] : [`${here.table}: ${here.rows} rows in the source, ${rows} in the target`]
    for (const [column, sum] of Object.entries(here.sums)) {
      const other = there?.sums[column] ?? 0
      if (!isSameSum(sum, other)) {
        lines.push(`${here.table}.${column} adds up to ${sum} in the source, to ${other} in the target`)
      }
    }
    return lines
  })
}

function isSameSum(a: number, b: number): boolean {
  const isRounded = Math.min(a, b) > Number.MAX_SAFE_INTEGER || !Number.isInteger(a) || !Number.isInteger(b)
  return a === b || (isRounded && Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b)))
}
