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
  const { column, tables, where, keys, minima } = packed
  const isPostgres = isOnPostgres(db)
  const places = sql.raw(placesOf(packed, isPostgres))
  if (isPostgres) {
    return sql`(select ${sql.join([...named({ ...keys, ...minima }), places])}
      from ${tables} cross join lateral jsonb_array_elements(${column}) as r(value) where ${where})`
  }
  const others = Object.keys({ ...keys, ...minima }).map((name) => sql`${sql.ref(`g.${name}`)}`)
  return sql`(select ${sql.join([...others, places])} from ${summed(packed)} as g, json_each(g.packed_sums) as r)`
}

/**
 * A subquery for SQLite, to follow `from`: packed counts, summed where `sumBy` is the same, as `packed_sums` with their `keys` and `minima`. A
 * reader that parses these itself takes half as long as one of `unpacked`. PostgreSQL has to make text of its JSON first: a reader would save
 * it little, and take three times as long itself.
 */
export function summed({
  column,
  names,
  tables,
  where,
  keys,
  minima,
  sumBy,
}: Omit<Packed, 'counts'>): RawBuilder<unknown> {
  const smallest = Object.entries(minima).map(([name, value]) => [name, sql`min(${value})`])
  const sums = sql`${sql.raw(SUM_PACKED)}(${sql.lit(names.length)}, ${column}) as packed_sums`
  return sql`(select ${sql.join([...named({ ...keys, ...Object.fromEntries(smallest) }), sums])}
    from ${tables} where ${where} and ${column} is not null group by ${sql.join(sumBy)})`
}

const named = (values: Readonly<Record<string, RawBuilder<unknown>>>): RawBuilder<unknown>[] =>
  Object.entries(values).map(([name, value]) => sql`${value} as ${sql.ref(name)}`)

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
