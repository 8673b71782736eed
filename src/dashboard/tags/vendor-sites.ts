import { type SqlBool, sql } from 'kysely'
import { vendorsNow } from '../../alerts/index.ts'
import type { ReportContext } from '../../analytics/index.ts'
import type { Visible } from '../../http/index.ts'
import { floorTo, HOUR, isoTime } from '../../lib/index.ts'
import { dirtyCounts, GRAIN } from '../../rollups/index.ts'
import { type Kysely, type Tables, totalOf } from '../../store/index.ts'
import { FINE, figuresOf, nameOfVendor } from './catalogue.ts'
import type { VendorSite, VendorSites, VendorSitesQuery } from './schemas.ts'
import { NO_VENDOR, noRuns, type VendorReads, type VendorSum, type WatchedSite } from './vendor-sums.ts'
import { liveVersions, watchedSites } from './watched.ts'

const MOST_TAGS = 10
/** Sites per statement: with 100 keys each it stays far below the engines' limits. */
const SITES_PER_STATEMENT = 10

/**
 * Returns where a vendor's tags run, and how they did hour by hour: is it down for everyone? The unfinished hour is read too, but
 * only for the sites on the page.
 *
 * @throws AppError `not_found` for an unknown client
 */
export async function vendorSites(
  context: ReportContext,
  reads: VendorReads,
  visible: Visible,
  { vendor = NO_VENDOR, client_id, limit = 50, offset = 0 }: VendorSitesQuery,
): Promise<VendorSites> {
  const { read } = context.store
  const now = context.clock.now()
  const sites = await watchedSites(read, visible, client_id)
  const { window, bySite, isComplete } = await reads.of(sites)
  const { failing, incident } = (await vendorsNow(read, visible)).get(vendor) ?? FINE
  const users = sites.flatMap((site) => {
    const isFailing = failing.has(site.id)
    const sums = bySite.get(site.site_no)
    const sum = sums?.get(vendor) ?? (sums !== undefined && isFailing ? noRuns() : undefined)
    return sum === undefined ? [] : [{ site, sum, ...figuresOf(sum.counts), failing: isFailing }]
  })
  users.sort(
    (a, b) =>
      Number(b.failing) - Number(a.failing) ||
      (b.failure_rate ?? 0) - (a.failure_rate ?? 0) ||
      b.runs - a.runs ||
      a.site.site_no - b.site.site_no,
  )
  const shown = users.slice(offset, offset + limit)
  const hours = Array.from({ length: (floorTo(now, HOUR) - window.from) / HOUR + 1 }, (_, n) => window.from + n * HOUR)
  const cells = await cellsOf(context.store.reports, shown, hours)
  const versions = await liveVersions(
    read,
    shown.map(({ site }) => site),
    now - HOUR,
  )
  return {
    from: isoTime(window.from),
    to: isoTime(window.to),
    complete: isComplete,
    total: users.length,
    vendor: vendor === NO_VENDOR ? null : vendor,
    name: nameOfVendor(vendor),
    failing_sites: users.filter((user) => user.failing).length,
    incident,
    hours: hours.map(isoTime),
    sites: shown.map(
      ({ site, sum, ...figures }): VendorSite => ({
        site_id: site.id,
        tags: [...sum.tags].slice(0, MOST_TAGS),
        ...figures,
        versions: [...(versions.get(site.site_no)?.names ?? [])],
        hours: cells.get(site.site_no) ?? { runs: hours.map(() => 0), bad: hours.map(() => 0) },
      }),
    ),
  }
}

type Cells = VendorSite['hours']

/** Returns cells by `site_no`, from hour rows, and from minute rows where an hour is not rolled up yet. */
async function cellsOf(
  db: Kysely<Tables>,
  users: readonly { site: WatchedSite; sum: VendorSum }[],
  hours: readonly number[],
): Promise<Map<number, Cells>> {
  const cells = new Map<number, Cells>()
  const [from = 0] = hours
  const running = users.filter(({ sum }) => sum.rawKeys.length > 0)
  const to = from + hours.length * HOUR
  for (let start = 0; start < running.length; start += SITES_PER_STATEMENT) {
    const part = running.slice(start, start + SITES_PER_STATEMENT)
    const keys = new Map(part.map(({ site, sum }) => [site.site_no, new Set(sum.rawKeys)]))
    const siteNos = sql.join([...keys.keys()])
    const names = sql.join([...new Set(part.flatMap(({ sum }) => sum.rawKeys))])
    const measures = sql`${totalOf('r.executions')} as runs, ${totalOf(sql<number>`r.failure + r.timeout + r.exception`)} as bad`
    const dirty = sql<SqlBool>`m.site_no in (${siteNos}) and m.grain = ${GRAIN.hour} and m.bucket >= ${from} and m.bucket < ${to}`
    const { rows } = await sql<{ site_no: number; tag_key: string; hour: number; runs: number; bad: number }>`
      select r.site_no, r.tag_key, r.bucket - r.bucket % ${HOUR} as hour, ${measures} from tag_rollups r
      where r.site_no in (${siteNos}) and r.grain = ${GRAIN.hour} and r.bucket >= ${from} and r.bucket < ${to}
        and r.tag_key in (${names})
        and not exists (
          select 1 from dirty_buckets m
          where m.site_no = r.site_no and m.grain = ${GRAIN.hour} and m.bucket = r.bucket - r.bucket % ${HOUR}
        )
      group by 1, 2, 3
      union all
      select m.site_no, r.tag_key, m.bucket as hour, ${measures} from dirty_buckets m
      join tag_rollups r
        on r.site_no = m.site_no and r.grain = ${GRAIN.minute} and r.bucket >= m.bucket and r.bucket < m.bucket + ${HOUR}
      where ${dirty} and r.tag_key in (${names})
      group by 1, 2, 3
      union all
      select r.site_no, r.tag_key, r.bucket - r.bucket % ${HOUR} as hour, ${measures}
      from ${dirtyCounts(db, 'tag_rollups', dirty)} r
      where r.tag_key in (${names})
      group by 1, 2, 3`.execute(db)
    for (const { site_no, tag_key, hour, runs, bad } of rows) {
      // The same name may belong to another vendor on another site.
      if (keys.get(site_no)?.has(tag_key) !== true) continue
      const ofSite = cells.get(site_no) ?? { runs: hours.map(() => 0), bad: hours.map(() => 0) }
      const index = (hour - from) / HOUR
      ofSite.runs[index] = (ofSite.runs[index] ?? 0) + runs
      ofSite.bad[index] = (ofSite.bad[index] ?? 0) + bad
      cells.set(site_no, ofSite)
    }
  }
  return cells
}
