import { SECOND } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { laneInSql, lanesOf } from './lanes.ts'

/** The oldest row of each lane was read this long ago at most, ms: on a busy node that takes some 50 ms of the database. */
const READ_AGAIN_MS = SECOND

/** When the oldest row of each lane was written, epoch ms. */
interface Oldest {
  readAt: number
  byLane: Promise<ReadonlyMap<number, number>>
}

/** By what was read, as several stores may be open in a process. */
const known = new WeakMap<object, Oldest>()

/**
 * When the oldest journal row was written that may hold counts of the site, epoch ms; null when none waits. Everything received before that is in the
 * counts, as whoever reads them afterwards finds them: a fold is never undone.
 *
 * @param store what the counts are read from, which may be a replica
 */
export async function waitingSince(
  { reports }: Pick<Store, 'reports'>,
  siteNo: number,
  now: number,
): Promise<number | null> {
  let oldest = known.get(reports)
  if (oldest === undefined || Math.abs(now - oldest.readAt) >= READ_AGAIN_MS) {
    const byLane = readOldest(reports)
    oldest = { readAt: now, byLane }
    known.set(reports, oldest)
    // Another run reads again instead of failing for the same reason.
    byLane.catch(() => known.delete(reports))
  }
  const byLane = await oldest.byLane
  const times = lanesOf(siteNo).flatMap((lane) => byLane.get(lane) ?? [])
  return times.length === 0 ? null : Math.min(...times)
}

async function readOldest(reports: Store['reports']): Promise<Map<number, number>> {
  const rows = await reports
    .selectFrom('journal')
    .select((eb) => [laneInSql(eb.ref('seq')).as('lane'), eb.fn.min<number>('written_at').as('written_at')])
    .groupBy((eb) => laneInSql(eb.ref('seq')))
    .execute()
  return new Map(rows.map(({ lane, written_at }) => [lane, written_at]))
}
