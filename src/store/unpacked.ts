import { type Kysely, PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely'
import { SUM_PACKED } from './packed.ts'
import type { Tables } from './tables.ts'

/** Which packed counts to read. */
interface Packed {
  /** The column that holds them, as SQL. */
  column: RawBuilder<unknown>
  /** What each row's names and counts are called, in their order. */
  names: readonly string[]
  counts: readonly string[]
  /** The tables to read, joined. */
  tables: RawBuilder<unknown>
  where: RawBuilder<SqlBool>
  /** Further columns of the answer, by name, as SQL. */
  keys: Readonly<Record<string, RawBuilder<unknown>>>
  /** The smallest of these in what is summed, by name: an engine may sum before it answers. */
  minima: Readonly<Record<string, RawBuilder<unknown>>>
  /** Packed counts may be summed where these are the same: the keys, and whatever else the reader tells apart. */
  sumBy: readonly RawBuilder<unknown>[]
}

/**
 * A subquery, to follow `from`, that has a row for each name in packed counts, with their `keys` and `minima`.
 *
 * SQLite's JSON functions take three times as long as reading the same counts from rows of their own. So its connections sum the texts
 * in JavaScript first, which takes as long as the rows. (250 sites with 60 minutes of 20 tags: rows 123 ms, JSON functions 351 ms, this
 * 136 ms.)
 */
export function unpacked(db: Kysely<Tables>, packed: Packed): RawBuilder<unknown> {
  const { column, names, tables, where, keys, minima, sumBy } = packed
  const isPostgres = isOnPostgres(db)
  const places = sql.raw(placesOf(packed, isPostgres))
  if (isPostgres) {
    const others = Object.entries({ ...keys, ...minima }).map(([name, value]) => sql`${value} as ${sql.ref(name)}`)
    return sql`(select ${sql.join([...others, places])}
      from ${tables} cross join lateral jsonb_array_elements(${column}) as r(value) where ${where})`
  }
  const inner = [
    ...Object.entries(keys).map(([name, value]) => sql`${value} as ${sql.ref(name)}`),
    ...Object.entries(minima).map(([name, value]) => sql`min(${value}) as ${sql.ref(name)}`),
    sql`${sql.raw(SUM_PACKED)}(${sql.lit(names.length)}, ${column}) as packed_sums`,
  ]
  const others = Object.keys({ ...keys, ...minima }).map((name) => sql`${sql.ref(`g.${name}`)}`)
  return sql`(select ${sql.join([...others, places])}
    from (select ${sql.join(inner)} from ${tables} where ${where} and ${column} is not null
      group by ${sql.join(sumBy)}) as g, json_each(g.packed_sums) as r)`
}

/** The text that reads each name and count of a packed row `r`. Kept, because to compile some twenty columns takes longer than to run them. */
const placesByColumns = new Map<string, string>()

function placesOf({ names, counts }: Pick<Packed, 'names' | 'counts'>, isPostgres: boolean): string {
  const key = `${isPostgres} ${names.join()} ${counts.join()}`
  const known = placesByColumns.get(key)
  if (known !== undefined) return known
  const text = [
    ...names.map((name, place) => `r.value ->> ${place} as "${name}"`),
    ...counts.map((count, index) => {
      const value = `r.value ->> ${names.length + index}`
      return `coalesce(${isPostgres ? `(${value})::double precision` : value}, 0) as "${count}"`
    }),
  ].join(', ')
  placesByColumns.set(key, text)
  return text
}

/** How many rows a column's packed counts have, as SQL; null for null. */
export const packedLength = (db: Kysely<Tables>, column: RawBuilder<unknown>): RawBuilder<number> =>
  isOnPostgres(db) ? sql<number>`jsonb_array_length(${column})` : sql<number>`json_array_length(${column})`

export const isOnPostgres = (db: Kysely<Tables>): boolean => db.getExecutor().adapter instanceof PostgresAdapter
