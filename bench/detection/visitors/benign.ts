import type { Random } from '../random.ts'
import { DAYS, SLOTS, SLOTS_A_DAY, SLOTS_AN_HOUR } from '../world.ts'
import { HOLIDAYS, RENAMED, type VisitorSite } from './profile.ts'

/** What changes a site's traffic while nothing is broken. */
const BENIGN_KINDS = ['holiday', 'local_holiday', 'campaign', 'mailing', 'launch', 'bots', 'rename', 'backlog'] as const
export type BenignKind = (typeof BENIGN_KINDS)[number]

export interface Benign {
  readonly kind: BenignKind
  /** In slots, half-open. */
  readonly from: number
  readonly to: number
  /** Factor of the visits, or (of bots) pages a minute as a multiple of the usual ones. */
  readonly size: number
  /** Factor of the chance that a visit of it goes on to the next step of the funnel. */
  readonly interest: number
  /** Of a rename: the event, and its new name. */
  readonly event?: string
  readonly renamed?: string
}

/** @param midnight slot of a local day's start */
export function randomBenign(site: VisitorSite, random: Random, midnight: (day: number) => number): Benign[] {
  const all: Benign[] = []
  const add = (kind: BenignKind, from: number, hours: number, size: number, more: Partial<Benign> = {}) =>
    all.push({ kind, from, to: from + hours * SLOTS_AN_HOUR, size, interest: 1, ...more })
  const anyTime = () => random.between(7 * SLOTS_A_DAY, SLOTS - SLOTS_A_DAY)
  const isOffice = site.name.endsWith('lead')
  const level = () => (isOffice ? random.between(0.1, 0.4) : random.pick([0.35, 0.5, 0.65, 0.8, 0.9, 1.15]))
  for (const day of HOLIDAYS[site.country]) add('holiday', midnight(day), 24, level())
  if (random.chance(0.35)) add('local_holiday', midnight(Math.floor(random.between(7, DAYS - 1))), 24, level())
  // Paid campaigns begin and end on the minute, and bring people who buy less.
  for (let left = random.poisson(1.5); left > 0; left--) {
    add('campaign', anyTime(), random.logBetween(3, 96), random.between(1.3, 3.5), {
      interest: random.between(0.3, 1.1),
    })
  }
  // A newsletter goes out on the same weekday and hour, in some weeks: its readers come within the hour.
  if (random.chance(0.5)) {
    const at = midnight(Math.floor(random.between(7, 14))) + random.between(7, 19) * SLOTS_AN_HOUR
    for (let week = 0; at + week * 7 * SLOTS_A_DAY < SLOTS - SLOTS_A_DAY; week++) {
      if (random.chance(0.6))
        add('mailing', at + week * 7 * SLOTS_A_DAY, 5, random.between(1.3, 3), { interest: random.between(0.6, 1.6) })
    }
  }
  if (random.chance(0.25)) {
    const from = anyTime()
    all.push({ kind: 'launch', from, to: SLOTS, size: random.between(1.2, 2.2), interest: random.between(0.8, 1.1) })
  }
  for (let left = random.poisson(1.5); left > 0; left--) {
    add('bots', anyTime(), random.logBetween(0.2, 5), random.logBetween(0.3, 8))
  }
  const renamed = site.events.find(({ name }) => name === 'scroll')
  if (renamed !== undefined && random.chance(0.12)) {
    all.push({ kind: 'rename', from: anyTime(), to: SLOTS, size: 1, interest: 1, event: 'scroll', renamed: RENAMED })
  }
  // The sender's own queue: for some minutes nothing comes, then all of it.
  for (let left = random.poisson(1); left > 0; left--) add('backlog', anyTime(), random.between(1, 4) / 60, 0)
  return all
}

/** How many times the usual visits come in a slot, holidays and campaigns together, and how interested they are. */
export function benignLevel(all: readonly Benign[], slot: number): { visits: number; interest: number } {
  let visits = 1
  let interest = 1
  for (const { kind, from, to, size, interest: own } of all) {
    if (slot < from || slot >= to) continue
    const hour = (slot - from) / SLOTS_AN_HOUR
    switch (kind) {
      case 'holiday':
      case 'local_holiday':
        visits *= 1 + (size - 1) * Math.min(1, Math.max(0, (hour - 4) / 5)) * Math.min(1, 24 - hour)
        break
      case 'mailing': {
        const echo = size * Math.exp(-hour / 1.2) * Math.min(1, hour * 6)
        visits += echo
        interest = (interest * visits + (own - 1) * echo) / visits
        break
      }
      case 'campaign':
      case 'launch':
        visits *= size
        interest *= (1 + (size - 1) * own) / size
        break
      default:
    }
  }
  return { visits, interest }
}

/** A week after what made last week special, the usual looks like a fall. */
export const ECHO_AFTER = 7 * SLOTS_A_DAY
