import { type RawBuilder, sql } from 'kysely'

/**
 * Sum of a column or an expression, 0 over no rows; what is null does not count. It adds up in floating point: a sender may
 * report counters up to 2^53 each, and a sum of whole numbers fails once it exceeds 64 bits. Exact up to 2^53.
 */
export const totalOf = (value: string | RawBuilder<number | null>): RawBuilder<number> =>
  sql<number>`coalesce(sum(cast(${typeof value === 'string' ? sql.ref(value) : value} as double precision)), 0)`
