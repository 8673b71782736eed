import { type VendorNow, vendorsNow } from '../../alerts/index.ts'
import { latency, type ReportContext, vendorName } from '../../analytics/index.ts'
import type { Visible } from '../../http/index.ts'
import { HOUR, isoTime } from '../../lib/index.ts'
import type { Catalogue, CatalogueQuery, VendorEntry } from './schemas.ts'
import { countsOf, NO_VENDOR, noRuns, type VendorCounts, type VendorReads, type VendorSum } from './vendor-sums.ts'
import { type LiveVersions, liveVersions, watchedSites } from './watched.ts'

const UNKNOWN_NAME = 'Other tags'
export const nameOfVendor = (vendor: string): string => (vendor === NO_VENDOR ? UNKNOWN_NAME : vendorName(vendor))

/** Returns the figures of a vendor's tags, over all sites or on one. */
export function figuresOf(counts: VendorCounts) {
  const bad = counts.failure + counts.timeout + counts.exception
  return {
    runs: counts.executions,
    bad,
    // A hostile sender's batches may count more failures than runs.
    failure_rate: counts.executions === 0 ? null : Math.min(1, bad / counts.executions),
    p95_ms: latency(counts).p95_ms,
  }
}

/** The state of a vendor that nothing is wrong with. */
export const FINE: VendorNow = { failing: new Set(), incident: null }

/**
 * Returns every vendor whose tags ran in the last day on a site that the caller may see, or have an unresolved alert.
 *
 * @throws AppError `not_found` for an unknown client
 */
export async function catalogue(
  context: ReportContext,
  reads: Pick<VendorReads, 'of'>,
  visible: Visible,
  { client_id, limit = 50, offset = 0 }: CatalogueQuery,
): Promise<Catalogue> {
  const { read } = context.store
  const sites = await watchedSites(read, visible, client_id)
  const { window, bySite, isComplete } = await reads.of(sites)
  const now = await vendorsNow(read, visible)
  const versions = await liveVersions(read, sites, context.clock.now() - HOUR)
  const ids = new Set(sites.map(({ id }) => id))
  const byVendor = new Map<string, { sum: VendorSum; siteNo: number }[]>()
  const add = (vendor: string, sum: VendorSum, siteNo: number) => {
    const parts = byVendor.get(vendor)
    if (parts === undefined) byVendor.set(vendor, [{ sum, siteNo }])
    else parts.push({ sum, siteNo })
  }
  for (const [siteNo, vendors] of bySite) for (const [vendor, sum] of vendors) add(vendor, sum, siteNo)
  for (const [vendor, { failing }] of now) {
    for (const { id, site_no } of sites) {
      if (failing.has(id) && bySite.get(site_no)?.has(vendor) === false) add(vendor, noRuns(), site_no)
    }
  }
  const vendors = Array.from(byVendor, ([vendor, parts]) =>
    entryOf(vendor, parts, now.get(vendor) ?? FINE, ids, versions),
  )
  vendors.sort((a, b) => b.failing_sites - a.failing_sites || b.runs - a.runs || (a.name < b.name ? -1 : 1))
  return {
    from: isoTime(window.from),
    to: isoTime(window.to),
    complete: isComplete,
    total: vendors.length,
    vendors: vendors.slice(offset, offset + limit),
  }
}

function entryOf(
  vendor: string,
  parts: readonly { sum: VendorSum; siteNo: number }[],
  { failing, incident }: VendorNow,
  siteIds: ReadonlySet<string>,
  versions: ReadonlyMap<number, LiveVersions>,
): VendorEntry {
  const known = parts.flatMap(({ siteNo }) => versions.get(siteNo) ?? [])
  return {
    vendor: vendor === NO_VENDOR ? null : vendor,
    name: nameOfVendor(vendor),
    sites: parts.length,
    tags: parts.reduce((sum, part) => sum + part.sum.tags.size, 0),
    ...figuresOf(countsOf(parts.map(({ sum }) => sum.counts))),
    failing_sites: [...failing].filter((id) => siteIds.has(id)).length,
    incident,
    versions: { known: known.length, mixed: known.filter(({ isMixed }) => isMixed).length },
  }
}
