import { DAY, floorTo, HOUR } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { GRAIN } from './columns.ts'
import { removeOldestBuckets, removeOldestRejectionCounts } from './removal.ts'

/** Late events reach back a day: the names of two days ago can still be asked for around midnight. */
const NAME_DAYS = 3

export interface Retention {
  minuteDays: number
  hourDays: number
}

/** First minute row that is kept: whole hours, so that an hour is either all there in minutes or only in its hour row. */
export const minuteRowsFrom = (now: number, retention: Retention): number =>
  floorTo(now, HOUR) - retention.minuteDays * DAY

/** First hour row that is kept: whole UTC days, as day rows go together with the hours under them. */
export const hourRowsFrom = (now: number, retention: Retention): number => floorTo(now, DAY) - retention.hourDays * DAY

/**
 * Deletes rows past their retention, site by site and in small steps. Minute rows whose hour is not rolled up yet stay
 * until it is, so that no total changes.
 */
export async function applyRetention(
  store: Store,
  retention: Retention,
  now: number,
  mayGoOn: () => boolean,
): Promise<void> {
  const minutesFrom = minuteRowsFrom(now, retention)
  const hoursFrom = hourRowsFrom(now, retention)
  const sites = await store.read.selectFrom('sites').select('site_no').orderBy('site_no').execute()
  for (const { site_no } of sites) {
    const steps = [
      () => removeOldestBuckets(store, 'event_rollups', site_no, GRAIN.minute, minutesFrom, { exceptMarked: true }),
      () => removeOldestBuckets(store, 'tag_rollups', site_no, GRAIN.minute, minutesFrom, { exceptMarked: true }),
      ...(['event_rollups', 'tag_rollups', 'event_tag_rollups'] as const).flatMap((table) =>
        [GRAIN.hour, GRAIN.day].map((grain) => () => removeOldestBuckets(store, table, site_no, grain, hoursFrom)),
      ),
      () => removeOldestRejectionCounts(store, site_no, hoursFrom),
    ]
    for (const step of steps) {
      for (let more = true; more; ) {
        if (!mayGoOn()) return
        more = await step()
      }
    }
  }
  await store.write
    .deleteFrom('daily_names')
    .where('day', '<', floorTo(now, DAY) - NAME_DAYS * DAY)
    .execute()
  await store.write.deleteFrom('tag_names').where('last_seen_at', '<', hoursFrom).execute()
}
