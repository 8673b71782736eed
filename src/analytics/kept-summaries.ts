import { Mutex } from '../lib/index.ts'
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
}

/**
 * Summaries of many sites' last 24 hours, for callers that ask again and again. The sums are kept until the next minute begins or
 * a fold on any node writes something of the site: every fold increments the `writes` of each container that it has counts of.
 * The other writers of a day's rows, roll-up and retention, change no sum.
 */
export class KeptSummaries {
  readonly #store: Pick<Store, 'reports'>
  readonly #kept = new Map<number, KeptSummary>()
  /** So that two simultaneous callers do not compute the same sums. */
  readonly #turn = new Mutex()
  #newestTo = 0

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
    sites: readonly Pick<SiteRow, 'site_no' | 'id'>[],
    alerts: ReadonlyMap<string, CriticalAlert>,
    now: number,
  ): Promise<Map<number, SiteSummary>> {
    const range = summaryRange(now)
    const summaries = new Map<number, SiteSummary>()
    await this.#turn.run(async () => {
      this.#forgetOld(range)
      for (let start = 0; start < sites.length; start += SITES_PER_QUERY) {
        const part = sites.slice(start, start + SITES_PER_QUERY)
        await this.#refresh(
          part.map(({ site_no }) => site_no),
          range,
        )
        for (const { site_no, id } of part) {
          const kept = this.#kept.get(site_no)
          if (kept === undefined) continue
          const alert = alerts.get(id)
          summaries.set(site_no, alert === undefined ? kept.plain : summaryOf(kept.counts, alert))
        }
      }
    })
    return summaries
  }

  async #refresh(siteNos: readonly number[], range: TimeRange): Promise<void> {
    // One snapshot, so that counts and print are of the same moment.
    await this.#store.reports.transaction().execute(async (db) => {
      const prints = await printsOf(db, siteNos)
      const stale = siteNos.filter((siteNo) => {
        const kept = this.#kept.get(siteNo)
        return kept === undefined || kept.to !== range.to || kept.print !== prints.get(siteNo)
      })
      for (const [siteNo, { counts }] of await summaryCounts(db, stale, range)) {
        const print = prints.get(siteNo) ?? ''
        this.#kept.set(siteNo, { to: range.to, print, counts, plain: summaryOf(counts, undefined) })
      }
    })
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
