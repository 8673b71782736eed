import { logChanceTogether } from '../../detection/index.ts'
import { DAY, HOUR, MINUTE } from '../../lib/index.ts'
import { FALLS, GOOGLE_APIS, LOCKED_OUT_OF, OURS } from './sign.ts'

/** A site's incident about one vendor's tags. */
export interface VendorSign {
  incidentId: string
  siteId: string
  clientId: string
  vendor: string
  /** How its tags are bad: `failing`, `missing`, `slow` or `refused`; `locked_out` for checks that have no access to it; or `falls` for all events. */
  failing: string
  startedAt: number
  /** How much later it may have begun, ms, see `Sign`. Set for falls only, which are found in two ways; others are all found in one. */
  resolutionMs: number
}

/** A site that has tags of the vendor, and how often they are bad in this way. */
export interface VendorSite {
  siteId: string
  /** Known where sites may fall only. */
  clientId?: string
  /** Alerts about the vendor's tags of this kind in the last 30 days, except those being judged. */
  alerts: number
}

/** A vendor whose tags fail on many sites at once. */
export interface VendorFault {
  vendor: string
  failing: string
  startedAt: number
  signs: readonly VendorSign[]
  /** Sites with tags of the vendor. */
  sites: number
}

/** Faults that may begin within this time of each other begin at once: probes run every five minutes, and count in slots of ten. */
export const AT_ONCE_MS = 10 * MINUTE
/** Fewer sites prove nothing: two may share an agency, a template or a mistake. */
export const LEAST_SITES = 3
/** Half of very few sites may share anything. */
export const LEAST_FALLS = 4
/** The alerts of this period show how often a site's tags are bad independently of others. */
export const BASE_MS = 30 * DAY
/**
 * Added to each site's count of alerts, so that a site without any still has a rate: half an alert in 30 days (Jeffreys' prior of a
 * Poisson rate).
 */
const PRIOR_ALERTS = 0.5
/**
 * A fault can begin about 130,000 times a month: 2,160 spans of 20 minutes, 20 vendors, three kinds. At a chance of one in ten
 * million each, that is one false incident in six years.
 */
export const BOUND = Math.log(1e-7)
/** A rarely used tag shows the fault late: its site still joins within this time. */
export const LATE_MS = HOUR

/**
 * Returns the chance that this many of the sites show the fault within one span independently, each at its own rate: the tail of
 * the Poisson binomial distribution.
 *
 * @param resolutionMs how inexactly it is known when the fault begins @returns natural logarithm
 */
export function logChanceByThemselves(count: number, sites: readonly VendorSite[], resolutionMs = 0): number {
  const span = 2 * AT_ONCE_MS + resolutionMs
  const rates = sites.map(({ alerts }) => 1 - Math.exp((-(alerts + PRIOR_ALERTS) * span) / BASE_MS))
  return logChanceTogether(count, rates)
}

/**
 * Finds the vendors that fail on more sites at once than chance explains: at least three, with a chance below one in ten million.
 * They may all be of one client, so that it is one incident; `isShared` tells whether it may be the vendor's fault. Falls of all events
 * are ours or the network's only where at least half of the sites with traffic show them, whichever client is left out.
 *
 * @param sitesOf returns all sites that have tags of the vendor, for a vendor and a kind
 */
export function vendorFaults(
  signs: readonly VendorSign[],
  sitesOf: (vendor: string, failing: string) => readonly VendorSite[],
): VendorFault[] {
  const byKey = Map.groupBy(signs, ({ vendor, failing }) => `${vendor} ${failing}`)
  return [...byKey.values()].flatMap((alike) => {
    const [first] = alike
    const together = mostTogether(alike)
    if (first === undefined || siteCount(together) < leastFor(first)) return []
    const { vendor, failing } = first
    const sites = sitesOf(vendor, failing)
    // Without news its sites are not read: this was judged before, without result.
    if (sites.length < siteCount(together)) return []
    if (failing === FALLS && !isHalfOfAll(together, sites)) return []
    const resolutionMs = Math.max(...together.map((sign) => sign.resolutionMs))
    if (logChanceByThemselves(siteCount(together), sites, resolutionMs) > BOUND) return []
    const exact = together.filter((sign) => sign.resolutionMs === 0)
    const startedAt = Math.min(...(exact.length > 0 ? exact : together).map((sign) => sign.startedAt))
    return [{ vendor, failing, startedAt, signs: together, sites: sites.length }]
  })
}

/**
 * Returns whether at least half of the sites fall, of those without any one client too: a client with most of the sites could stop
 * its events, and the messages of all that fall within the hour would wait. Without one client one site less is enough, or half of
 * sites of one client each would never be half.
 */
function isHalfOfAll(signs: readonly VendorSign[], sites: readonly VendorSite[]): boolean {
  const isHalf = (left: string | null, spared: number) =>
    siteCount(signs.filter(({ clientId }) => clientId !== left)) * 2 + spared >=
    sites.filter(({ clientId }) => clientId !== left).length
  return isHalf(null, 0) && signs.every(({ clientId }) => isHalf(clientId, 1))
}

/** The least number of sites that prove anything. */
export const leastFor = ({ failing }: Pick<VendorSign, 'failing'>): number =>
  failing === FALLS ? LEAST_FALLS : LEAST_SITES

/**
 * Returns the signs that began at once on the most sites; the earliest such group where several are equal. Checks that share an account
 * belong together whenever each of them ran.
 */
export function mostTogether(signs: readonly VendorSign[]): VendorSign[] {
  if (signs[0]?.failing === LOCKED_OUT_OF) return [...signs]
  const around = signs
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .map((centre) =>
      signs.filter((sign) => mayBeginBy(sign, centre.startedAt) && sign.startedAt <= centre.startedAt + AT_ONCE_MS),
    )
  return around.reduce((most, some) => (siteCount(some) > siteCount(most) ? some : most), [])
}

const mayBeginBy = ({ startedAt, resolutionMs }: VendorSign, time: number): boolean =>
  startedAt + resolutionMs >= time - AT_ONCE_MS

export const siteCount = (signs: readonly VendorSign[]): number => new Set(signs.map(({ siteId }) => siteId)).size

/** Returns whether a site's incident is part of a vendor's incident that is still unresolved. */
export const isPartOf = (sign: VendorSign, fault: Pick<VendorFault, 'vendor' | 'failing' | 'startedAt'>): boolean =>
  sign.vendor === fault.vendor &&
  sign.failing === fault.failing &&
  (sign.failing === LOCKED_OUT_OF || (mayBeginBy(sign, fault.startedAt) && sign.startedAt <= fault.startedAt + LATE_MS))

/**
 * Whether what fails on sites of these clients is the vendor's fault. The sites of one client share releases and credentials, and a
 * sender with its keys could make others believe that their own fault is the vendor's.
 */
export const isShared = (clientIds: ReadonlySet<string>): boolean => clientIds.size > 1

/**
 * Returns the signs that may join a vendor's incident on sites of these clients. While they are all of one client, others join it only
 * once two of them show the same.
 */
export function joiningOf(signs: readonly VendorSign[], clientIds: ReadonlySet<string>): VendorSign[] {
  const others = new Set(signs.flatMap(({ clientId }) => (clientIds.has(clientId) ? [] : clientId)))
  return signs.filter(({ clientId }) => isShared(clientIds) || clientIds.has(clientId) || isShared(others))
}

const DOES: Readonly<Record<string, string>> = {
  failing: 'tags fail',
  missing: 'tags do not run',
  slow: 'tags are slow',
  refused: 'refuses events',
}

/**
 * Returns `Meta tags fail on 14 of 20 sites`. How many sites need an account is not known.
 *
 * @param clientIds the clients of these sites
 */
export function vendorTitle(
  { vendor, failing, sites }: Pick<VendorFault, 'vendor' | 'failing' | 'sites'>,
  affected: number,
  clientIds: ReadonlySet<string>,
): string {
  if (failing === LOCKED_OUT_OF)
    return `Checks of ${affected} sites have no access to ${vendor}: look at GOOGLE_CREDENTIALS and the Google Cloud project`
  const where = `on ${affected} of ${Math.max(sites, affected)} sites`
  if (failing !== FALLS) return `${vendor} ${DOES[failing] ?? 'tags are bad'} ${where}`
  return `Fewer events ${where} at once${isShared(clientIds) ? `: look at ${vendor}'s endpoint and network` : ''}`
}

/** The title when another number of sites is affected. */
export const titleFor = (title: string, affected: number): string =>
  title.replace(/\b\d+ (of|sites)\b/, `${affected} $1`)

/** Why the sites' incidents are one. */
export const togetherText = (title: string, failing: string): string =>
  failing === LOCKED_OUT_OF
    ? 'All of these checks need the same Google credentials'
    : failing === FALLS
      ? 'So many sites do not lose events at once by chance'
      : `${title} within 10 minutes, far more than fail at once by chance`

/** What a client reads about other clients' sites: nothing but that some are affected. Access is the operator's to restore. */
export function elsewhereText(vendor: string): string {
  if (vendor === GOOGLE_APIS) return `Checks of other sites have no access to ${vendor} either: it is not your release`
  if (vendor === OURS)
    return `Other sites receive fewer events too: probably ${vendor} or its network, not your release`
  return `Other sites are affected too: probably ${vendor}, not your release`
}

/** What it reads about its own sites, if no others are affected. */
export const othersText = (vendor: string, clientIds: ReadonlySet<string>): string =>
  isShared(clientIds) || vendor === GOOGLE_APIS
    ? elsewhereText(vendor)
    : `Other sites of this client are affected too: ${vendor} fails, or something they share, such as a release`
