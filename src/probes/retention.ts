import { sql } from 'kysely'
import { DAY, firstIdAt, floorTo, HOUR, SECOND } from '../lib/index.ts'
import { chunksOf, type ProbeResultRow, type Store, untilDone } from '../store/index.ts'
import { BURN_REACH_MS, MOST_REACH_MS, resultsNeededFrom } from '../uptime/index.ts'

/**
 * Runs of a probe that are kept whole; 10,000 probes at 60 s write 14 million results a day. At the default interval, it is
 * `WHOLE_FOR_MS` that counts.
 */
const WHOLE_RUNS = 5_000
/** How far back each run is read: by the error budget and by the days of sites. */
const WHOLE_FOR_MS = BURN_REACH_MS + MOST_REACH_MS
/** How much longer than that one result an hour is kept, besides the changes; after that, one a day. */
const HOURLY_FOR_MS = 10 * DAY
/** Most results kept of a probe that is run again and again or whose address is called so often; of any other, most of those that were thinned. */
export const RESULTS_PER_PROBE = 10_000
/** Days that a deleted probe's results are kept: a site's days are written up to three days and some hours late and need them. */
const DAYS_UNWRITTEN = 4
const PROBES_PER_STEP = 200
/** Rows deleted in one transaction: a few milliseconds of the writer's time. */
const ROWS_PER_STEP = 500

/**
 * Deletes results past their retention, most of those that only repeat what came before, and those of deleted probes, in small
 * steps. Any node may run it. Results that a day still needs are kept until that day is written: otherwise, while the clock was
 * in doubt or the service was down, those of a probe that runs every 30 s would be deleted first.
 *
 * @param days longest time that results are kept
 */
export async function clearResults(
  store: Store,
  days: number,
  now: number,
  shouldContinue: () => boolean,
): Promise<void> {
  await store.write
    .deleteFrom('removed_probes')
    .where('removed_at', '<', now - DAYS_UNWRITTEN * DAY)
    .execute()
  const neededFrom = neededFromAt(now)
  for (let after: string | undefined = ''; after !== undefined; ) {
    const step = await probesWithResults(store, after)
    for (const probe of step) {
      const { probe_id, interval_seconds, removed_at, timezone, last_day } = probe
      const gone = removed_at === null ? now + DAY : now - DAYS_UNWRITTEN * DAY
      const aged = interval_seconds === null ? gone : now - days * DAY
      const needed = timezone === null ? Number.POSITIVE_INFINITY : neededFrom(timezone, last_day)
      const surplus = interval_seconds === null ? null : await surplusOf(store, probe_id, interval_seconds, now)
      for (const below of [firstIdAt(Math.min(aged, needed)), ...(surplus === null ? [] : [surplus])]) {
        if (!(await untilDone(() => clearProbe(store, probe_id, below), shouldContinue))) return
      }
      if (!(await thinProbe(store, probe, Math.min(wholeFrom(probe, now), needed), shouldContinue))) return
    }
    after = step.at(-1)?.probe_id
  }
}

/** Computes the bound once per time zone and last day, because calendars are slow. */
function neededFromAt(now: number) {
  const known = new Map<string, number>()
  return (timezone: string, lastDay: string | null): number => {
    const key = `${timezone} ${lastDay}`
    const needed = known.get(key) ?? resultsNeededFrom(timezone, lastDay, now)
    known.set(key, needed)
    return needed
  }
}

/** Since when each run is kept, epoch ms. */
const wholeFrom = ({ interval_seconds }: ProbeWithResults, now: number): number =>
  now - Math.min(WHOLE_FOR_MS, WHOLE_RUNS * (interval_seconds ?? 0) * SECOND)

/** What decides whether a result is kept. */
export type ResultMark = Pick<ProbeResultRow, 'id' | 'status' | 'reason' | 'executed_at'>

/**
 * Returns the ids of the results that may go: those with the status and reason of the one before, in the same slot.
 *
 * @param results oldest first, from the beginning of a slot
 * @param slotMs length of a slot, which divides a UTC day
 */
export const repeatedResults = (results: readonly ResultMark[], slotMs: number): string[] =>
  results.flatMap(({ id, status, reason, executed_at }, index) => {
    const before = results[index - 1]
    return before !== undefined &&
      before.status === status &&
      before.reason === reason &&
      floorTo(before.executed_at, slotMs) === floorTo(executed_at, slotMs)
      ? id
      : []
  })

/**
 * Deletes repeated results of the UTC days before `wholeFrom`: at first those of each hour, ten days later those of each day. So a
 * probe with an interval of five minutes keeps about 1,400 results of 90 days; 5,000 of 17 days took 22 GB for a thousand sites with
 * 14 probes each.
 *
 * @returns false when it was told to stop before the end
 */
async function thinProbe(
  store: Store,
  { probe_id, interval_seconds, thinned_to, last_result_at }: ProbeWithResults,
  wholeFrom: number,
  shouldContinue: () => boolean,
): Promise<boolean> {
  const end = floorTo(wholeFrom, DAY)
  if (interval_seconds === null || thinned_to === null || thinned_to >= end) return true
  const oldest = thinned_to === 0 ? ((await oldestResult(store, probe_id)) ?? end) : thinned_to
  let day = Math.min(floorTo(oldest, DAY), end)
  while (day < end && shouldContinue()) {
    await thinDay(store, probe_id, day, HOUR, last_result_at)
    await thinDay(store, probe_id, day - HOURLY_FOR_MS, DAY, last_result_at)
    day += DAY
  }
  await store.write.updateTable('probes').set({ results_thinned_to: day }).where('id', '=', probe_id).execute()
  // Those kept whole do not count: while days are not written, a probe that runs every 30 s has more of them.
  const surplus = (await nthNewest(store, probe_id, RESULTS_PER_PROBE, firstIdAt(day)))?.id
  if (surplus !== undefined && !(await untilDone(() => clearProbe(store, probe_id, surplus), shouldContinue)))
    return false
  return day >= end
}

async function oldestResult({ read }: Store, probeId: string): Promise<number | undefined> {
  const row = await read
    .selectFrom('probe_results')
    .select('executed_at')
    .where('probe_id', '=', probeId)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row?.executed_at
}

async function thinDay(
  { read, write }: Store,
  probeId: string,
  day: number,
  slotMs: number,
  lastResultAt: number | null,
): Promise<void> {
  const results = await read
    .selectFrom('probe_results')
    .select(['id', 'status', 'reason', 'executed_at'])
    .where('probe_id', '=', probeId)
    .where('id', '>=', firstIdAt(day))
    .where('id', '<', firstIdAt(day + DAY))
    .orderBy('id')
    .execute()
  // The last result of a probe that no longer runs is what its page shows.
  const others = results.filter(({ executed_at }) => executed_at !== lastResultAt)
  for (const ids of chunksOf(repeatedResults(others, slotMs))) {
    await write.deleteFrom('probe_results').where('probe_id', '=', probeId).where('id', 'in', ids).execute()
  }
}

/** How many of the latest results show whether a probe runs more often than its interval. */
const LATEST = 20

/**
 * Returns the id below which results exceed `RESULTS_PER_PROBE`, or null when there is no surplus. Only runs by hand or calls
 * of the probe's address make one. The time of the latest results rules it out without counting them all.
 */
async function surplusOf(store: Store, probeId: string, intervalSeconds: number, now: number): Promise<string | null> {
  const latest = await nthNewest(store, probeId, LATEST)
  if (latest === undefined || now - latest.executed_at > (LATEST * intervalSeconds * SECOND) / 2) return null
  return (await nthNewest(store, probeId, RESULTS_PER_PROBE))?.id ?? null
}

const nthNewest = (
  { read }: Store,
  probeId: string,
  n: number,
  before?: string,
): Promise<Pick<ProbeResultRow, 'id' | 'executed_at'> | undefined> =>
  read
    .selectFrom('probe_results')
    .select(['id', 'executed_at'])
    .where('probe_id', '=', probeId)
    .$if(before !== undefined, (results) => results.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .offset(n - 1)
    .limit(1)
    .executeTakeFirst()

interface ProbeWithResults {
  probe_id: string
  interval_seconds: number | null
  removed_at: number | null
  /** Time zone of its site; null when the site is deleted, too. */
  timezone: string | null
  /** The last day written for the site. */
  last_day: string | null
  thinned_to: number | null
  last_result_at: number | null
}

/**
 * Returns the next probes after `after` that have results. `interval_seconds` is null when the probe is deleted. Jumps from
 * probe to probe through the key, because `distinct` would read every result.
 */
async function probesWithResults({ read }: Store, after: string): Promise<ProbeWithResults[]> {
  const { rows } = await sql<ProbeWithResults>`
    with recursive found (probe_id, place) as (
      select (select min(probe_id) from probe_results where probe_id > ${after}), 1
      union all
      select (select min(probe_id) from probe_results where probe_id > found.probe_id), place + 1
      from found where found.probe_id is not null and place < ${sql.lit(PROBES_PER_STEP)}
    )
    select found.probe_id, probes.interval_seconds, removed_probes.removed_at, sites.timezone,
      probes.results_thinned_to as thinned_to, probes.last_result_at,
      (select max(day) from site_days where site_days.site_id = sites.id) as last_day
    from found left join probes on probes.id = found.probe_id left join removed_probes on removed_probes.id = found.probe_id
    left join sites on sites.id = coalesce(probes.site_id, removed_probes.site_id)
    where found.probe_id is not null order by found.probe_id`.execute(read)
  return rows
}

/** Deletes the oldest of a probe's results below the id, up to `ROWS_PER_STEP`. Returns whether more are left. */
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
