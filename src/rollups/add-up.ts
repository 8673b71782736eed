import { type CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely'
import { DAY, HOUR } from '../lib/index.ts'
import { type Store, totalOf, untilDone } from '../store/index.ts'
import { COUNT_COLUMNS, GRAIN, MINUTE_TABLES, NAME_COLUMNS } from './columns.ts'
import { oldestHour, statement, whileClean } from './minute-retention.ts'
import { moveToRows, partRanges } from './move-parts.ts'
import { FIVE_MINUTES, localDay, type TimeRange } from './range-plan.ts'
import { bucketsIn, removeFirstRows } from './removal.ts'
import { filledTables, finer, HOURS, type RollUpLevel, type Slice, slicesOf, wholeTable } from './slices.ts'

/** Rows that one transaction adds up while all commits wait: some 25 ms. */
const ROWS_ADDED_AT_ONCE = 5_000

/**
 * Adds the rows of one grain that meet the condition to those of a few buckets, and deletes them. Both statements have to see the
 * same rows: run them in `whileClean`.
 *
 * @param rows a condition for the rows of one site and grain @param target the bucket that a row goes to, as SQL; rows already in
 * that bucket stay
 */
function addUp(
  store: Store,
  { table, within }: Slice,
  rows: RawBuilder<SqlBool>,
  target: RawBuilder<number>,
): CompiledQuery[] {
  const names = ['container_id', ...NAME_COLUMNS[table]].map((name) => sql.ref(name))
  const counts = COUNT_COLUMNS[table].map((count) => sql.ref(count))
  const columns = sql.join([...['site_no', 'grain', 'bucket'].map((column) => sql.ref(column)), ...names, ...counts])
  const keys = sql.join([sql`site_no`, sql`grain`, target, ...names])
  const where = sql`${rows} and ${within}`
  return [
    sql`insert into ${sql.table(table)} (${columns})
      select ${keys}, ${sql.join(COUNT_COLUMNS[table].map(totalOf))} from ${sql.table(table)}
      where ${where} group by ${keys} having count(*) > 1 or min(bucket) <> ${target}
      on conflict (site_no, grain, bucket, ${sql.join(names)})
      do update set ${sql.join(counts.map((count) => sql`${count} = excluded.${count}`))}`.compile(store.write),
    sql`delete from ${sql.table(table)} where ${where} and bucket <> ${target}`.compile(store.write),
  ]
}

/** Minute rows of an hour, without parts. */
const MINUTE_ROWS: RollUpLevel = { ...HOURS, hasParts: false }

/** The first of each five minutes. */
const FIRST = sql<number>`bucket - bucket % ${sql.lit(FIVE_MINUTES)}`

/**
 * Merges a site's minute rows and parts into rows of five minutes, for the oldest hour before `before` that is not merged yet. Returns
 * whether there may be more. Minute rows are most of what a busy site has on disk, and after two days nothing reads them singly.
 *
 * Every transaction leaves all sums over five minutes unchanged, so a report may come at any time. A dirty hour waits. Rows that
 * arrive later because of a wrong clock stay as they are: they are few, and go with their hour.
 */
export async function addUpNextHour(
  store: Store,
  siteNo: number,
  before: number,
  rowsAtOnce = ROWS_ADDED_AT_ONCE,
): Promise<boolean> {
  const hour = await oldestHour(store, siteNo, { from: await doneBefore(store, siteNo), to: before })
  if (hour === undefined) return false
  const range = { from: hour, to: hour + HOUR }
  const bucket = { siteNo, bucket: hour }
  const rows = await filledTables(store, MINUTE_ROWS, bucket, rowsAtOnce)
  const parts = await partRanges(store, { siteNo, ...range }, MINUTE_TABLES, FIVE_MINUTES, rowsAtOnce)
  const slices = rows?.map(wholeTable) ?? (await slicesOf(store, MINUTE_ROWS, bucket, rowsAtOnce))
  const changes = slices.map((slice) => addUp(store, slice, finer(MINUTE_ROWS, bucket), FIRST).map(statement))
  const moves = parts.map((part) => moveToRows(store, part, FIVE_MINUTES))
  const done = [statement(note(store, siteNo, hour))]
  const isSmall = rows !== undefined && parts.length <= 1
  for (const operations of isSmall ? [[...changes.flat(), ...moves.flat(), ...done]] : [...changes, ...moves, done]) {
    if (!(await whileClean(store, siteNo, range, operations))) return false
  }
  return true
}

async function doneBefore(store: Store, siteNo: number): Promise<number> {
  const floor = await store.read
    .selectFrom('minute_floors')
    .select(['gone_before', 'fives_before'])
    .where('site_no', '=', siteNo)
    .executeTakeFirst()
  return Math.max(floor?.gone_before ?? 0, floor?.fives_before ?? 0)
}

function note(store: Store, siteNo: number, hour: number): CompiledQuery {
  const floor = { fives_before: hour + HOUR }
  return store.write
    .insertInto('minute_floors')
    .values({ site_no: siteNo, gone_before: 0, clearing: null, ...floor })
    .onConflict((conflict) => conflict.column('site_no').doUpdateSet(floor))
    .compile()
}

const TABLE = 'event_tag_rollups'

/**
 * Merges a site's event × tag rows into one per local day, for the local days that its oldest UTC day before `before` touches.
 * Returns whether there may be more. A row for each event and tag in each hour is nearly all that a busy site has on disk, and
 * after weeks nothing reads the hours.
 *
 * What remains is the row of the hour in the middle of the local day. Reports of that time read hour rows and end with local
 * days, so none of their sums changes, and late rows from a wrong clock may lie beside it. It is the middle, because after a
 * change of the time zone the row then counts towards the day that it shares most hours with.
 *
 * No report reads UTC day rows of that time. So they mark what is still to be done and are deleted last: after an interruption
 * the day is merged again, and a late row that brings a day row back gets merged too.
 */
export async function addUpNextPairDay(
  store: Store,
  site: { site_no: number; timezone: string },
  before: number,
  rowsAtOnce = ROWS_ADDED_AT_ONCE,
): Promise<boolean> {
  const utcDay = await oldestDayRow(store, site.site_no, before)
  if (utcDay === undefined) return false
  const end = utcDay + DAY
  const first = localDay(site.timezone, utcDay)
  const last = localDay(site.timezone, end - HOUR)
  for (const day of first.to === last.to ? [first] : [first, last]) {
    if (!(await addUpDay(store, site.site_no, day, rowsAtOnce))) return false
  }
  const removal = () => removeFirstRows(store, TABLE, site.site_no, bucketsIn(GRAIN.day, utcDay, end))
  return untilDone(removal, () => true)
}

async function oldestDayRow(store: Store, siteNo: number, before: number): Promise<number | undefined> {
  const row = await store.read
    .selectFrom(TABLE)
    .select('bucket')
    .where('site_no', '=', siteNo)
    .where(bucketsIn(GRAIN.day, 0, before))
    .orderBy('bucket')
    .limit(1)
    .executeTakeFirst()
  return row?.bucket
}

/** Returns false when one of the day's hours is dirty: a fold may be writing to it. */
async function addUpDay(store: Store, siteNo: number, day: TimeRange, rowsAtOnce: number): Promise<boolean> {
  const level: RollUpLevel = {
    tables: [TABLE],
    from: GRAIN.hour,
    to: GRAIN.hour,
    span: day.to - day.from,
    hasParts: false,
  }
  const bucket = { siteNo, bucket: day.from }
  // Cast, because a plain number in `group by` means a column.
  const middle = sql<number>`cast(${sql.lit(day.from + 12 * HOUR)} as bigint)`
  for (const slice of await slicesOf(store, level, bucket, rowsAtOnce)) {
    if (!(await whileClean(store, siteNo, day, addUp(store, slice, finer(level, bucket), middle).map(statement))))
      return false
  }
  return true
}
