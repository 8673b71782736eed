import { SECOND } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { LONGEST_WAIT_MS, laneInSql, lanesOf } from './lanes.ts'

/** The oldest row of each lane is read again after this time, ms: on a busy node the query takes some 50 ms of the database. */
const READ_AGAIN_MS = SECOND
/**
 * A caller that judges as of an earlier time asks for that time again. Only a jump back by more than this means that the clock
 * was set back.
 */
const EARLIER_MS = 2 * LONGEST_WAIT_MS

/** When the oldest row of each lane was written, epoch ms. */
interface Oldest {
  readAt: number
  byLane: Promise<ReadonlyMap<number, number>>
}

/** Keyed by the database that was read, as a process may have several stores open. */
const known = new WeakMap<object, Oldest>()

/**
 * The time, epoch ms, up to which everything received for the site is in its counts and stays there: whatever still waits in the
 * journal was written later, and a fold is never undone. At most `now`.
 *
 * @param store what the counts are read from, which may be a replica
 */
export async function countedUntil({ reports }: Pick<Store, 'reports'>, siteNo: number, now: number): Promise<number> {
  let oldest = known.get(reports)
  const age = oldest === undefined ? Number.POSITIVE_INFINITY : now - oldest.readAt
  if (oldest === undefined || age >= READ_AGAIN_MS || age < -EARLIER_MS) {
    const byLane = readOldest(reports)
    oldest = { readAt: now, byLane }
    known.set(reports, oldest)
    // After a failure the next caller reads again instead of getting the same error.
    byLane.catch(() => known.delete(reports))
  }
  const byLane = await oldest.byLane
  return Math.min(now, oldest.readAt, ...lanesOf(siteNo).flatMap((lane) => byLane.get(lane) ?? []))
}

async function readOldest(reports: Store['reports']): Promise<Map<number, number>> {
  const rows = await reports
    .selectFrom('journal')
    .select((eb) => [laneInSql(eb.ref('seq')).as('lane'), eb.fn.min<number>('written_at').as('written_at')])
    .groupBy((eb) => laneInSql(eb.ref('seq')))
    .execute()
  return new Map(rows.map(({ lane, written_at }) => [lane, written_at]))
}
