import { DAY } from '../lib/index.ts'
import { GRAIN } from '../rollups/index.ts'
import { chunksOf, type Kysely, type SiteDayRow, type SiteRow, type Tables } from '../store/index.ts'
import { readEvidence, timesOf } from './evidence.ts'
import { type LocalDay, localDays, type StateTimes } from './spans.ts'
import { DAYS_SHOWN } from './uptime.ts'

/** How a site fared on one day. */
export interface SiteDay extends LocalDay {
  times: StateTimes
  /** Executions of its tags, and how many of them succeeded; null where that is unknown. */
  executions: number | null
  successes: number | null
  /** It is final. */
  isFinal: boolean
}

/** What reading the days of a site requires. */
export interface WatchedSite extends Pick<SiteRow, 'id' | 'client_id' | 'timezone' | 'created_at'> {
  siteNo: number
  /** Epoch ms, null if no event ever came. */
  lastEventAt: number | null
}

/**
 * The latest days that may not be stored yet: today, and those before it that still settle or are held back for up to three days
 * while the clock is in doubt.
 */
export const LIVE_DAYS = 5

/** The last 90 days of each site in its own time zone, today only so far, oldest first; by site id. */
export async function readSiteDays(
  db: Kysely<Tables>,
  sites: readonly WatchedSite[],
  now: number,
): Promise<Map<string, SiteDay[]>> {
  const rows = await writtenDays(
    db,
    sites.map(({ id }) => id),
  )
  const result = new Map<string, SiteDay[]>()
  for (const site of sites) result.set(site.id, await daysOf(db, site, rows.get(site.id) ?? new Map(), now))
  return result
}

async function writtenDays(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, Map<string, SiteDayRow>>> {
  const bySite = new Map<string, Map<string, SiteDayRow>>()
  for (const chunk of chunksOf(ids)) {
    const rows = await db.selectFrom('site_days').selectAll().where('site_id', 'in', chunk).execute()
    for (const row of rows) bySite.set(row.site_id, (bySite.get(row.site_id) ?? new Map()).set(row.day, row))
  }
  return bySite
}

async function daysOf(
  db: Kysely<Tables>,
  site: WatchedSite,
  written: ReadonlyMap<string, SiteDayRow>,
  now: number,
): Promise<SiteDay[]> {
  const days = localDays(site.timezone, now, DAYS_SHOWN)
  const live = days.slice(-LIVE_DAYS).filter(({ day, to }) => !written.has(day) && to > site.created_at)
  const [first] = live
  const evidence = first === undefined ? null : await readEvidence(db, site, { from: first.from, to: now })
  const active = new Set(evidence === null ? [] : await withEvents(db, site, live, now))
  return days.map((day): SiteDay => {
    const row = written.get(day.day)
    if (row !== undefined) return { ...day, ...writtenDay(row) }
    const known = { ...day, executions: null, successes: null, isFinal: false }
    // Today ends now.
    const range = { from: day.from, to: Math.min(day.to, now) }
    if (evidence === null || !live.includes(day)) {
      return { ...known, times: { ...NOTHING, unknown: range.to - range.from } }
    }
    return { ...known, times: timesOf(range, evidence, active.has(day)) }
  })
}

/** The days on which an event came. For today the 24 hours before now count, as the day has only begun. */
async function withEvents(
  db: Kysely<Tables>,
  { siteNo, lastEventAt }: WatchedSite,
  days: readonly LocalDay[],
  now: number,
): Promise<LocalDay[]> {
  const found: LocalDay[] = []
  for (const day of days) {
    const since = day.to > now ? Math.min(day.from, now - DAY) : day.from
    if (lastEventAt === null || lastEventAt < since) continue
    // A last event after the end of the day says nothing about the day: then its counts do.
    if (lastEventAt < day.to || (await hasCounts(db, siteNo, day))) found.push(day)
  }
  return found
}

async function hasCounts(db: Kysely<Tables>, siteNo: number, { from, to }: LocalDay): Promise<boolean> {
  const row = await db
    .selectFrom('event_rollups')
    .select('bucket')
    .where('site_no', '=', siteNo)
    .where('grain', 'in', [GRAIN.minute, GRAIN.hour])
    .where('bucket', '>=', from)
    .where('bucket', '<', to)
    .unionAll(
      db
        .selectFrom('minute_parts')
        .select('bucket')
        .where('site_no', '=', siteNo)
        .where('bucket', '>=', from)
        .where('bucket', '<', to)
        .where('events', 'is not', null),
    )
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

const NOTHING: StateTimes = { ok: 0, warning: 0, critical: 0, maintenance: 0, unknown: 0 }

const writtenDay = (row: SiteDayRow): Omit<SiteDay, keyof LocalDay> => ({
  times: {
    ok: row.ok_ms,
    warning: row.warning_ms,
    critical: row.critical_ms,
    maintenance: row.maintenance_ms,
    unknown: row.unknown_ms,
  },
  executions: row.executions,
  successes: row.successes,
  isFinal: true,
})

/** Returns the first of the days, oldest first, on which a site was there; null when it was not. @param createdAt epoch ms */
export const firstDayOf = (days: readonly LocalDay[], createdAt: number): string | null =>
  days.find(({ to }) => to > createdAt)?.day ?? null

/** Sums the times of several days. */
export const totalTimes = (days: readonly Pick<SiteDay, 'times'>[]): StateTimes =>
  days.reduce(
    (sum, { times }) => ({
      ok: sum.ok + times.ok,
      warning: sum.warning + times.warning,
      critical: sum.critical + times.critical,
      maintenance: sum.maintenance + times.maintenance,
      unknown: sum.unknown + times.unknown,
    }),
    NOTHING,
  )

export const DAY_STATUSES = ['ok', 'warning', 'critical', 'maintenance', 'unknown'] as const
export type DayStatus = (typeof DAY_STATUSES)[number]

/** A day in one word: the worst it had. It is `ok` only when more time was ok than unknown. */
export function dayStatus({ ok, warning, critical, maintenance, unknown }: StateTimes): DayStatus {
  if (critical > 0) return 'critical'
  if (warning > 0) return 'warning'
  if (maintenance > ok) return 'maintenance'
  return ok > unknown ? 'ok' : 'unknown'
}

/**
 * The share of the judged time that was free of critical problems, 0–1; null when no time was judged. As on other vendors' status
 * pages, a warning is degraded service and not downtime, and planned maintenance counts as neither.
 */
export function uptimeOf({ ok, warning, critical }: StateTimes): number | null {
  const judged = ok + warning + critical
  return judged === 0 ? null : (ok + warning) / judged
}
