import { sql } from 'kysely'
import type { Registry as MetricsRegistry } from 'prom-client'
import { Jobs, type Leases, type Membership } from '../cluster/index.ts'
import { type Clock, DAY, firstIdAt, type Loop, MINUTE, SECOND } from '../lib/index.ts'
import type { DeletionHooks, ManagementOptions } from '../management/index.ts'
import type { Outbound } from '../outbound/index.ts'
import { type Store, untilDone } from '../store/index.ts'
import { resultsNeededFrom } from '../uptime/index.ts'
import { addAutomaticProbes, removeOfSites } from './api/changes.ts'
import { probeMetrics } from './metrics.ts'
import { OwnConnection } from './own-connection.ts'
import type { ProbeSettings, ProbeType } from './probe-type.ts'
import { PROBE_TYPES, type Registry, registryOf } from './registry.ts'
import { RETRY_AFTER_MS } from './run-probe.ts'
import { Scheduler, type SchedulerOptions } from './scheduler.ts'
import { PageReader } from './types/pages.ts'
import type { ResultHook } from './write-results.ts'

const RETENTION_INTERVAL_MS = 10 * MINUTE

export interface ProbesOptions {
  store: Store
  clock: Clock
  membership: Membership
  leases: Leases
  outbound: Outbound
  settings: ProbeSettings
  /** Asked before a target is said not to answer: whether it is our own connection. None: no one is. */
  connectionCheckUrls?: readonly string[]
  /** Days that results are kept. */
  resultDays: number
  onError: (error: Error, what: string) => void
  /** Every type there is, unless a test has others. */
  types?: readonly ProbeType[]
  /** Before a second attempt, ms. */
  retryAfterMs?: number
  onResults?: ResultHook
  noteOutage?: SchedulerOptions['noteOutage'] | undefined
}

/** The probes of this process: their types, the scheduler and the retention of what they found. */
export class Probes {
  readonly registry: Registry
  readonly scheduler: Scheduler
  /** Adds the probes that a new site's fields allow. */
  readonly addProbes: ManagementOptions['addProbes'] = (trx, ctx, site) =>
    addAutomaticProbes(trx, ctx, this.registry, site)
  readonly #jobs: Jobs
  readonly #pages = new PageReader()
  readonly #connection: OwnConnection

  constructor(options: ProbesOptions) {
    const { store, clock, membership, leases, outbound, settings, resultDays, onError } = options
    const { types = PROBE_TYPES, retryAfterMs = RETRY_AFTER_MS, onResults = () => Promise.resolve() } = options
    const { connectionCheckUrls: references = [], noteOutage = () => Promise.resolve() } = options
    this.registry = registryOf(types)
    this.#connection = new OwnConnection({ references, outbound, clock, onError })
    this.scheduler = new Scheduler({
      tools: { store, clock, outbound, pages: this.#pages, settings, connection: this.#connection, retryAfterMs },
      registry: this.registry,
      membership,
      onResults,
      onError,
      noteOutage,
    })
    this.#jobs = new Jobs({ clock, leases, onError }).deletingByAge(
      'probe-retention',
      RETENTION_INTERVAL_MS,
      (now, shouldContinue) => clearResults(store, resultDays, now, shouldContinue),
    )
  }

  get loops(): readonly Loop[] {
    return [...this.scheduler.loops, this.#connection.loop, ...this.#jobs.loops]
  }

  /** Why this node's own connection is doubted, or null. */
  get connectionDoubt(): string | null {
    return this.#connection.doubt
  }

  registerMetrics(registry: MetricsRegistry): void {
    probeMetrics(registry, this.scheduler)
  }

  /** Probes belong to sites alone. */
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfSites'> = { removeOfSites }

  start(): void {
    this.scheduler.start()
    this.#connection.loop.start()
    this.#jobs.start()
  }

  /** @param graceMs that runs under way get to end */
  async stop(graceMs?: number): Promise<void> {
    await Promise.all([this.#jobs.stop(), this.scheduler.stop(graceMs), this.#connection.loop.stop()])
    await this.#pages.close()
  }
}

/**
 * A probe's results are kept for as long as this many runs take: at the default interval for 17 days. Else the probes that run
 * most often would fill the disk: 10,000 of them at 60 s have 14 million results a day.
 */
export const RESULTS_PER_PROBE = 5_000
/** As long the results of a deleted probe say what its site was on days that are not written yet: at most three, and some hours before. */
const DAYS_UNWRITTEN = 4
/** Probes looked at in one step. */
const PROBES_PER_STEP = 200
/** Rows deleted in one transaction: a few milliseconds of the writer's time. */
const ROWS_PER_STEP = 500

/**
 * Deletes results past their retention, and those of deleted probes, in small steps. Any node may do so. What days need that are not written
 * yet stays: after a doubt of the clock, or while the service was down, those of a probe that runs every 30 s would go before the days are written.
 *
 * @param days for which results are kept at most
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
    for (const { probe_id, interval_seconds, removed_at, timezone, last_day } of step) {
      const gone = removed_at === null ? now + DAY : now - DAYS_UNWRITTEN * DAY
      const aged = interval_seconds === null ? gone : firstKept(days, interval_seconds, now)
      const before = timezone === null ? aged : Math.min(aged, neededFrom(timezone, last_day))
      const surplus = interval_seconds === null ? null : await surplusOf(store, probe_id, interval_seconds, now)
      for (const below of [firstIdAt(before), ...(surplus === null ? [] : [surplus])]) {
        if (!(await untilDone(() => clearProbe(store, probe_id, below), shouldContinue))) return
      }
    }
    after = step.at(-1)?.probe_id
  }
}

/** Reckoned once for all sites of a zone, as calendars are slow. */
function neededFromAt(now: number) {
  const known = new Map<string, number>()
  return (timezone: string, lastDay: string | null): number => {
    const key = `${timezone} ${lastDay}`
    const needed = known.get(key) ?? resultsNeededFrom(timezone, lastDay, now)
    known.set(key, needed)
    return needed
  }
}

/** When the oldest result was executed that is kept. */
const firstKept = (days: number, intervalSeconds: number, now: number): number =>
  Math.max(0, now - Math.min(days * DAY, RESULTS_PER_PROBE * intervalSeconds * SECOND))

/** Results by which it is seen that a probe runs more often than its interval says. */
const LATEST = 20

/**
 * Below which id a probe has more results than are kept, as it was run by hand, or by calls of its address, again and again; null: it has not, which
 * its latest results say without counting them all.
 */
async function surplusOf(
  { read }: Store,
  probeId: string,
  intervalSeconds: number,
  now: number,
): Promise<string | null> {
  const newest = read.selectFrom('probe_results').select(['id', 'executed_at']).where('probe_id', '=', probeId)
  const nth = (n: number) =>
    newest
      .orderBy('id', 'desc')
      .offset(n - 1)
      .limit(1)
      .executeTakeFirst()
  const latest = await nth(LATEST)
  if (latest === undefined || now - latest.executed_at > (LATEST * intervalSeconds * SECOND) / 2) return null
  return (await nth(RESULTS_PER_PROBE))?.id ?? null
}

interface ProbeWithResults {
  probe_id: string
  interval_seconds: number | null
  removed_at: number | null
  /** Of its site; null where that is gone, too. */
  timezone: string | null
  /** The last of the site's days that is written. */
  last_day: string | null
}

/**
 * The probes that follow `after` among those with results; without an interval, they are deleted. Hops from one probe to the
 * next through the key, as a `distinct` would read every result.
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
      (select max(day) from site_days where site_days.site_id = sites.id) as last_day
    from found left join probes on probes.id = found.probe_id left join removed_probes on removed_probes.id = found.probe_id
    left join sites on sites.id = coalesce(probes.site_id, removed_probes.site_id)
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
