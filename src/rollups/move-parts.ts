import { type RawBuilder, sql } from 'kysely'
import { floorTo, HOUR } from '../lib/index.ts'
import { type BatchOperation, packedLength, type Store } from '../store/index.ts'
import { boundOnce } from './bound.ts'
import { GRAIN, MINUTE_TABLES, type RollupTable } from './columns.ts'
import { insertCounts } from './insert-counts.ts'
import { partCounts, partsOf, SECTION_ORDER, SECTIONS } from './minute-parts.ts'
import { statement } from './minute-retention.ts'
import { gathered } from './slices.ts'

/** Minutes of one hour of a site, in [from, to), epoch ms. */
export interface Minutes {
  siteNo: number
  from: number
  to: number
}

const RANGE = ['siteNo', 'from', 'to'] as const
type Slots = Readonly<Record<(typeof RANGE)[number], number>>

/** What a part keeps when its event × tag counts are moved. */
const KEPT = sql.join(
  ['site_no', 'bucket', 'container_id', ...SECTION_ORDER.filter((section) => section !== 'event_tags')].map((column) =>
    sql.ref(column),
  ),
)

/**
 * Moves the event × tag counts of an hour's parts to its hour rows. A part holds them only until then: with many tags on many events they
 * are most of it. What is left is written again, with the number of another part: cleared in their place, parts would stay on as many pages
 * as before.
 *
 * Run it, like `moveToRows`, in a transaction that holds the hour's dirty bucket, so that no fold adds parts between the statements.
 */
export function movePairs({ write }: Store, minutes: Minutes): BatchOperation[] {
  const insert = boundOnce(write, 'move pairs', [...RANGE, 'hour'], (slots) => {
    const bucket = sql`cast(${slots.hour} as bigint)`
    return insertParts(write, 'event_tag_rollups', slots, { grain: GRAIN.hour, bucket })
  })
  const rest = boundOnce(write, 'rest of pairs', RANGE, ({ siteNo, from, to }) =>
    sql`insert into minute_parts (${KEPT}, part) select ${KEPT}, -1 - part from minute_parts as p
      where ${partsOf(siteNo, from, to)} and p.event_tags is not null`.compile(write),
  )
  const take = boundOnce(write, 'take pairs', RANGE, ({ siteNo, from, to }) =>
    sql`delete from minute_parts as p where ${partsOf(siteNo, from, to)} and p.event_tags is not null`.compile(write),
  )
  return [
    statement(insert({ ...minutes, hour: floorTo(minutes.from, HOUR) })),
    statement(rest({ ...minutes })),
    statement(take({ ...minutes })),
  ]
}

/**
 * Moves parts to minute rows that stand for `length` each, and deletes them. Their event × tag counts must have been moved.
 *
 * @param length ms; `minutes` must begin and end with such a row
 */
export function moveToRows({ write }: Store, minutes: Minutes, length: number): BatchOperation[] {
  const inserts = MINUTE_TABLES.map((table) =>
    boundOnce(write, `move ${table} ${length}`, RANGE, (slots) => {
      const bucket = sql`bucket - bucket % ${sql.lit(length)}`
      return insertParts(write, table, slots, { grain: GRAIN.minute, bucket, isByBucket: true })
    }),
  )
  return [...inserts.map((insert) => statement(insert({ ...minutes }))), removeParts(write, minutes)]
}

/** Deletes the parts of these minutes, with all that they hold. */
export function removeParts(write: Store['write'], minutes: Minutes): BatchOperation {
  const remove = boundOnce(write, 'remove parts', RANGE, ({ siteNo, from, to }) =>
    sql`delete from minute_parts where site_no = ${siteNo} and bucket >= ${from} and bucket < ${to}`.compile(write),
  )
  return statement(remove({ ...minutes }))
}

/**
 * Divides minutes into ranges with up to `rowsAtOnce` counts in parts each; those of a single `length` may have more. Ranges without
 * parts are left out.
 *
 * @param length ms; ranges begin with multiples of it
 */
export async function partRanges(
  store: Store,
  { siteNo, from, to }: Minutes,
  tables: readonly RollupTable[],
  length: number,
  rowsAtOnce: number,
): Promise<Minutes[]> {
  const lengths = tables.map((table) => sql`coalesce(${packedLength(store.read, sql.ref(`p.${SECTIONS[table]}`))}, 0)`)
  const start = sql`p.bucket - p.bucket % ${sql.lit(length)}`
  const { rows: starts } = await sql<{ value: number; rows: number }>`
    select ${start} as value, sum(${sql.join(lengths, sql` + `)}) as rows from minute_parts p
    where ${partsOf(siteNo, from, to)} group by ${start} order by ${start}`.execute(store.read)
  return gathered(starts, rowsAtOnce).map(({ first, last }) => ({ siteNo, from: first, to: last + length }))
}

/** Adds what parts hold for a table to its rows. */
function insertParts(
  write: Store['write'],
  table: RollupTable,
  { siteNo, from, to }: Slots,
  rows: { grain: number; bucket: RawBuilder<unknown>; isByBucket?: boolean },
) {
  const apart = [sql.ref('p.container_id'), ...(rows.isByBucket === true ? [sql.ref('p.bucket')] : [])]
  const source = sql`${partCounts(write, table, { where: partsOf(siteNo, from, to), apart })} as counts`
  return insertCounts(write, { ...rows, table, source, where: sql`1 = 1`, adds: true })
}
