import pg from 'pg'
import { storable } from '../../lib/index.ts'
import { columnsOf, type SqlValue, type UpsertSpec } from '../store.ts'

/**
 * The rows of an upsert, column by column, in the order of their keys and each key once: PostgreSQL takes no key twice in
 * one statement, and two transactions that lock rows in one order cannot deadlock.
 *
 * @param values rows one after the other, each in the order of `columnsOf(spec)`
 */
export function upsertColumns(spec: UpsertSpec, values: readonly SqlValue[]): SqlValue[][] {
  const width = columnsOf(spec).length
  const keys = spec.keys.length
  const starts = inKeyOrder(values, width, keys)
  const columns: SqlValue[][] = Array.from({ length: width }, () => [])
  let previous: number | undefined
  for (const start of starts) {
    if (previous !== undefined && compareKeys(values, previous, start, keys) === 0)
      mergeIntoLast(spec, columns, values, start)
    else for (let i = 0; i < width; i++) columns[i]?.push(values[start + i] ?? null)
    previous = start
  }
  return columns
}

/** Where the rows start in `values`, sorted by key. Most come sorted. */
function inKeyOrder(values: readonly SqlValue[], width: number, keys: number): number[] {
  const starts: number[] = []
  let isSorted = true
  for (let start = 0; start < values.length; start += width) {
    if (start > 0 && isSorted) isSorted = compareKeys(values, start - width, start, keys) <= 0
    starts.push(start)
  }
  return isSorted ? starts : starts.sort((a, b) => compareKeys(values, a, b, keys))
}

/** By code units, whatever the database's collation: all that counts is that every process has the same order. */
function compareKeys(values: readonly SqlValue[], a: number, b: number, keys: number): number {
  for (let i = 0; i < keys; i++) {
    const x = values[a + i] ?? ''
    const y = values[b + i] ?? ''
    if (x < y) return -1
    if (x > y) return 1
  }
  return 0
}

function mergeIntoLast(spec: UpsertSpec, columns: SqlValue[][], values: readonly SqlValue[], start: number): void {
  const sumsFrom = spec.keys.length
  const maximaFrom = sumsFrom + spec.sums.length
  const fixedFrom = maximaFrom + spec.maxima.length
  for (let i = sumsFrom; i < fixedFrom; i++) {
    const column = columns[i]
    if (column === undefined) continue
    const before = Number(column.at(-1) ?? 0)
    const value = Number(values[start + i] ?? 0)
    column[column.length - 1] = i < maximaFrom ? before + value : Math.max(before, value)
  }
}

/**
 * One statement that writes any number of rows: an array for each column.
 *
 * @param types PostgreSQL's name of each column's type, in the order of `columnsOf(spec)`
 */
export function upsertSql(spec: UpsertSpec, types: readonly string[]): string {
  const columns = columnsOf(spec)
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`)
  return (
    `insert into ${spec.table} (${columns.join(', ')}) select * from unnest(${arrays.join(', ')}) ` +
    `on conflict (${spec.keys.join(', ')}) do update set ${updates(spec).join(', ')}`
  )
}

function updates({ table, keys, sums, maxima }: UpsertSpec): string[] {
  if (sums.length + maxima.length === 0) {
    // Changes nothing, but locks the row until the transaction ends; `do nothing` would not. The last key, because Citus forbids
    // setting the column that a table is distributed by.
    const [key = ''] = keys.slice(-1)
    return [`${key} = excluded.${key}`]
  }
  return [
    ...sums.map((column) => `${column} = ${table}.${column} + excluded.${column}`),
    ...maxima.map((column) => `${column} = greatest(${table}.${column}, excluded.${column})`),
  ]
}

const { INT8, NUMERIC } = pg.types.builtins

/**
 * Whole and decimal numbers come back as JavaScript numbers: every one the program stores is below 2^53, and counts of rows
 * are too. (The driver's own way, a text, is for those that are not.)
 */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((id: number, format?: 'text' | 'binary') =>
    id === INT8 || id === NUMERIC ? Number : pg.types.getTypeParser(id, format)) as typeof pg.types.getTypeParser,
}

/** What is written, and what is asked for: texts without what the engine cannot hold. */
export const storableValue = <T>(value: T): T | string => (typeof value === 'string' ? storable(value) : value)

/** Values as PostgreSQL's array literal, for columns of numbers. */
export const numbersLiteral = (values: readonly SqlValue[]): string =>
  `{${values.map((value) => value ?? 'null').join(',')}}`
