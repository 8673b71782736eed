import type { HourCounts, LocalTime, RecentCounts } from '../detection/index.ts'
import { volumeHours } from '../detection/index.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../lib/index.ts'
import { GRAIN } from '../rollups/index.ts'
import { type Store, totalOf } from '../store/index.ts'

const SLOT = 5 * MINUTE

/** All events of a site in the last 24 hours, in slots of five minutes up to the last full minute. */
export async function recentTotals({ read }: Pick<Store, 'read'>, siteNo: number, now: number): Promise<RecentCounts> {
  const end = floorTo(now, MINUTE)
  const start = end - DAY
  const rows = await read
    .selectFrom('event_rollups')
    .select(['bucket', totalOf('total').as('total')])
    .where('site_no', '=', siteNo)
    .where('grain', '=', GRAIN.minute)
    .where('bucket', '>=', start)
    .where('bucket', '<', end)
    .groupBy('bucket')
    .execute()
  const total = new Array<number>(DAY / SLOT).fill(0)
  for (const row of rows) {
    const slot = Math.floor((row.bucket - start) / SLOT)
    total[slot] = (total[slot] ?? 0) + row.total
  }
  const buckets = total.map((_, index) => ({ from: start + index * SLOT, to: start + (index + 1) * SLOT }))
  return { buckets, total, events: new Map() }
}

/** All events of a site in the hours that the last 24 are compared with, by the start of the UTC hour. */
export async function hourTotals(
  { read }: Pick<Store, 'read'>,
  siteNo: number,
  clock: LocalTime,
  now: number,
  weeks: number,
): Promise<Map<number, HourCounts>> {
  const hours = volumeHours(clock, now, weeks)
  const rows = await read
    .selectFrom('event_rollups')
    .select(['bucket', totalOf('total').as('total')])
    .where('site_no', '=', siteNo)
    .where('grain', '=', GRAIN.hour)
    .where('bucket', '>=', hours[0] ?? now)
    .where('bucket', '<', (hours.at(-1) ?? now) + HOUR)
    .groupBy('bucket')
    .execute()
  const counts = new Map<number, HourCounts>()
  // In zones whose hours begin in the middle of UTC hours, an hour has two rows.
  for (const { bucket, total } of rows) {
    const hour = floorTo(bucket, HOUR)
    counts.set(hour, { total: (counts.get(hour)?.total ?? 0) + total, events: new Map() })
  }
  return counts
}
