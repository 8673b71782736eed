import type { Tables } from './tables.ts'

/** A value as it crosses to the engine. */
export type SqlValue = string | number | null

type ColumnOf<T extends keyof Tables> = keyof Tables[T] & string

/**
 * A bulk write that adds to existing rows: rows meet on their keys, `sums` are added up, `maxima` keep the larger value, `fixed`
 * keeps the value of the first row. With neither sums nor maxima, an existing row stays as it is; an engine with several writers
 * must still lock it until the transaction ends, because dirty buckets of the roll-up rely on it.
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
