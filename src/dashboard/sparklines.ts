import { type SqlBool, sql } from 'kysely'
import { floorTo, HOUR, MINUTE } from '../lib/index.ts'
import { dirtyCounts, GRAIN } from '../rollups/index.ts'
import { type Store, totalOf } from '../store/index.ts'

/** Hours in a sparkline; the last one is under way. */
const SPARKLINE_HOURS = 24

/** Counts may be this old, ms: they are looked at far more often than they change. */
const FRESH_MS = MINUTE
/** Sites per query, so that a reader is not busy with one for too long. */
const SITES_PER_QUERY = 250

interface Kept {
  readAt: number
  hour: number
  counts: readonly number[]
}

/** Events per hour of many sites, kept for a minute. */
export class Sparklines {
  readonly #store: Store
  readonly #kept = new Map<number, Kept>()
  #hour = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** Returns, by `site_no`, the counts of the last 24 UTC hours, oldest first. */
  async of(siteNos: readonly number[], now: number): Promise<Map<number, readonly number[]>> {
    const hour = floorTo(now, HOUR)
    const stale = siteNos.filter((siteNo) => {
      const kept = this.#kept.get(siteNo)
      return kept === undefined || kept.hour !== hour || Math.abs(now - kept.readAt) >= FRESH_MS
    })
    for (let start = 0; start < stale.length; start += SITES_PER_QUERY) {
      const some = stale.slice(start, start + SITES_PER_QUERY)
      const counts = await hourlyCounts(this.#store, some, hour)
      for (const siteNo of some) {
        this.#kept.set(siteNo, { readAt: now, hour, counts: counts.get(siteNo) ?? NONE })
      }
    }
    this.#forgetOld(hour)
    return new Map(siteNos.map((siteNo) => [siteNo, this.#kept.get(siteNo)?.counts ?? NONE]))
  }

  /**
   * Drops, once an hour, all sites but those just read: deleted ones are gone for good, and sites that this caller may not see are
   * read again when another caller asks.
   */
  #forgetOld(hour: number): void {
    if (this.#hour === hour) return
    this.#hour = hour
    for (const [siteNo, kept] of this.#kept) if (kept.hour !== hour) this.#kept.delete(siteNo)
  }
}

const NONE: readonly number[] = new Array<number>(SPARKLINE_HOURS).fill(0)

/** Sums hour rows, and minute rows in marked hours, where the hour rows are out of date or missing. */
async function hourlyCounts(
  store: Store,
  siteNos: readonly number[],
  lastHour: number,
): Promise<Map<number, readonly number[]>> {
  const from = lastHour - (SPARKLINE_HOURS - 1) * HOUR
  const to = lastHour + HOUR
  const sites = sql.join(siteNos)
  const dirty = sql<SqlBool>`m.site_no in (${sites}) and m.grain = ${GRAIN.hour} and m.bucket >= ${from} and m.bucket < ${to}`
  const { rows } = await sql<{ site_no: number; hour: number; total: number }>`
    select r.site_no, r.bucket - r.bucket % ${HOUR} as hour, ${totalOf('r.total')} as total from event_rollups r
    where r.site_no in (${sites}) and r.grain = ${GRAIN.hour} and r.bucket >= ${from} and r.bucket < ${to}
      and not exists (
        select 1 from dirty_buckets m
        where m.site_no = r.site_no and m.grain = ${GRAIN.hour} and m.bucket = r.bucket - r.bucket % ${HOUR}
      )
    group by 1, 2
    union all
    select m.site_no, m.bucket as hour, ${totalOf('r.total')} as total from dirty_buckets m
    join event_rollups r
      on r.site_no = m.site_no and r.grain = ${GRAIN.minute} and r.bucket >= m.bucket and r.bucket < m.bucket + ${HOUR}
    where ${dirty}
    group by 1, 2
    union all
    select r.site_no, r.bucket - r.bucket % ${HOUR} as hour, ${totalOf('r.total')} as total
    from ${dirtyCounts(store.reports, 'event_rollups', dirty)} r
    group by 1, 2`.execute(store.reports)
  const counts = new Map<number, number[]>()
  for (const { site_no, hour, total } of rows) {
    const ofSite = counts.get(site_no) ?? [...NONE]
    const index = (hour - from) / HOUR
    ofSite[index] = (ofSite[index] ?? 0) + total
    counts.set(site_no, ofSite)
  }
  return counts
}
