import pg from 'pg'
import { storable } from '../../lib/index.ts'
import { columnsOf, type SqlValue, type UpsertSpec } from '../store.ts'

/**
 * An upsert's rows as columns, sorted by key and each key once: PostgreSQL accepts no key twice in one statement, and two
 * transactions that lock rows in the same order cannot deadlock.
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

/** Where the rows start in `values`, sorted by key. They usually come sorted. */
function inKeyOrder(values: readonly SqlValue[], width: number, keys: number): number[] {
  const starts: number[] = []
  let isSorted = true
  for (let start = 0; start < values.length; start += width) {
    if (start > 0 && isSorted) isSorted = compareKeys(values, start - width, start, keys) <= 0
    starts.push(start)
  }
  return isSorted ? starts : starts.sort((a, b) => compareKeys(values, a, b, keys))
}

/** Compares by code units, whatever the database's collation: every process only has to use the same order. */
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
 * One statement that writes any number of rows, passed as one array per column.
 *
 * @param types PostgreSQL's name of each column's type, in the order of `columnsOf(spec)`
 */
export function upsertSql(spec: UpsertSpec, types: readonly string[]): string {
  const columns = columnsOf(spec)
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`)
  const conflict =
    spec.isNew === true ? '' : ` on conflict (${spec.keys.join(', ')}) do update set ${updates(spec).join(', ')}`
  return `insert into ${spec.table} (${columns.join(', ')}) select * from unnest(${arrays.join(', ')})${conflict}`
}

function updates({ table, keys, sums, maxima }: UpsertSpec): string[] {
  if (sums.length + maxima.length === 0) {
    // Changes nothing but locks the row until the transaction ends, which `do nothing` does not. The last key, because Citus
    // forbids setting the distribution column.
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
 * Parses bigint and numeric as JavaScript numbers: every stored number and every row count is below 2^53. (The driver returns
 * texts by default, for larger ones.)
 */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((id: number, format?: 'text' | 'binary') =>
    id === INT8 || id === NUMERIC ? Number : pg.types.getTypeParser(id, format)) as typeof pg.types.getTypeParser,
}

/** A parameter without characters that the engine cannot store. */
export const storableValue = <T>(value: T): T | string => (typeof value === 'string' ? storable(value) : value)

/** Values as PostgreSQL's array literal, for numeric columns. */
export const numbersLiteral = (values: readonly SqlValue[]): string =>
  `{${values.map((value) => value ?? 'null').join(',')}}`
