import { DAY } from '../lib/index.ts'
import { GRAIN } from '../rollups/index.ts'
import { chunksOf, type Kysely, type SiteDayRow, type SiteRow, type Tables } from '../store/index.ts'
import { readEvidence, timesOf } from './evidence.ts'
import { type LocalDay, localDays, type StateTimes } from './spans.ts'
import { DAYS_SHOWN } from './uptime.ts'

/** What a site was on one day. */
export interface SiteDay extends LocalDay {
  times: StateTimes
  /** Of its tags, and how many of them ended well; null where that is not known. */
  executions: number | null
  successes: number | null
  /** It is final. */
  isFinal: boolean
}

/** What has to be known of a site to read its days. */
export interface WatchedSite extends Pick<SiteRow, 'id' | 'timezone' | 'created_at'> {
  siteNo: number
  /** Epoch ms, null when no event ever came. */
  lastEventAt: number | null
}

/** Days that may not be written yet: today, and those before while they settle, or for the three days that the clock is in doubt. */
export const LIVE_DAYS = 5

/** The last 90 days of each site in its own zone, today as far as it has come, oldest first; by the site's id. */
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
    // Today has not come further.
    const range = { from: day.from, to: Math.min(day.to, now) }
    if (evidence === null || !live.includes(day)) {
      return { ...known, times: { ...NOTHING, unknown: range.to - range.from } }
    }
    return { ...known, times: timesOf(range, evidence, active.has(day)) }
  })
}

/** On which of the days an event came; of today also in the 24 hours before now, as it has only begun. */
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
    // What came later says nothing of a day that is over.
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

/** The times of several days together. */
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

/** What one word says of a day: the worst that it held. It is ok only where at least half of it was seen to be. */
export function dayStatus({ ok, warning, critical, maintenance, unknown }: StateTimes): DayStatus {
  if (critical > 0) return 'critical'
  if (warning > 0) return 'warning'
  if (maintenance > ok) return 'maintenance'
  return ok > unknown ? 'ok' : 'unknown'
}

/**
 * The share of the time that was judged in which no problem was critical, 0–1; null where nothing was. As on the status pages of others, a
 * warning is a degradation and no downtime, and planned maintenance is neither.
 */
export function uptimeOf({ ok, warning, critical }: StateTimes): number | null {
  const judged = ok + warning + critical
  return judged === 0 ? null : (ok + warning) / judged
}
