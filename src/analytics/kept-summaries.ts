import { Mutex, SECOND } from '../lib/index.ts'
import type { TimeRange } from '../rollups/index.ts'
import { type Kysely, type SiteRow, type Store, type Tables, totalOf } from '../store/index.ts'
import type { ScoreCounts } from './score.ts'
import type { CriticalAlert } from './site-facts.ts'
import { SITES_PER_QUERY, type SiteSummary, summaryCounts, summaryOf, summaryRange } from './summaries.ts'

interface KeptSummary {
  /** End of the 24 hours, epoch ms. */
  to: number
  /** What folds had written for the site by then, see `printsOf`. */
  print: string
  counts: ScoreCounts
  /** The summary without an alert. */
  plain: SiteSummary
  /** When it was last known to be up to date, epoch ms. */
  checkedAt: number
}

type Site = Pick<SiteRow, 'site_no' | 'id'>

/** Changed sites that every answer sums again: with no more than these, no figure is ever old. */
const ALWAYS_SUMMED = 50
/** As many more may be summed as this share of all sites a second: none is ever older than this. */
const OLDEST_MS = 40 * SECOND

/**
 * Summaries of many sites' last 24 hours, for callers that ask again and again. The sums are kept until the next minute begins or
 * a fold on any node writes something of the site: every fold increments the `writes` of each container that it has counts of.
 * The other writers of a day's rows, roll-up and retention, change no sum.
 *
 * Where hundreds of sites send all the time, each answer would sum all of them: half a second for a thousand. So it sums those that
 * waited longest, and as many that none waits for more than 40 seconds, however many ask.
 */
export class KeptSummaries {
  readonly #store: Pick<Store, 'reports'>
  readonly #kept = new Map<number, KeptSummary>()
  /** So that two simultaneous callers do not compute the same sums. */
  readonly #turn = new Mutex()
  #newestTo = 0
  #answeredAt = 0

  constructor(store: Pick<Store, 'reports'>) {
    this.#store = store
  }

  /**
   * Summaries by `site_no`.
   *
   * @param alerts the critical alert of each site that has one, by site id
   * @param now epoch ms
   */
  async of(
    sites: readonly Site[],
    alerts: ReadonlyMap<string, CriticalAlert>,
    now: number,
  ): Promise<Map<number, SiteSummary>> {
    const range = summaryRange(now)
    await this.#turn.run(async () => {
      this.#forgetOld(range)
      await this.#refresh(sites, now, range)
    })
    const summaries = new Map<number, SiteSummary>()
    for (const { site_no, id } of sites) {
      const kept = this.#kept.get(site_no)
      if (kept === undefined) continue
      const alert = alerts.get(id)
      summaries.set(site_no, alert === undefined ? kept.plain : summaryOf(kept.counts, alert))
    }
    return summaries
  }

  /** Sums again those of the changed sites whose turn it is. */
  async #refresh(sites: readonly Site[], now: number, range: TimeRange): Promise<void> {
    const waited = Math.abs(now - this.#answeredAt)
    this.#answeredAt = now
    let left = ALWAYS_SUMMED + Math.floor((sites.length * waited) / OLDEST_MS)
    const ageOf = (siteNo: number) => Math.abs(now - (this.#kept.get(siteNo)?.checkedAt ?? 0))
    const oldestFirst = sites.map(({ site_no }) => site_no).toSorted((a, b) => ageOf(b) - ageOf(a))
    for (let start = 0; start < oldestFirst.length; start += SITES_PER_QUERY) {
      const part = oldestFirst.slice(start, start + SITES_PER_QUERY)
      // One snapshot, so that counts and print are of the same moment.
      await this.#store.reports.transaction().execute(async (db) => {
        const prints = await printsOf(db, part)
        const [same, changed] = this.#divided(part, prints, range)
        for (const kept of same) kept.checkedAt = now
        const due = changed.filter((siteNo, index) => index < left || ageOf(siteNo) >= OLDEST_MS)
        for (const [siteNo, { counts }] of await summaryCounts(db, due, range)) {
          const print = prints.get(siteNo) ?? ''
          this.#kept.set(siteNo, { to: range.to, print, counts, plain: summaryOf(counts, undefined), checkedAt: now })
        }
        left -= due.length
      })
    }
  }

  /** What is still up to date, and the sites of which nothing is. */
  #divided(
    siteNos: readonly number[],
    prints: ReadonlyMap<number, string>,
    range: TimeRange,
  ): [same: KeptSummary[], changed: number[]] {
    const same: KeptSummary[] = []
    const changed: number[] = []
    for (const siteNo of siteNos) {
      const kept = this.#kept.get(siteNo)
      if (kept?.to === range.to && kept.print === prints.get(siteNo)) same.push(kept)
      else changed.push(siteNo)
    }
    return [same, changed]
  }

  /** Once a minute, drops sites that were deleted or that no one asked for in the last minute. */
  #forgetOld({ to }: TimeRange): void {
    if (to === this.#newestTo) return
    for (const [siteNo, kept] of this.#kept) if (kept.to !== this.#newestTo) this.#kept.delete(siteNo)
    this.#newestTo = to
  }
}

/** A text per site that changes with every fold of it; '' for a site without a container. */
async function printsOf(db: Kysely<Tables>, siteNos: readonly number[]): Promise<Map<number, string>> {
  if (siteNos.length === 0) return new Map()
  const rows = await db
    .selectFrom('site_containers')
    .select(({ fn }) => [
      'site_no',
      fn.countAll<number>().as('containers'),
      totalOf('writes').as('writes'),
      fn.max('last_seen_at').as('last_seen_at'),
    ])
    .where('site_no', 'in', siteNos)
    .groupBy('site_no')
    .execute()
  const prints = new Map(siteNos.map((siteNo) => [siteNo, '']))
  for (const { site_no, containers, writes, last_seen_at } of rows) {
    prints.set(site_no, `${containers} ${writes} ${last_seen_at}`)
  }
  return prints
}
