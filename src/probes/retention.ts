import { sql } from 'kysely'
import { DAY, firstIdAt, SECOND } from '../lib/index.ts'
import type { Store } from '../store/index.ts'

/**
 * A probe's results are kept for as long as this many runs take: at the default interval for 17 days. Else the probes that run
 * most often would fill the disk: 10,000 of them at 60 s have 14 million results a day.
 */
export const RESULTS_PER_PROBE = 5_000
/** Probes looked at in one step. */
const PROBES_PER_STEP = 200
/** Rows deleted in one transaction: a few milliseconds of the writer's time. */
const ROWS_PER_STEP = 2_000

/**
 * Deletes results past their retention, and all those of deleted probes, in small steps. Any node may do so.
 *
 * @param days for which results are kept at most
 */
export async function clearResults(store: Store, days: number, now: number, mayGoOn: () => boolean): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const step = await probesWithResults(store, after)
    for (const { probe_id, interval_seconds } of step) {
      const before = interval_seconds === null ? now + DAY : firstKept(days, interval_seconds, now)
      for (let more = true; more; ) {
        if (!mayGoOn()) return
        more = await clearProbe(store, probe_id, firstIdAt(before))
      }
    }
    after = step.at(-1)?.probe_id
  }
}

/** When the oldest result was executed that is kept. */
const firstKept = (days: number, intervalSeconds: number, now: number): number =>
  Math.max(0, now - Math.min(days * DAY, RESULTS_PER_PROBE * intervalSeconds * SECOND))

/**
 * The probes that follow `after` among those with results; without an interval, they are deleted. Hops from one probe to the
 * next through the key, as a `distinct` would read every result.
 */
async function probesWithResults(
  { read }: Store,
  after: string,
): Promise<{ probe_id: string; interval_seconds: number | null }[]> {
  const { rows } = await sql<{ probe_id: string; interval_seconds: number | null }>`
    with recursive found (probe_id, place) as (
      select (select min(probe_id) from probe_results where probe_id > ${after}), 1
      union all
      select (select min(probe_id) from probe_results where probe_id > found.probe_id), place + 1
      from found where found.probe_id is not null and place < ${sql.lit(PROBES_PER_STEP)}
    )
    select found.probe_id, probes.interval_seconds
    from found left join probes on probes.id = found.probe_id
    where found.probe_id is not null order by found.probe_id`.execute(read)
  return rows
}

/** Deletes some of a probe's results whose id is below, the oldest first, and says whether there are more. */
async function clearProbe(store: Store, probeId: string, below: string): Promise<boolean> {
  const old = await store.read
    .selectFrom('probe_results')
    .select('id')
    .where('probe_id', '=', probeId)
    .where('id', '<', below)
    .orderBy('id')
    .limit(ROWS_PER_STEP)
    .execute()
  const last = old.at(-1)
  if (last === undefined) return false
  await store.write.deleteFrom('probe_results').where('probe_id', '=', probeId).where('id', '<=', last.id).execute()
  return old.length === ROWS_PER_STEP
}
