import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { DAY, HOUR } from '../lib/index.ts'
import type { Store, Tables } from '../store/index.ts'
import { GRAIN, type RollupTable } from './columns.ts'

/** Rows a removal or retention step deletes in one transaction: a few milliseconds of the writer's time. */
const ROWS_PER_STEP = 2_000
/**
 * How long after a site's last row went its number is looked at again. A journal row that another process left behind,
 * or a fold under way, may still bring rows; none is older than a day when it is folded.
 */
const SECOND_LOOK_AFTER_MS = DAY + HOUR

const ROLLUP_TABLES: readonly RollupTable[] = ['event_rollups', 'tag_rollups', 'event_tag_rollups']
const GRAINS: readonly number[] = Object.values(GRAIN)
/** Tables with few rows a site. */
const SMALL_TABLES = [
  'rollup_marks',
  'site_containers',
  'tag_names',
  'daily_names',
  'recent_payloads',
  'rejections',
  'idempotency_keys',
] as const

/**
 * Removes what is left of deleted sites, step by step, so that ingest and management get their turns in between; stops
 * early when `mayGoOn` says no, and goes on from there the next time, after a restart too.
 */
export async function removeDeletedSites(store: Store, now: number, mayGoOn: () => boolean): Promise<void> {
  const removals = await store.read
    .selectFrom('site_removals')
    .selectAll()
    .where((eb) => eb.or([eb('emptied_at', 'is', null), eb('emptied_at', '<=', now - SECOND_LOOK_AFTER_MS)]))
    .execute()
  for (const removal of removals) {
    if (!(await emptySite(store, removal.site_no, mayGoOn))) return
    await (removal.emptied_at === null
      ? store.write
          .updateTable('site_removals')
          .set({ emptied_at: now })
          .where('site_no', '=', removal.site_no)
          .execute()
      : store.write.deleteFrom('site_removals').where('site_no', '=', removal.site_no).execute())
  }
}

/** False when it was told to stop before the end. */
async function emptySite(store: Store, siteNo: number, mayGoOn: () => boolean): Promise<boolean> {
  for (const table of ROLLUP_TABLES) {
    for (const grain of GRAINS) {
      for (let more = true; more; ) {
        if (!mayGoOn()) return false
        more = await removeOldestBuckets(store, table, siteNo, grain, Number.MAX_SAFE_INTEGER)
      }
    }
  }
  for (let more = true; more; ) {
    if (!mayGoOn()) return false
    more = await removeOldestRejectionCounts(store, siteNo, Number.MAX_SAFE_INTEGER)
  }
  for (const table of SMALL_TABLES) await removeAll(store, table, siteNo)
  return true
}

/**
 * Deletes a site's oldest buckets that start before `before`, about `ROWS_PER_STEP` rows, and says whether there are
 * more. With `exceptMarked`, rows of hours whose derived rows are out of date stay.
 */
export async function removeOldestBuckets(
  store: Store,
  table: RollupTable,
  siteNo: number,
  grain: number,
  before: number,
  options: { exceptMarked?: boolean } = {},
): Promise<boolean> {
  const beyond = await store.read
    .selectFrom(table)
    .select('bucket')
    .where('site_no', '=', siteNo)
    .where('grain', '=', grain)
    .where('bucket', '<', before)
    .orderBy('bucket')
    .limit(1)
    .offset(ROWS_PER_STEP)
    .executeTakeFirst()
  let query = store.write
    .deleteFrom(table)
    .where('site_no', '=', siteNo)
    .where('grain', '=', grain)
    // Whole buckets: the one the step would end in belongs to it.
    .where('bucket', beyond === undefined ? '<' : '<=', beyond?.bucket ?? before)
  if (options.exceptMarked === true) query = query.where(hourIsRolledUp(table, siteNo))
  const { numDeletedRows } = await query.executeTakeFirstOrThrow()
  // A step that found only marked rows has to end the round: they go when their hour is rolled up.
  return beyond !== undefined && numDeletedRows > 0n
}

function hourIsRolledUp(table: RollupTable, siteNo: number): RawBuilder<SqlBool> {
  const bucket = sql.ref(`${table}.bucket`)
  return sql`not exists (
    select 1 from rollup_marks as mark
    where mark.site_no = ${siteNo} and mark.grain = ${GRAIN.hour}
      and mark.bucket <= ${bucket} and mark.bucket > ${bucket} - ${HOUR}
  )`
}

export async function removeOldestRejectionCounts(store: Store, siteNo: number, before: number): Promise<boolean> {
  const beyond = await store.read
    .selectFrom('rejection_counts')
    .select('bucket')
    .where('site_no', '=', siteNo)
    .where('bucket', '<', before)
    .orderBy('bucket')
    .limit(1)
    .offset(ROWS_PER_STEP)
    .executeTakeFirst()
  await store.write
    .deleteFrom('rejection_counts')
    .where('site_no', '=', siteNo)
    .where('bucket', beyond === undefined ? '<' : '<=', beyond?.bucket ?? before)
    .execute()
  return beyond !== undefined
}

async function removeAll(store: Store, table: (typeof SMALL_TABLES)[number], siteNo: number): Promise<void> {
  await store.write
    .deleteFrom(table as keyof Tables & 'rollup_marks')
    .where('site_no', '=', siteNo)
    .execute()
}
