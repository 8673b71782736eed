import { identitiesOf, type ReportContext, saidOf, sumsBySite, totals, vendorOf } from '../../analytics/index.ts'
import { DAY, floorTo, HOUR, MINUTE, Mutex, Yielder } from '../../lib/index.ts'
import { LATENCY_COLUMNS, OTHER, type TimeRange } from '../../rollups/index.ts'
import type { SiteRow } from '../../store/index.ts'

export type WatchedSite = Pick<SiteRow, 'site_no' | 'id' | 'client_id'>

const COLUMNS = ['executions', 'failure', 'timeout', 'exception', 'total_ms', 'timed', ...LATENCY_COLUMNS] as const
const MEASURES = totals(COLUMNS)
export type VendorCounts = Record<(typeof COLUMNS)[number], number>

/** Sums of a vendor's tags on a site. */
export interface VendorSum {
  counts: VendorCounts
  /** Keys of its tags as stored, those that ran most. */
  rawKeys: readonly string[]
  /** Its tags by the names that reports use. */
  tags: ReadonlySet<string>
}

/** Returns the sum for a site on which none of the vendor's tags ran although one has an unresolved alert. */
export const noRuns = (): VendorSum => ({ counts: countsOf([]), rawKeys: [], tags: new Set() })

/** Stands for tags whose vendor neither people have set nor their names show. */
export const NO_VENDOR = ''

export interface VendorSums {
  /** The last 24 whole hours. */
  window: TimeRange
  /** By `site_no`, then by the vendor's id. */
  bySite: ReadonlyMap<number, ReadonlyMap<string, VendorSum>>
  /** False when there was no time for all sites; the next call continues from there. */
  isComplete: boolean
}

/** Sites per snapshot, so that a reader is not busy with one for too long. */
const SITES_PER_READ = 50
/** Keys of a vendor on a site: a site may have hundreds of tags without a vendor. */
const MOST_KEYS = 100
/** This long after an hour, all its data has arrived and is rolled up. */
const SETTLED_MS = 5 * MINUTE
/** No one waits longer for a page, ms. */
const PATIENCE_MS = 4_000

interface Known {
  /** Mark of the vendors that people had set for the site's tags, see `#saidMarks`. */
  said: string
  vendors: ReadonlyMap<string, VendorSum>
}

/**
 * Sums of each vendor's tags on each site over the last 24 whole hours, read once an hour: 1,000 sites with 60 tags are 1.4 million
 * hour rows, too many to read each minute for an open page. A vendor that people set for a tag counts at once.
 */
export class VendorReads {
  readonly #context: ReportContext
  /** One caller at a time, so that the next one finds what was read. */
  readonly #turn = new Mutex()
  readonly #known = new Map<number, Known>()
  #windowTo = 0

  constructor(context: ReportContext) {
    this.#context = context
  }

  of(sites: readonly WatchedSite[], patienceMs = PATIENCE_MS): Promise<VendorSums> {
    return this.#turn.run(async () => {
      const to = floorTo(this.#context.clock.now() - SETTLED_MS, HOUR)
      const window = { from: to - DAY, to }
      if (to !== this.#windowTo) this.#known.clear()
      this.#windowTo = to
      const marks = await this.#saidMarks()
      const endsAt = performance.now() + patienceMs
      const stale = sites.filter(({ site_no, id }) => this.#known.get(site_no)?.said !== (marks.get(id) ?? ''))
      let read = 0
      while (read < stale.length && performance.now() < endsAt) {
        await this.#read(stale.slice(read, read + SITES_PER_READ), window, marks)
        read += SITES_PER_READ
      }
      const bySite = new Map(
        sites.flatMap(({ site_no }) => {
          const known = this.#known.get(site_no)
          return known === undefined ? [] : [[site_no, known.vendors] as const]
        }),
      )
      return { window, bySite, isComplete: read >= stale.length }
    })
  }

  /** Returns a mark by site that changes when someone sets or removes the vendor of a tag. */
  async #saidMarks(): Promise<Map<string, string>> {
    const rows = await this.#context.store.read
      .selectFrom('tag_vendors')
      .select(({ fn }) => ['site_id', fn.countAll<number>().as('count'), fn.max<number>('created_at').as('latest')])
      .groupBy('site_id')
      .execute()
    return new Map(rows.map(({ site_id, count, latest }) => [site_id, `${count} ${latest}`]))
  }

  async #read(sites: readonly WatchedSite[], window: TimeRange, marks: ReadonlyMap<string, string>): Promise<void> {
    const siteNos = sites.map(({ site_no }) => site_no)
    const ids = sites.map(({ id }) => id)
    const { rows, identities, said } = await this.#context.store.reports.transaction().execute(async (db) => ({
      rows: await sumsBySite(db, 'tag_rollups', siteNos, window, MEASURES, 'tag_key'),
      identities: await identitiesOf(db, siteNos),
      said: await saidOf(db, ids),
    }))
    const bySite = Map.groupBy(rows, ({ site_no }) => site_no)
    const yielder = new Yielder(1_000)
    for (const { site_no, id } of sites) {
      const ofSite = bySite.get(site_no) ?? []
      const nameOf = (key: string) => identities.get(site_no)?.resolve(key) ?? key
      const vendors = vendorsIn(ofSite, nameOf, (key) => said(id, key) ?? said(id, nameOf(key)))
      this.#known.set(site_no, { said: marks.get(id) ?? '', vendors })
      await yielder.spend(ofSite.length)
    }
  }
}

interface KeyCounts extends VendorCounts {
  key: string
}

/** Ties are broken by key, because databases return rows in different orders. */
const byExecutions = (a: KeyCounts, b: KeyCounts): number => b.executions - a.executions || (a.key < b.key ? -1 : 1)

function vendorsIn(
  rows: readonly KeyCounts[],
  nameOf: (key: string) => string,
  said: (key: string) => string | undefined,
): Map<string, VendorSum> {
  const byVendor = Map.groupBy(rows, ({ key }) => said(key) ?? vendorIdOf(nameOf(key)))
  return new Map(
    Array.from(byVendor, ([vendor, ofVendor]) => {
      const most = ofVendor.toSorted(byExecutions).slice(0, MOST_KEYS)
      const rawKeys = most.map(({ key }) => key)
      return [vendor, { counts: countsOf(ofVendor), rawKeys, tags: new Set(rawKeys.map(nameOf)) }]
    }),
  )
}

export function countsOf(rows: readonly VendorCounts[]): VendorCounts {
  const sums = Object.fromEntries(COLUMNS.map((column) => [column, 0])) as VendorCounts
  for (const row of rows) for (const column of COLUMNS) sums[column] += row[column]
  return sums
}

/** Caches vendors by name: the same names occur on site after site, and matching them takes longer than everything else. */
const vendorIds = new Map<string, string>()
const MOST_NAMES = 20_000

function vendorIdOf(name: string): string {
  if (name === OTHER) return NO_VENDOR
  const known = vendorIds.get(name)
  if (known !== undefined) return known
  const id = vendorOf(name)?.id ?? NO_VENDOR
  if (vendorIds.size >= MOST_NAMES) vendorIds.clear()
  vendorIds.set(name, id)
  return id
}
