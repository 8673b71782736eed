import { type RawBuilder, sql } from 'kysely'

/**
 * Sum of a column or an expression, 0 over no rows; what is null does not count. It adds up in floating point: a sender may
 * report counters up to 2^53 each, and a sum of whole numbers fails once it exceeds 64 bits. Exact up to 2^53.
 */
export const totalOf = (value: string | RawBuilder<number | null>): RawBuilder<number> =>
  sql<number>`coalesce(sum(cast(${typeof value === 'string' ? sql.ref(value) : value} as double precision)), 0)`

/**
 * A stored counter as it is read row by row. In floating point, as sums are: on SQLite a counter may have grown past 2^53, and
 * reading such a whole number is an error.
 */
export const countOf = (column: string): RawBuilder<number> => sql<number>`cast(${sql.ref(column)} as double precision)`

/** Far below what the engines take in one statement (SQLite 32,766 parameters, PostgreSQL 65,535). */
const ITEMS_PER_STATEMENT = 500

/** Cuts a list into parts that fit one statement each. */
export function chunksOf<T>(items: readonly T[]): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < items.length; start += ITEMS_PER_STATEMENT) {
    chunks.push(items.slice(start, start + ITEMS_PER_STATEMENT))
  }
  return chunks
}
