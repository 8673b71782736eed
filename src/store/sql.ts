import { type RawBuilder, sql } from 'kysely'

/**
 * Sum of a column or an expression, 0 over no rows; what is null does not count. `total` adds up in floating point: a
 * sender may report counters up to 2^53 each, and `sum` fails once they exceed 64 bits. Exact up to 2^53.
 */
export const totalOf = (value: string | RawBuilder<number | null>): RawBuilder<number> =>
  sql<number>`total(${typeof value === 'string' ? sql.ref(value) : value})`
