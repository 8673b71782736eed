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
  /** Asked before a probe reports that its target does not answer, to rule out our own connection. Empty: no one is asked. */
  connectionCheckUrls?: readonly string[]
  /** How many days results are kept. */
  resultDays: number
  onError: (error: Error, what: string) => void
  /** All types, unless a test passes its own. */
  types?: readonly ProbeType[]
  /** Delay before a second attempt, ms. */
  retryAfterMs?: number
  onResults?: ResultHook
  noteOutage?: SchedulerOptions['noteOutage'] | undefined
}

/** The probes of this process: their types, the scheduler, and the retention of their results. */
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

  /** Why this node doubts its own connection, or null. */
  get connectionDoubt(): string | null {
    return this.#connection.doubt
  }

  registerMetrics(registry: MetricsRegistry): void {
    probeMetrics(registry, this.scheduler)
  }

  /** Only sites have probes, so no other deletion needs a hook. */
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfSites'> = { removeOfSites }

  start(): void {
    this.scheduler.start()
    this.#connection.loop.start()
    this.#jobs.start()
  }

  /** @param graceMs time that active runs have to finish */
  async stop(graceMs?: number): Promise<void> {
    await Promise.all([this.#jobs.stop(), this.scheduler.stop(graceMs), this.#connection.loop.stop()])
    await this.#pages.close()
  }
}

/**
 * Results kept per probe, however many days that is: 17 days at the default interval. Without it, the most frequent probes
 * would fill the disk: 10,000 probes at 60 s write 14 million results a day.
 */
export const RESULTS_PER_PROBE = 5_000
/** Days that a deleted probe's results are kept: a site's days are written up to three days and some hours late and need them. */
const DAYS_UNWRITTEN = 4
const PROBES_PER_STEP = 200
/** Rows deleted in one transaction: a few milliseconds of the writer's time. */
const ROWS_PER_STEP = 500

/**
 * Deletes results past their retention, and those of deleted probes, in small steps. Any node may run it. Results that a day still needs are kept
 * until that day is written: otherwise, while the clock was in doubt or the service was down, those of a probe that runs every 30 s would be deleted
 * first.
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

/** When the oldest result to keep was executed, epoch ms. */
const firstKept = (days: number, intervalSeconds: number, now: number): number =>
  Math.max(0, now - Math.min(days * DAY, RESULTS_PER_PROBE * intervalSeconds * SECOND))

/** How many of the latest results show whether a probe runs more often than its interval. */
const LATEST = 20

/**
 * Returns the id below which results exceed `RESULTS_PER_PROBE`, or null when there is no surplus. Only runs by hand or calls
 * of the probe's address make one. The time of the latest results rules it out without counting them all.
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
  /** Time zone of its site; null when the site is deleted, too. */
  timezone: string | null
  /** The last day written for the site. */
  last_day: string | null
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
