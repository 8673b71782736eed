import { type CompiledQuery, sql } from 'kysely'
import { HOUR } from '../lib/index.ts'
import { type Store, totalOf } from '../store/index.ts'
import { oldestHour, whileClean } from './minute-retention.ts'
import { FIVE_MINUTES } from './range-plan.ts'
import {
  type Bucket,
  COUNT_COLUMNS,
  filledTables,
  finer,
  HOURS,
  NAME_COLUMNS,
  type Slice,
  slicesOf,
  wholeTable,
} from './slices.ts'

/** Minute rows that one transaction adds up, while all commits wait: some 25 ms. */
const ROWS_AT_ONCE = 5_000

/**
 * Adds a site's minute rows of the oldest hour that has not been, and starts before `before`, to those of the first of every five minutes, and
 * returns whether there may be more. Minute rows are most of what a busy site has on disk, and after two days nobody reads them one by one.
 *
 * Every transaction leaves all sums over five minutes as they were, so a report may come at any time. While the hour is dirty, it waits.
 * Rows that come later, because of a wrong clock, stay as they are: they are few, and go with their hour.
 */
export async function addUpNextHour(
  store: Store,
  siteNo: number,
  before: number,
  rowsAtOnce = ROWS_AT_ONCE,
): Promise<boolean> {
  const hour = await oldestHour(store, siteNo, { from: await doneBefore(store, siteNo), to: before })
  if (hour === undefined) return false
  const bucket = { siteNo, bucket: hour }
  const filled = await filledTables(store, HOURS, bucket, rowsAtOnce)
  const slices = filled?.map(wholeTable) ?? (await slicesOf(store, HOURS, bucket, rowsAtOnce))
  const changes = slices.map((slice) => addUp(store, bucket, slice))
  const done = note(store, siteNo, hour)
  const transactions = filled === undefined ? [...changes, [done]] : [[...changes.flat(), done]]
  for (const queries of transactions) {
    if (!(await whileClean(store, bucket, queries))) return false
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

/** Replaces the rows of the first of every five minutes by the sums of all five, and deletes those of the other four. */
function addUp(store: Store, hour: Bucket, { table, within }: Slice): CompiledQuery[] {
  const names = ['container_id', ...NAME_COLUMNS[table]].map((name) => sql.ref(name))
  const counts = COUNT_COLUMNS[table].map((count) => sql.ref(count))
  const columns = sql.join([...['site_no', 'grain', 'bucket'].map((column) => sql.ref(column)), ...names, ...counts])
  const past = sql`bucket % ${sql.lit(FIVE_MINUTES)}`
  const first = sql`bucket - ${past}`
  const keys = sql.join([sql`site_no`, sql`grain`, first, ...names])
  const rows = sql`${finer(HOURS, hour)} and ${within}`
  return [
    sql`insert into ${sql.table(table)} (${columns})
      select ${keys}, ${sql.join(COUNT_COLUMNS[table].map(totalOf))} from ${sql.table(table)}
      where ${rows} group by ${keys} having max(${past}) > 0
      on conflict (site_no, grain, bucket, ${sql.join(names)})
      do update set ${sql.join(counts.map((count) => sql`${count} = excluded.${count}`))}`.compile(store.write),
    sql`delete from ${sql.table(table)} where ${rows} and ${past} > 0`.compile(store.write),
  ]
}
