import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { HOUR } from '../lib/index.ts'
import {
  type Kysely,
  type MinutePartTable,
  summed,
  type Tables,
  totalOf,
  type UpsertSpec,
  unpacked,
  upsertInto,
} from '../store/index.ts'
import { COUNT_COLUMNS, NAME_COLUMNS, type RollupTable } from './columns.ts'

/** The column of a part that holds what belongs into each table, packed. */
export const SECTIONS = {
  event_rollups: 'events',
  tag_rollups: 'tags',
  event_tag_rollups: 'event_tags',
  signal_rollups: 'signals',
  tag_signal_rollups: 'tag_signals',
  field_rollups: 'fields',
} as const satisfies Record<RollupTable, keyof MinutePartTable>

/** The order of a part's sections in its row. */
export const SECTION_ORDER = Object.values(SECTIONS)

/** What a fold writes: new rows, for which it waits for no one. */
export const minuteParts: UpsertSpec = upsertInto('minute_parts', {
  keys: ['site_no', 'bucket', 'container_id', 'part'],
  fixed: SECTION_ORDER,
  isNew: true,
})

/** A number for a part. By chance no two of a minute are the same; if they were, the fold would fail and be tried again. */
export const newPart = (): number => Math.floor(Math.random() * 2 ** 48)

/** Parts to read counts from. */
export interface PartsRead {
  /** Tables joined, `minute_parts` among them as `p`. Only the parts, if not given. */
  tables?: RawBuilder<unknown>
  where: RawBuilder<SqlBool>
  /**
   * What the reader tells apart, besides sites, in SQL. Counts with the same may come as one row, at the earliest of their minutes and with
   * one of their containers.
   */
  apart: readonly RawBuilder<unknown>[]
}

const PARTS = sql`minute_parts as p`

/** Where rows start that do not start with a minute: all event × tag counts of an hour belong to its start, as they will when rolled up. */
const STARTS: Partial<Record<RollupTable, RawBuilder<number>>> = {
  event_tag_rollups: sql<number>`p.bucket - p.bucket % ${sql.lit(HOUR)}`,
}

/** A subquery, to follow `from`: the counts in parts as rows with the columns of `table` but for its `grain`. */
export const partCounts = (db: Kysely<Tables>, table: RollupTable, read: PartsRead): RawBuilder<unknown> =>
  unpacked(db, { ...packedIn(table, read), counts: COUNT_COLUMNS[table] })

/** The same on SQLite, still packed: `packed_sums` with `bucket` and `container_id`; see `summed`. */
export const packedParts = (table: RollupTable, read: PartsRead): RawBuilder<unknown> => summed(packedIn(table, read))

const packedIn = (table: RollupTable, { tables = PARTS, where, apart }: PartsRead) => ({
  column: sql.ref(`p.${SECTIONS[table]}`),
  names: NAME_COLUMNS[table],
  tables,
  where,
  keys: { site_no: sql.ref('p.site_no') },
  minima: { bucket: STARTS[table] ?? sql.ref('p.bucket'), container_id: sql.ref('p.container_id') },
  sumBy: [sql.ref('p.site_no'), ...apart],
})

/**
 * The same with one row for each minute, container and name, for readers that do more than add up.
 *
 * @param where which parts `p` @param rows which rows of the table to add: a minute whose parts were moved to rows may get late parts
 */
export function minuteCounts(
  db: Kysely<Tables>,
  table: RollupTable,
  where: RawBuilder<SqlBool>,
  rows?: RawBuilder<SqlBool>,
): RawBuilder<unknown> {
  const keys = ['site_no', 'bucket', 'container_id', ...NAME_COLUMNS[table]].map((key) => sql.ref(key))
  const columns = sql.join([...keys, ...COUNT_COLUMNS[table].map((count) => sql.ref(count))])
  const totals = COUNT_COLUMNS[table].map((count) => sql`${totalOf(count)} as ${sql.ref(count)}`)
  const parts = partCounts(db, table, { where, apart: [sql.ref('p.bucket'), sql.ref('p.container_id')] })
  const added = rows === undefined ? sql`` : sql` union all select ${columns} from ${sql.table(table)} where ${rows}`
  return sql`(select ${sql.join([...keys, ...totals])}
    from (select ${columns} from ${parts} as parts${added}) as counts group by ${sql.join(keys)})`
}

/**
 * The counts in parts of dirty hours; those of the same hour may come as one row.
 *
 * @param dirty which rows of `dirty_buckets m`
 */
export const dirtyCounts = (db: Kysely<Tables>, table: RollupTable, dirty: RawBuilder<SqlBool>): RawBuilder<unknown> =>
  partCounts(db, table, {
    tables: sql`dirty_buckets m join minute_parts p
      on p.site_no = m.site_no and p.bucket >= m.bucket and p.bucket < m.bucket + ${HOUR}`,
    where: dirty,
    apart: [sql.ref('m.bucket')],
  })

/** A site's parts of minutes in [from, to), epoch ms. */
export const partsOf = (siteNo: number, from: number, to: number): RawBuilder<SqlBool> =>
  sql`p.site_no = ${siteNo} and p.bucket >= ${from} and p.bucket < ${to}`
