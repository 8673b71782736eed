import { type Kysely, sql } from 'kysely'
import { totalOf } from '../sql.ts'
import type { Tables } from '../tables.ts'
import type { UpsertSpec } from '../upsert.ts'

/** What a table adds up to: enough to distinguish a complete copy from one that lacks or doubles rows. */
export interface Tally {
  table: string
  rows: number
  /** By column: every number that is not part of the key. */
  sums: Record<string, number>
}

/** Above 2^53 a sum depends on the order it was added up in, by far less than this share of it. */
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

/** One line for each thing that is not the same on both sides. */
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
  if (a === b) return true
  return Math.min(a, b) > Number.MAX_SAFE_INTEGER && Math.abs(a - b) <= ROUNDING * Math.max(a, b)
}
