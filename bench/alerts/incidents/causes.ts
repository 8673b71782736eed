import type { Fault } from '../../detection/faults.ts'
import { randomFault } from '../../detection/faults.ts'
import { randomSite, type SiteProfile } from '../../detection/profile.ts'
import { Random } from '../../detection/random.ts'
import { DAYS, FIRST_JUDGED, PAST_DAYS, SLOTS, SLOTS_A_DAY, SLOTS_AN_HOUR } from '../../detection/world.ts'

/**
 * What really goes wrong: one fault of a site; its server; a version that breaks several tags; a vendor on many sites; our own
 * connection.
 */
export const CAUSE_KINDS = ['independent', 'server', 'release', 'vendor', 'connection'] as const
export type CauseKind = (typeof CAUSE_KINDS)[number]

/** What a server does wrong: nothing gets through, part of it, or all of it slowly. */
export type ServerFault = 'down' | 'unsteady' | 'slow'

/** One thing that goes wrong. Times are in slots and fractions of one, half-open. */
export interface Cause {
  id: string
  kind: CauseKind
  from: number
  to: number
  /** What it does to the data of each site that it affects, by the site's place. */
  faults: ReadonlyMap<number, readonly Fault[]>
  server: ServerFault | null
}

/** Sites that one service watches, and all that goes wrong with them in three weeks. */
export interface Agency {
  seed: number
  sites: readonly WatchedSite[]
  causes: readonly Cause[]
}

export interface WatchedSite {
  profile: SiteProfile
  hasTagServer: boolean
  /** When versions of its container are published, slots; nearly all of them break nothing. */
  releases: readonly number[]
  /** A certificate that is about to run out, a warning for days. */
  certificate: { from: number; to: number } | null
  /** Single health checks that fail without a reason, slots. */
  blips: readonly number[]
}

/** How often in three weeks, so that a site meets as many faults in a month as in the benchmark of detection: 8.6. */
const INDEPENDENT = 4.3
const SERVER = 0.9
const RELEASE = 0.35
const VENDOR = 1
const CONNECTION = 1

const JUDGED_SLOTS = SLOTS - FIRST_JUDGED
/** Sites use the vendors whose tags the profiles have. */
const VENDOR_TAGS = ['GA4', 'Ads conversion', 'Meta'] as const

export function randomAgency(seed: number, count: number): Agency {
  const random = new Random(seed)
  const sites = Array.from({ length: count }, (_, place) => randomWatched(new Random(seed * 1_000 + place), place))
  const own = sites.flatMap((site, place) => [
    ...independent(site, place, forked(random)),
    ...servers(site, place, forked(random)),
    ...breakingReleases(site, place, forked(random)),
  ])
  const causes = [...own, ...vendors(sites, forked(random)), ...connections(forked(random))]
  return { seed, sites: sites.map((site, place) => withReleases(site, place, causes)), causes }
}

function randomWatched(random: Random, place: number): WatchedSite {
  const profile = randomSite(random, place)
  const from = FIRST_JUDGED + random.between(0, JUDGED_SLOTS)
  return {
    profile,
    hasTagServer: random.chance(0.8),
    releases: times(random, 3),
    certificate: random.chance(0.1) ? { from, to: from + 14 * SLOTS_A_DAY } : null,
    blips: times(random, 0.4),
  }
}

const withReleases = (site: WatchedSite, place: number, causes: readonly Cause[]): WatchedSite => ({
  ...site,
  releases: [
    ...site.releases,
    ...causes.filter(({ kind, faults }) => kind === 'release' && faults.has(place)).map(({ from }) => from),
  ],
})

/** Moments at random, so many in the three weeks on average. */
const times = (random: Random, mean: number): number[] =>
  Array.from({ length: random.poisson(mean) }, () => FIRST_JUDGED + random.between(0, JUDGED_SLOTS))

/** The same after the first day, in which a young site is learnt, and early enough that what follows is seen. */
function begins(site: SiteProfile, random: Random, mean: number): number[] {
  const earliest = Math.max(PAST_DAYS + 1, site.bornOn + 4) * SLOTS_A_DAY
  const span = (DAYS - 2) * SLOTS_A_DAY - earliest
  return Array.from({ length: random.poisson((mean * span) / JUDGED_SLOTS) }, () => earliest + random.between(0, span))
}

function independent({ profile }: WatchedSite, place: number, random: Random): Cause[] {
  return begins(profile, random, INDEPENDENT).flatMap((from, index) => {
    const fault = { ...randomFault(profile, random, from - SLOTS_A_DAY), from }
    const ended = { ...fault, to: Math.min(SLOTS, from + lengthOf(fault.kind, random)) }
    return [causeOf(`${fault.kind} ${place}.${index}`, 'independent', ended, [[place, [ended]]])]
  })
}

const lengthOf = (kind: Fault['kind'], random: Random): number =>
  (kind === 'slow_decay' ? random.between(120, 170) : random.between(4, 36)) * SLOTS_AN_HOUR

function servers({ profile, hasTagServer }: WatchedSite, place: number, random: Random): Cause[] {
  if (!hasTagServer) return []
  return begins(profile, random, SERVER).map((from, index) => {
    const server = random.pick<ServerFault>(['down', 'down', 'unsteady', 'slow'])
    const span = { from, to: from + random.logBetween(0.3, 10) * SLOTS_AN_HOUR }
    return {
      ...causeOf(`${server} ${place}.${index}`, 'server', span, [[place, ofServer(server, span, profile)]]),
      server,
    }
  })
}

function ofServer(server: ServerFault, span: Span, { tags }: SiteProfile): Fault[] {
  if (server === 'down') return [{ kind: 'silent_sender', ...span, size: 0 }]
  if (server === 'unsteady') return [{ kind: 'partial_loss', ...span, size: 0.3 }]
  return tags.map(({ key }) => ({ kind: 'tag_slow', ...span, size: 5, tag: key }))
}

/** A version without some of the tags, until it is taken back. */
function breakingReleases({ profile }: WatchedSite, place: number, random: Random): Cause[] {
  return begins(profile, random, RELEASE).map((from, index) => {
    const span = { from, to: from + random.between(2, 24) * SLOTS_AN_HOUR }
    const broken = profile.tags.filter(() => random.chance(0.6))
    const faults = (broken.length < 2 ? profile.tags.slice(0, 2) : broken).map(
      ({ key }): Fault => ({ kind: 'tag_dead', ...span, size: 0, tag: key }),
    )
    return causeOf(`release ${place}.${index}`, 'release', span, [[place, faults]])
  })
}

function vendors(sites: readonly WatchedSite[], random: Random): Cause[] {
  return Array.from({ length: VENDOR }, (_, index) => {
    const tag = random.pick([...VENDOR_TAGS])
    const from = FIRST_JUDGED + random.between(2, 18) * SLOTS_A_DAY
    const span = { from, to: from + random.logBetween(1, 8) * SLOTS_AN_HOUR }
    const share = random.between(0.5, 1)
    const isSlow = random.chance(0.25)
    const size = isSlow ? random.between(5, 12) : random.between(0.3, 1)
    const affected = sites.flatMap(({ profile }, place) => {
      if (!random.chance(share) || profile.bornOn + 4 > from / SLOTS_A_DAY) return []
      const fault: Fault = { kind: isSlow ? 'tag_slow' : 'tag_failing', ...span, size, tag }
      return [[place, [fault]] as const]
    })
    return causeOf(`${tag} ${isSlow ? 'slow' : 'failing'} ${index}`, 'vendor', span, affected)
  })
}

function connections(random: Random): Cause[] {
  return Array.from({ length: CONNECTION }, (_, index) => {
    const from = FIRST_JUDGED + random.between(1, 20) * SLOTS_A_DAY
    return causeOf(`connection ${index}`, 'connection', { from, to: from + random.logBetween(5, 60) }, [])
  })
}

type Span = Pick<Cause, 'from' | 'to'>

const causeOf = (
  id: string,
  kind: CauseKind,
  { from, to }: Span,
  faults: readonly (readonly [number, readonly Fault[]])[],
): Cause => ({ id, kind, from, to, faults: new Map(faults), server: null })

/** A stream of its own, with the same distributions. */
const forked = (random: Random): Random => new Random(random.below(2 ** 32))

/** How often something goes wrong with a site: what is one cause of many sites counts on each of them. */
export function faultsMet({ sites, causes }: Pick<Agency, 'sites' | 'causes'>): number {
  const withServer = sites.filter(({ hasTagServer }) => hasTagServer).length
  return causes.reduce((sum, { kind, faults }) => sum + (kind === 'connection' ? withServer : faults.size), 0)
}
