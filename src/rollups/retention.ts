import { type SqlBool, sql } from 'kysely'
import { removeOldOutages } from '../cluster/index.ts'
import { DAY, floorTo, HOUR } from '../lib/index.ts'
import { attemptEach, NO_SITE, type Store, untilDone } from '../store/index.ts'
import { addUpNextHour, addUpNextPairDay } from './add-up.ts'
import { GRAIN, MINUTE_TABLES } from './columns.ts'
import { removeOldestHour } from './minute-retention.ts'
import { hourRowsFrom, minuteRowsFrom, pairHoursKeptFrom, type Retention, singleMinutesFrom } from './range-plan.ts'
import { bucketsIn, removeFirstRows } from './removal.ts'

/** Events may be a day late, so around midnight the names of two days ago can still be needed. */
const NAME_DAYS = 3
/**
 * How far before the time of its journal row an event may be counted: a day that a sender's time may be behind, and an hour for
 * the wait between acceptance and commit and for other processes' clocks.
 */
const JOURNAL_REACH_MS = DAY + HOUR
/**
 * A report may have been planned just before an hour or a day became too old, or by a slow clock: the rows that it will read must
 * still be there.
 */
const OLDEST_PLAN_MS = HOUR

/**
 * Deletes rows past their retention, and merges old minutes by fives and old event × tag hours by days, site by site and in small
 * steps. Minute rows stay until their hour is rolled up, so that no total changes.
 *
 * Rows that a fold may still write to stay, however long its journal rows have waited: a deletion at the same time could delete
 * the new counts with the row. (Adding up takes turns with folds, see `whileClean`.) Rows that come even later, because of a wrong
 * clock, are added to the hour rows, as `minute_floors` records which hours are gone.
 */
export async function applyRetention(
  store: Store,
  retention: Retention,
  now: number,
  shouldContinue: () => boolean,
): Promise<void> {
  const foldsFrom = await firstFoldable(store, now)
  const plannedAt = now - OLDEST_PLAN_MS
  const from: KeptFrom = {
    singles: singleMinutesFrom(plannedAt),
    minutes: Math.min(minuteRowsFrom(plannedAt, retention), floorTo(foldsFrom, HOUR)),
    pairHours: pairHoursKeptFrom(now),
    hours: Math.min(hourRowsFrom(plannedAt, retention), floorTo(foldsFrom, DAY)),
    names: floorTo(now, DAY) - NAME_DAYS * DAY,
  }
  const sites = await store.read.selectFrom('sites').select(['site_no', 'timezone']).orderBy('site_no').execute()
  const parts = [
    () => untilDone(() => removeOldOutages(store, from.hours), shouldContinue),
    () => untilDone(() => removeFirstRows(store, 'rejection_counts', NO_SITE, olderThan(from.hours)), shouldContinue),
    ...sites.map((site) => () => removeOfSite(store, site, from, shouldContinue)),
  ]
  await attemptEach(parts, (part) => part())
}

/** Where the kept rows of each kind start, epoch ms. */
interface KeptFrom {
  singles: number
  minutes: number
  pairHours: number
  hours: number
  names: number
}

const olderThan = (from: number) => sql<SqlBool>`bucket < ${from}`

/** Returns false when `shouldContinue` ended it early. */
async function removeOfSite(
  store: Store,
  site: { site_no: number; timezone: string },
  from: KeptFrom,
  shouldContinue: () => boolean,
): Promise<boolean> {
  const siteNo = site.site_no
  if (!(await untilDone(() => removeOldestHour(store, siteNo, from.minutes, shouldContinue), shouldContinue)))
    return false
  if (!(await untilDone(() => addUpNextHour(store, siteNo, from.singles), shouldContinue))) return false
  if (!(await untilDone(() => addUpNextPairDay(store, site, from.pairHours), shouldContinue))) return false
  const old = [
    ...MINUTE_TABLES.flatMap((table) =>
      [GRAIN.hour, GRAIN.day].map((grain) => [table, bucketsIn(grain, 0, from.hours)] as const),
    ),
    ['event_tag_rollups', bucketsIn(GRAIN.day, 0, from.hours)] as const,
    // The row of a local day that reaches into the first UTC day lies in the middle of that local day, up to 13 hours earlier.
    ['event_tag_rollups', bucketsIn(GRAIN.hour, 0, from.hours - DAY)] as const,
    ['rejection_counts', olderThan(from.hours)] as const,
    ['reference_counts', sql<SqlBool>`bucket < ${from.hours}`] as const,
    ['daily_names', sql<SqlBool>`day < ${from.names}`] as const,
    ['canary_arrivals', sql<SqlBool>`arrived_at < ${from.names}`] as const,
  ]
  for (const [table, condition] of old) {
    if (!(await untilDone(() => removeFirstRows(store, table, siteNo, condition), shouldContinue))) return false
  }
  return expireSeen(store, siteNo, from.hours, shouldContinue)
}

/** The earliest time that a fold, under way or to come, may write to. */
async function firstFoldable(store: Store, now: number): Promise<number> {
  // Includes the rows of a fold under way; rows written from now on are younger than `now`.
  const oldest = await store.read
    .selectFrom('journal')
    .select('written_at')
    .orderBy('written_at')
    .limit(1)
    .executeTakeFirst()
  return Math.min(now, oldest?.written_at ?? now) - JOURNAL_REACH_MS
}

/** The most containers, and links of tag ids to names, that a site keeps: those seen last. */
export const KEPT_CONTAINERS = 500
export const KEPT_LINKS = 5_000
const KEPT_VERSIONS = 500
const KEPT_CLIENTS = 500

const KEPT = {
  site_containers: KEPT_CONTAINERS,
  tag_names: KEPT_LINKS,
  container_versions: KEPT_VERSIONS,
  container_clients: KEPT_CLIENTS,
} as const

/**
 * Deletes a site's containers, links, versions and clients beyond the number to keep, and those not seen since `before`, in
 * steps. The container seen last stays, because it shows when the site last sent something.
 *
 * @param before epoch ms @returns false when `shouldContinue` ended it early
 */
async function expireSeen(
  store: Store,
  siteNo: number,
  before: number,
  shouldContinue: () => boolean,
): Promise<boolean> {
  for (const table of ['site_containers', 'tag_names', 'container_versions', 'container_clients'] as const) {
    const newest = await seenAt(store, table, siteNo, 0)
    if (newest === undefined) continue
    const limit = table === 'site_containers' ? Math.min(before, newest) : before
    const firstBeyond = (await seenAt(store, table, siteNo, KEPT[table])) ?? -1
    // Several last seen at that same time are all deleted: the number is an upper limit.
    const isGone = sql<SqlBool>`(last_seen_at < ${limit} or last_seen_at <= ${firstBeyond})`
    if (!(await untilDone(() => removeFirstRows(store, table, siteNo, isGone), shouldContinue))) return false
  }
  return true
}

/** When the site's row at this position was last seen, the latest at 0. */
async function seenAt(
  store: Store,
  table: keyof typeof KEPT,
  siteNo: number,
  position: number,
): Promise<number | undefined> {
  const row = await store.read
    .selectFrom(table)
    .select('last_seen_at')
    .where('site_no', '=', siteNo)
    .orderBy('last_seen_at', 'desc')
    .limit(1)
    .offset(position)
    .executeTakeFirst()
  return row?.last_seen_at
}
