import type { Tables } from './tables.ts'

/** A value as it crosses to the engine. */
export type SqlValue = string | number | null

type ColumnOf<T extends keyof Tables> = keyof Tables[T] & string

/**
 * A bulk write that adds to what stands there: rows meet on their keys, `sums` are added up, `maxima` keep the larger
 * value, `fixed` keeps what the first row said. With neither sums nor maxima, a row that is there stays as it is; an engine
 * with several writers has to lock it until the transaction ends all the same, because roll-up marks count on it.
 */
export interface UpsertSpec {
  table: keyof Tables
  keys: readonly string[]
  sums: readonly string[]
  maxima: readonly string[]
  fixed: readonly string[]
}

/** An `UpsertSpec` whose column names are checked against the table. */
export function upsertInto<T extends keyof Tables>(
  table: T,
  columns: {
    keys: readonly ColumnOf<T>[]
    sums?: readonly ColumnOf<T>[]
    maxima?: readonly ColumnOf<T>[]
    fixed?: readonly ColumnOf<T>[]
  },
): UpsertSpec {
  const { keys, sums = [], maxima = [], fixed = [] } = columns
  return { table, keys, sums, maxima, fixed }
}

/** The order in which a row's values follow each other. */
export const columnsOf = (spec: UpsertSpec): string[] => [...spec.keys, ...spec.sums, ...spec.maxima, ...spec.fixed]
