import { type CompiledQuery, sql } from 'kysely'
import { HOUR } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { addUp, ROWS_ADDED_AT_ONCE } from './add-up.ts'
import { oldestHour, whileClean } from './minute-retention.ts'
import { FIVE_MINUTES } from './range-plan.ts'
import { filledTables, finer, HOURS, slicesOf, wholeTable } from './slices.ts'

/** The first of every five minutes. */
const FIRST = sql<number>`bucket - bucket % ${sql.lit(FIVE_MINUTES)}`

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
  rowsAtOnce = ROWS_ADDED_AT_ONCE,
): Promise<boolean> {
  const hour = await oldestHour(store, siteNo, { from: await doneBefore(store, siteNo), to: before })
  if (hour === undefined) return false
  const bucket = { siteNo, bucket: hour }
  const filled = await filledTables(store, HOURS, bucket, rowsAtOnce)
  const slices = filled?.map(wholeTable) ?? (await slicesOf(store, HOURS, bucket, rowsAtOnce))
  const changes = slices.map((slice) => addUp(store, slice, finer(HOURS, bucket), FIRST))
  const done = note(store, siteNo, hour)
  const transactions = filled === undefined ? [...changes, [done]] : [[...changes.flat(), done]]
  for (const queries of transactions) {
    if (!(await whileClean(store, siteNo, { from: hour, to: hour + HOUR }, queries))) return false
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
