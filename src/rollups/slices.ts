import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { DAY, HOUR } from '../lib/index.ts'
import { type Kysely, packedLength, type Store, type Tables } from '../store/index.ts'
import { boundOnce } from './bound.ts'
import { COUNT_COLUMNS, GRAIN, MINUTE_TABLES, NAME_COLUMNS, type RollupTable } from './columns.ts'
import { partCounts, partsOf, SECTIONS } from './minute-parts.ts'

export interface Bucket {
  siteNo: number
  /** Its start, epoch ms. */
  bucket: number
}

export interface DirtyBucket extends Bucket {
  timezone: string
  /** The value of `writes` when the bucket was read, see `oneWrite`. */
  writes: number
  /** Minute rows of hours that start before this are deleted, epoch ms. */
  minutesGoneBefore: number
}

/** Which rows are summed into which. */
export interface RollUpLevel {
  tables: readonly RollupTable[]
  from: number
  to: number
  span: number
  /** Whether parts of minutes are summed as well. */
  hasParts: boolean
}

export const HOURS: RollUpLevel = {
  tables: MINUTE_TABLES,
  from: GRAIN.minute,
  to: GRAIN.hour,
  span: HOUR,
  hasParts: true,
}
export const DAYS: RollUpLevel = {
  tables: [...MINUTE_TABLES, 'event_tag_rollups'],
  from: GRAIN.hour,
  to: GRAIN.day,
  span: DAY,
  hasParts: false,
}

/** Part of a bucket's rows in one table: a range of containers, or of names in one container, in the database's collation. */
export interface Slice {
  table: RollupTable
  within: RawBuilder<SqlBool>
}

const EVERYTHING = sql<SqlBool>`1 = 1`

export const wholeTable = (table: RollupTable): Slice => ({ table, within: EVERYTHING })

export const isWhole = ({ within }: Slice): boolean => within === EVERYTHING

/**
 * The tables with rows of the bucket, or undefined when there are more than `rowsAtOnce`. For most senders half of the tables are
 * empty. As finer rows are never deleted before the bucket is derived, an empty table has no derived rows to update either.
 */
export async function filledTables(
  store: Store,
  level: RollUpLevel,
  dirty: Bucket,
  rowsAtOnce: number,
): Promise<readonly RollupTable[] | undefined> {
  const names = ['siteNo', 'from', 'to', 'limit'] as const
  const query = boundOnce(store.read, `filled ${level.to} ${level.hasParts}`, names, ({ siteNo, from, to, limit }) => {
    const counts = level.tables.flatMap((table) => {
      const some = sql`select 1 from ${sql.table(table)} where ${rowsOf(level.from, siteNo, from, to)} limit ${limit}`
      const rows = sql`select ${sql.lit(table)} as table_name, count(*) as rows from (${some}) as finer`
      if (!level.hasParts) return [rows]
      const packed = packedLength(store.read, sql.ref(`p.${SECTIONS[table]}`))
      const parts = sql`select ${sql.lit(table)} as table_name, coalesce(sum(${packed}), 0) as rows
        from minute_parts p where ${partsOf(siteNo, from, to)}`
      return [rows, parts]
    })
    // One statement, because for a bucket with few rows the round trip costs more than counting them.
    return sql`${sql.join(counts, sql` union all `)}`.compile(store.read)
  })
  const { rows } = await store.read.executeQuery<{ table_name: string; rows: number }>(
    query({ ...rangeOf(level, dirty), limit: rowsAtOnce + 1 }),
  )
  if (rows.reduce((sum, ofTable) => sum + Number(ofTable.rows), 0) > rowsAtOnce) return undefined
  const filled = new Set(rows.flatMap(({ table_name, rows: count }) => (Number(count) > 0 ? [table_name] : [])))
  return level.tables.filter((table) => filled.has(table))
}

/** The rows that a bucket is derived from. */
export function finer(level: RollUpLevel, dirty: Bucket): RawBuilder<SqlBool> {
  const { siteNo, from, to } = rangeOf(level, dirty)
  return rowsOf(level.from, siteNo, from, to)
}

/** What a site's coarser rows for [from, to) are summed from, as a subquery to follow `from`: rows, and parts where there are any. */
export function finerCounts(
  db: Kysely<Tables>,
  { from: grain, hasParts }: RollUpLevel,
  table: RollupTable,
  { siteNo, from, to }: { siteNo: number; from: number; to: number },
): RawBuilder<unknown> {
  const columns = ['site_no', 'container_id', ...NAME_COLUMNS[table], ...COUNT_COLUMNS[table]]
  const select = sql`select ${sql.join(columns.map((column) => sql.ref(column)))}`
  const rows = sql`${select} from ${sql.table(table)} where ${rowsOf(grain, siteNo, from, to)}`
  if (!hasParts) return sql`(${rows}) as finer`
  const parts = partCounts(db, table, { where: partsOf(siteNo, from, to), apart: [sql.ref('p.container_id')] })
  return sql`(${rows} union all ${select} from ${parts} as counts) as finer`
}

/** A site's rows of a grain in [from, to), epoch ms. */
export const rowsOf = (grain: number, siteNo: number, from: number, to: number): RawBuilder<SqlBool> =>
  sql`site_no = ${siteNo} and grain = ${grain} and bucket >= ${from} and bucket < ${to}`

export const rangeOf = ({ span }: RollUpLevel, { siteNo, bucket }: Bucket) => ({
  siteNo,
  from: bucket,
  to: bucket + span,
})

/** Slices of a bucket's rows; parts are not divided by names. */
export async function slicesOf(store: Store, level: RollUpLevel, dirty: Bucket, rowsAtOnce: number): Promise<Slice[]> {
  const slices: Slice[] = []
  for (const table of level.tables) {
    const container = sql.ref('container_id')
    for (const range of await rangesOf(store, table, container, finer(level, dirty), rowsAtOnce)) {
      const within = between(container, range)
      if (range.rows <= rowsAtOnce) {
        slices.push({ table, within })
        continue
      }
      // The range is a single container: only one alone can have more rows than that.
      const name = sql.ref(NAME_COLUMNS[table][0])
      const ranges = await rangesOf(store, table, name, sql`${finer(level, dirty)} and ${within}`, rowsAtOnce)
      slices.push(...ranges.map((names) => ({ table, within: sql<SqlBool>`${within} and ${between(name, names)}` })))
    }
  }
  return slices
}

interface Range<T> {
  first: T
  last: T
  rows: number
}

const between = (column: RawBuilder<unknown>, { first, last }: Range<string>): RawBuilder<SqlBool> =>
  sql`${column} >= ${first} and ${column} <= ${last}`

/** Ranges of a column's values with at most `rowsAtOnce` rows each; a single value may have more. */
async function rangesOf(
  store: Store,
  table: RollupTable,
  column: RawBuilder<unknown>,
  where: RawBuilder<SqlBool>,
  rowsAtOnce: number,
): Promise<Range<string>[]> {
  const { rows: values } = await sql<{ value: string; rows: number }>`
    select ${column} as value, count(*) as rows from ${sql.table(table)}
    where ${where} group by ${column} order by ${column}`.execute(store.read)
  return gathered(values, rowsAtOnce)
}

/** Joins neighbours to ranges of at most `rowsAtOnce` rows each; a single value may have more. */
export function gathered<T>(values: readonly { value: T; rows: number }[], rowsAtOnce: number): Range<T>[] {
  const ranges: Range<T>[] = []
  for (const { value, rows } of values) {
    const last = ranges.at(-1)
    if (last !== undefined && last.rows + Number(rows) <= rowsAtOnce) {
      last.last = value
      last.rows += Number(rows)
    } else ranges.push({ first: value, last: value, rows: Number(rows) })
  }
  return ranges
}
