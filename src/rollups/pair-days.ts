import { sql } from 'kysely'
import { DAY, HOUR } from '../lib/index.ts'
import { type Store, untilDone } from '../store/index.ts'
import { addUp, ROWS_ADDED_AT_ONCE } from './add-up.ts'
import { GRAIN } from './columns.ts'
import { localDay, type TimeRange } from './local-day.ts'
import { whileClean } from './minute-retention.ts'
import { bucketsIn, removeFirstRows } from './removal.ts'
import { finer, slicesOf } from './slices.ts'

const TABLE = 'event_tag_rollups'

/**
 * Adds a site's rows of event × tag up by local days, those that its oldest UTC day touches, if that one begins before `before`, and returns whether
 * there may be more. A row for each event and tag in each hour is nearly all that a busy site has on disk, and after weeks nobody reads the hours.
 *
 * What is left is the row of the hour in the middle of the local day. Reports read hour rows of that time and end with local days, so no sum of theirs
 * changes, and late rows, which a wrong clock brings, may lie beside it. In the middle, because after a change of the time zone it then counts
 * to the day that it has most hours of.
 *
 * UTC day rows are not read there either. So they say what is still to be done, and are deleted at the end: whatever stops this, it is done again, and
 * when a late row makes them come back, it is added up, too.
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

/** False when one of its hours is dirty: a fold may be writing to it. */
async function addUpDay(store: Store, siteNo: number, day: TimeRange, rowsAtOnce: number): Promise<boolean> {
  const level = { tables: [TABLE], from: GRAIN.hour, to: GRAIN.hour, span: day.to - day.from } as const
  const bucket = { siteNo, bucket: day.from }
  // A cast, because a mere number in `group by` means a column.
  const middle = sql<number>`cast(${sql.lit(day.from + 12 * HOUR)} as bigint)`
  for (const slice of await slicesOf(store, level, bucket, rowsAtOnce)) {
    if (!(await whileClean(store, siteNo, day, addUp(store, slice, finer(level, bucket), middle)))) return false
  }
  return true
}
