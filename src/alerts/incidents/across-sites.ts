import { logChanceTogether } from '../../detection/index.ts'
import { DAY, HOUR, MINUTE } from '../../lib/index.ts'

/** An incident of a site that is about one vendor's tags. */
export interface VendorSign {
  incidentId: string
  siteId: string
  vendor: string
  /** How its tags are bad: `failing`, `missing`, `slow`, `refused`. */
  failing: string
  startedAt: number
}

/** A site that has tags of the vendor, and how often those are bad in this way. */
export interface VendorSite {
  siteId: string
  /** Alerts of the vendor and kind in the last 30 days, without those that are judged. */
  alerts: number
}

/** What one vendor does on many sites at once. */
export interface VendorFault {
  vendor: string
  failing: string
  startedAt: number
  signs: readonly VendorSign[]
  /** Sites with tags of the vendor. */
  sites: number
}

/** What begins within this time of each other begins at once: probes look every five minutes, and count by ten. */
export const AT_ONCE_MS = 10 * MINUTE
/** Two sites share an agency, a template or a mistake. */
export const LEAST_SITES = 3
/** For so long alerts tell how often a site's tags are bad by themselves. */
export const BASE_MS = 30 * DAY
/** A site without alerts has none of these in two months, as far as is known: half of one in 30 days (Jeffreys' prior of a Poisson rate). */
const PRIOR_ALERTS = 0.5
/**
 * About 130,000 times a month a fault can begin: 2,160 spans of 20 minutes, 20 vendors, three kinds. One in ten million by each of
 * them is one mistake in six years.
 */
export const BOUND = Math.log(1e-7)
/** A rare tag shows it late, and its site is of the same fault while that lasts. */
const LATE_MS = HOUR

/**
 * The chance that this many of the sites show it within one span by themselves: each by its own rate, the tail of the Poisson binomial
 * distribution.
 *
 * @returns natural logarithm
 */
export function logChanceByThemselves(count: number, sites: readonly VendorSite[]): number {
  const span = 2 * AT_ONCE_MS
  const rates = sites.map(({ alerts }) => 1 - Math.exp((-(alerts + PRIOR_ALERTS) * span) / BASE_MS))
  return logChanceTogether(count, rates)
}

/**
 * Finds the vendors that fail on more sites at once than chance explains: at least three, and fewer than one time in ten million by
 * themselves.
 *
 * @param sitesOf all sites that have tags of the vendor, for a vendor and a kind
 */
export function vendorFaults(
  signs: readonly VendorSign[],
  sitesOf: (vendor: string, failing: string) => readonly VendorSite[],
): VendorFault[] {
  const byKey = Map.groupBy(signs, ({ vendor, failing }) => `${vendor} ${failing}`)
  return [...byKey.values()].flatMap((alike) => {
    const [first] = alike
    const together = mostTogether(alike)
    if (first === undefined || siteCount(together) < LEAST_SITES) return []
    const { vendor, failing } = first
    const sites = sitesOf(vendor, failing)
    if (logChanceByThemselves(siteCount(together), sites) > BOUND) return []
    const startedAt = Math.min(...together.map((sign) => sign.startedAt))
    return [{ vendor, failing, startedAt, signs: together, sites: sites.length }]
  })
}

/** Those that began around one of them, on the most sites; of equal ones the earliest. */
export function mostTogether(signs: readonly VendorSign[]): VendorSign[] {
  const around = signs
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .map((centre) => signs.filter(({ startedAt }) => Math.abs(startedAt - centre.startedAt) <= AT_ONCE_MS))
  return around.reduce((most, some) => (siteCount(some) > siteCount(most) ? some : most), [])
}

export const siteCount = (signs: readonly VendorSign[]): number => new Set(signs.map(({ siteId }) => siteId)).size

/** Whether an incident that opens while a vendor's lasts is part of it. */
export const isPartOf = (sign: VendorSign, fault: Pick<VendorFault, 'vendor' | 'failing' | 'startedAt'>): boolean =>
  sign.vendor === fault.vendor &&
  sign.failing === fault.failing &&
  sign.startedAt >= fault.startedAt - AT_ONCE_MS &&
  sign.startedAt <= fault.startedAt + LATE_MS

const DOES: Readonly<Record<string, string>> = {
  failing: 'tags fail',
  missing: 'tags do not run',
  slow: 'tags are slow',
  refused: 'refuses events',
}

/** `Meta tags fail on 14 of 20 sites` */
export const vendorTitle = (vendor: string, failing: string, affected: number, sites: number): string =>
  `${vendor} ${DOES[failing] ?? 'tags are bad'} on ${affected} of ${Math.max(sites, affected)} sites`

/** What a client learns of the others. */
export const elsewhereText = (vendor: string): string =>
  `Other sites are affected too: probably ${vendor}, not your release`
