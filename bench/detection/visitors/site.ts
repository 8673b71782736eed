import { type Fault, kindsOf, randomFaults } from '../faults.ts'
import { historyOf, type Scope, type SiteHistory } from '../history.ts'
import type { Random } from '../random.ts'
import { SLOTS_A_DAY, SLOTS_AN_HOUR } from '../world.ts'
import { type Benign, ECHO_AFTER, randomBenign } from './benign.ts'
import { visitorSite } from './profile.ts'
import { midnightOf, visitorTraffic } from './traffic.ts'

export interface VisitorHistory extends SiteHistory {
  readonly benign: readonly Benign[]
}

/** A site made of visitors, with faults and with what only looks like one. */
export function visitorHistory(random: Random, index: number, scope?: Scope): VisitorHistory {
  const site = visitorSite(random, index)
  const randomOnes = randomFaults(site, random, kindsOf(scope)).map((fault) => sized(fault, random))
  const benign = randomBenign(site, random, midnightOf(site.timezone))
  const rename = benign.find(({ kind }) => kind === 'rename')
  // What has another name by then cannot fail under its old one.
  const faults = randomOnes.filter(
    ({ event, from }) => rename === undefined || event !== rename.event || from < rename.from - 2 * SLOTS_A_DAY,
  )
  return { ...historyOf(site, faults, visitorTraffic(site, benign, faults, random), random, scope), benign }
}

/** The same site with nothing but its usual visitors, in all the weeks. */
export function cleanVisitorHistory(random: Random, index: number): VisitorHistory {
  const site = { ...visitorSite(random, index), bornOn: 0 }
  return { ...historyOf(site, [], visitorTraffic(site, [], [], random), random, 'volume'), benign: [] }
}

/** Sizes from what everybody sees down to what hardly shows. */
function sized(fault: Fault, random: Random): Fault {
  switch (fault.kind) {
    case 'partial_loss':
    case 'event_partial':
      return { ...fault, size: random.pick([0.2, 0.5, 0.8]) }
    case 'tag_failing':
      return { ...fault, size: random.pick([0.6, 0.2, 0.05]) }
    case 'tag_slow':
      return { ...fault, size: random.pick([2, 4, 8]) }
    default:
      return fault
  }
}

/** How long after it began something may still look odd: windows that reach back into it are a day long at most. */
const AFTER = 6 * SLOTS_AN_HOUR
const LAUNCH_LASTS = 7 * SLOTS_A_DAY

/** What explains a false alarm that begins in a slot: what was going on, or was a week before; null in ordinary times. */
export function benignCause(benign: readonly Benign[], slot: number): string | null {
  const isIn = ({ kind, from, to }: Benign, shift: number): boolean => {
    const end = kind === 'launch' || kind === 'rename' ? Math.min(to, from + LAUNCH_LASTS) : to
    return slot >= from + shift && slot < end + shift + AFTER
  }
  const now = benign.find((one) => isIn(one, 0))
  if (now !== undefined) return now.kind
  return benign.some((one) => isIn(one, ECHO_AFTER)) ? 'echo' : null
}
