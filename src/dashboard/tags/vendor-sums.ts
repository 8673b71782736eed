import { identitiesOf, type ReportContext, saidOf, sumsBySite, totals, vendorOf } from '../../analytics/index.ts'
import { DAY, floorTo, HOUR, MINUTE, Mutex, Yielder } from '../../lib/index.ts'
import { LATENCY_COLUMNS, OTHER, type TimeRange } from '../../rollups/index.ts'
import type { SiteRow } from '../../store/index.ts'

export type WatchedSite = Pick<SiteRow, 'site_no' | 'id' | 'client_id'>

const COLUMNS = ['executions', 'failure', 'timeout', 'exception', 'total_ms', 'timed', ...LATENCY_COLUMNS] as const
const MEASURES = totals(COLUMNS)
export type VendorCounts = Record<(typeof COLUMNS)[number], number>

/** What a vendor's tags did on a site. */
export interface VendorSum {
  counts: VendorCounts
  /** Keys of its tags as rows have them, those that ran most. */
  rawKeys: readonly string[]
  /** As reports name them. */
  tags: ReadonlySet<string>
}

/** Of a site on which none of the vendor's tags ran, though an alert is open about one. */
export const noRuns = (): VendorSum => ({ counts: countsOf([]), rawKeys: [], tags: new Set() })

/** Tags whose vendor neither people nor their names say. */
export const NO_VENDOR = ''

export interface VendorSums {
  /** The last 24 whole hours. */
  window: TimeRange
  /** By `site_no`, by vendor's id. */
  bySite: ReadonlyMap<number, ReadonlyMap<string, VendorSum>>
  /** False: there was no time for all sites; asked again, it goes on from there. */
  isComplete: boolean
}

/** Sites per snapshot: a reader is busy with one for long enough as it is. */
const SITES_PER_READ = 50
/** Of a site that names hundreds without a vendor. */
const MOST_KEYS = 100
/** What tags sent in an hour is there by then, and rolled up. */
const SETTLED_MS = 5 * MINUTE
/** Longer no one waits for a page. */
const PATIENCE_MS = 4_000

interface Known {
  /** What people had said of the site's tags. */
  said: string
  vendors: ReadonlyMap<string, VendorSum>
}

/**
 * What each vendor's tags did on each site in the last 24 whole hours, read once an hour: 1,000 sites with 60 tags are 1.4 million hour rows,
 * which no page that is open may read each minute. What people say of a tag counts at once.
 */
export class VendorReads {
  readonly #context: ReportContext
  /** One reader at a time: the next finds what it left. */
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

  /** By site: changes when someone sets or removes the vendor of a tag. */
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

/** Of those that ran as often the one whose key is less: databases give rows in orders of their own. */
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

/** The same names come from site after site, and finding their words takes longer than all else. */
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
