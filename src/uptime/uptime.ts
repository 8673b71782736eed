import { deliveryByDay, type ReportContext } from '../analytics/index.ts'
import { JobRunner, type Leases } from '../cluster/index.ts'
import { attemptAll, DAY, HOUR, MINUTE } from '../lib/index.ts'
import { type DeletionHooks, lockSite } from '../management/index.ts'
import { chunksOf, type SiteDayRow, type SiteRow, type Store } from '../store/index.ts'
import { MOST_REACH_MS, readEvidence, timesOf } from './evidence.ts'
import { type LocalDay, localDays } from './spans.ts'

/** Days shown, today included. */
export const DAYS_SHOWN = 90
/**
 * How long after its end a day is stored. Problems that began before midnight may be noticed hours later, such as silence at
 * night. And the results of a probe that runs every 30 s are kept for 41 hours, so by then they still exist.
 */
const SETTLED_AFTER_MS = 6 * HOUR

/**
 * Stores the days of each site that are over and not stored yet, among the last 90: so no day is lost to downtime of the service,
 * and none is stored twice. What is no longer known about such a day is stored as unknown.
 *
 * @param now what ages are measured against, epoch ms
 */
async function writeSiteDays(
  context: ReportContext & { store: Store },
  now: number,
  shouldContinue: () => boolean,
): Promise<void> {
  await attemptAll(
    await dueSites(context.store, now),
    shouldContinue,
    (site) => writeDaysOf(context, site, now),
    (count) => `the days of ${count === 1 ? '1 site' : `${count} sites`} could not be written`,
  )
}

/** Sites whose last settled day is not stored yet. */
async function dueSites({ read }: Pick<Store, 'read'>, now: number): Promise<SiteRow[]> {
  const zones = await read.selectFrom('sites').select('timezone').distinct().execute()
  const due: SiteRow[] = []
  for (const { timezone } of zones) {
    const last = settledDays(timezone, now, 3).at(-1)
    if (last === undefined) continue
    const sites = await read
      .selectFrom('sites')
      .selectAll()
      .where('timezone', '=', timezone)
      .where('created_at', '<', last.to)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('site_days')
              .select('site_days.day')
              .whereRef('site_days.site_id', '=', 'sites.id')
              .where('site_days.day', '=', last.day),
          ),
        ),
      )
      .orderBy('site_no')
      .execute()
    for (const site of sites) due.push(site)
  }
  return due
}

const settledDays = (timezone: string, now: number, count: number): LocalDay[] =>
  localDays(timezone, now, count).filter(({ to }) => to + SETTLED_AFTER_MS <= now)

async function writeDaysOf(context: ReportContext & { store: Store }, site: SiteRow, now: number): Promise<void> {
  const { store } = context
  const days = settledDays(site.timezone, now, DAYS_SHOWN).filter(({ to }) => to > site.created_at)
  const written = await store.read.selectFrom('site_days').select('day').where('site_id', '=', site.id).execute()
  const known = new Set(written.map(({ day }) => day))
  const missing = days.filter(({ day }) => !known.has(day))
  const [first, last] = [missing[0], missing.at(-1)]
  if (first === undefined || last === undefined) return
  const evidence = await readEvidence(store.read, site, { from: first.from, to: last.to })
  const keptFrom = now - context.retention.hourDays * DAY
  const counted = missing.filter(({ from }) => from >= keptFrom)
  const deliveries = await deliveryByDay(context, site, counted)
  const byDay = new Map(counted.map(({ day }, n) => [day, deliveries[n]]))
  const rows = missing.map((day): SiteDayRow => {
    const delivery = byDay.get(day.day)
    const times = timesOf(day, evidence, (delivery?.events ?? 0) > 0)
    return {
      site_id: site.id,
      day: day.day,
      ok_ms: times.ok,
      warning_ms: times.warning,
      critical_ms: times.critical,
      maintenance_ms: times.maintenance,
      unknown_ms: times.unknown,
      executions: delivery?.executions ?? null,
      successes: delivery?.successes ?? null,
      written_at: context.clock.now(),
    }
  })
  await store.write.transaction().execute(async (trx) => {
    // Leave nothing behind for a site that is being deleted.
    if ((await lockSite(trx, site.id)) === undefined) return
    await trx
      .insertInto('site_days')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['site_id', 'day']).doNothing())
      .execute()
  })
}

/** A fault that keeps days from being stored must not keep probe results for ever. */
const MOST_DAYS_AWAITED = 14

/**
 * From when on a site's probe results are still needed, for its days that are not stored yet. Epoch ms.
 *
 * @param lastWritten the last of its days that is stored; null if none is
 */
export function resultsNeededFrom(timezone: string, lastWritten: string | null, now: number): number {
  const open = localDays(timezone, now, MOST_DAYS_AWAITED).find(({ day }) => day > (lastWritten ?? ''))
  return (open?.from ?? now) - MOST_REACH_MS
}

/** Deletes days that are no longer shown. */
async function clearSiteDays({ write }: Pick<Store, 'write'>, now: number): Promise<void> {
  // Two days of slack: a zone's calendar day may be one ahead of UTC's or one behind.
  const [first] = localDays('UTC', now, DAYS_SHOWN + 2)
  if (first !== undefined) await write.deleteFrom('site_days').where('day', '<', first.day).execute()
}

export interface UptimeOptions extends ReportContext {
  store: Store
  leases: Leases
  onError: (error: Error, loop: string) => void
}

/** Stores how each site fared on each day. */
export class Uptime extends JobRunner {
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfSites'> = {
    removeOfSites: async (trx, sites) => {
      for (const ids of chunksOf(sites.map(({ id }) => id)))
        await trx.deleteFrom('site_days').where('site_id', 'in', ids).execute()
    },
  }

  constructor({ leases, onError, ...context }: UptimeOptions) {
    super({ clock: context.clock, leases, onError })
    // `deletingByAge`, as a clock that runs ahead would store days that have not happened, as unknown and for ever.
    this.jobs
      .deletingByAge('site-days', MINUTE, (now, shouldContinue) => writeSiteDays(context, now, shouldContinue))
      .deletingByAge('site-day-retention', HOUR, (now) => clearSiteDays(context.store, now))
  }
}
