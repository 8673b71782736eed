import { setTimeout } from 'node:timers/promises'
import { type RawBuilder, sql, type Transaction } from 'kysely'
import { asError } from '../lib/index.ts'
import { isPassing, type Store, StoreError } from './store.ts'
import type { Tables } from './tables.ts'

/**
 * Sum of a column or an expression; nulls do not count, and no rows give 0. Computed in floating point: a sender may report
 * counters up to 2^53 each, and an integer sum fails once it exceeds 64 bits. Exact up to 2^53.
 */
export const totalOf = (value: string | RawBuilder<number | null>): RawBuilder<number> =>
  sql<number>`coalesce(sum(cast(${typeof value === 'string' ? sql.ref(value) : value} as double precision)), 0)`

/**
 * A stored counter, read row by row. In floating point like sums: on SQLite a counter may exceed 2^53, and reading such an
 * integer is an error.
 */
export const countOf = (column: string): RawBuilder<number> => sql<number>`cast(${sql.ref(column)} as double precision)`

/**
 * Lets one transaction at a time, on all nodes, pass with this text, until it ends. On SQLite one transaction writes at a time anyway.
 */
export async function lockText(
  trx: Transaction<Tables>,
  { isShared }: Pick<Store, 'isShared'>,
  text: string,
): Promise<void> {
  if (isShared) await sql`select pg_advisory_xact_lock(hashtextextended(${text}, 0))`.execute(trx)
}

/** Far below the engines' limits of parameters per statement (SQLite 32,766, PostgreSQL 65,535). */
const ITEMS_PER_STATEMENT = 500

/** Splits a list into parts that fit one statement each. */
export function chunksOf<T>(items: readonly T[]): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < items.length; start += ITEMS_PER_STATEMENT) {
    chunks.push(items.slice(start, start + ITEMS_PER_STATEMENT))
  }
  return chunks
}

/**
 * Does the work for each item. One item's failure does not stop the others.
 *
 * @param work returns false to stop
 * @throws the first failure, after all items; at once when the store as a whole is unavailable, full or closed
 */
export async function attemptEach<T>(items: Iterable<T>, work: (item: T) => Promise<boolean>): Promise<void> {
  let failure: Error | undefined
  for (const item of items) {
    try {
      if (!(await work(item))) break
    } catch (thrown) {
      if (isUnavailable(thrown)) throw thrown
      failure ??= asError(thrown)
    }
  }
  if (failure !== undefined) throw failure
}

/** Whether the next item would fail in the same way. `busy` concerns only this item's rows. */
const isUnavailable = (thrown: unknown): boolean =>
  isPassing(thrown) && !(thrown instanceof StoreError && thrown.kind === 'busy')

/**
 * Repeats a step while it returns that there is more. Returns false when `shouldContinue` ended it early. After each step it
 * rests for as long as the step took: while a million old messages were deleted without a pause, ingest requests waited up to 0.4
 * s for the writer and the disk.
 */
export async function untilDone(step: () => Promise<boolean>, shouldContinue: () => boolean): Promise<boolean> {
  while (shouldContinue()) {
    const began = performance.now()
    if (!(await step())) return true
    await setTimeout(performance.now() - began)
  }
  return false
}

/**
 * A text column as an expression that no index covers, with null as ''. For conditions beside others that select fewer rows: the
 * index by client or site would read everything it ever had.
 */
export const unindexed = (column: string): RawBuilder<string> => sql<string>`coalesce(${sql.ref(column)}, '')`
