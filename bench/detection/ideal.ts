import { localTime } from '../../src/detection/index.ts'
import { DAY } from '../../src/lib/index.ts'
import { type Fault, type FaultKind, keptShare } from './faults.ts'
import { SUBJECTS, WANTED_FALSE_ALARMS } from './floor.ts'
import type { SiteHistory } from './history.ts'
import type { SiteProfile } from './profile.ts'
import { SLOTS_AN_HOUR, timeOf } from './world.ts'

/** Faults that take events away, or add some. */
const LOSSES: readonly FaultKind[] = [
  'silent_sender',
  'partial_loss',
  'slow_decay',
  'event_dead',
  'event_partial',
  'event_doubled',
]

/**
 * Likelihood ratio at which the ideal watcher of losses gives the alarm, as a logarithm. One that looks at each subject once a day uses up the
 * wanted false alarms with it (Ville 1939); someone who looks more often has to wait for more.
 */
const ENOUGH = Math.log((30 * SUBJECTS) / WANTED_FALSE_ALARMS)

/** Standard deviations of the day's level that are tried. */
const LEVELS = Array.from({ length: 33 }, (_, index) => (index - 16) / 4)

/**
 * Whether anybody who reads the counts can find a loss before it ends, at the wanted number of false alarms. The ideal watcher knows when the fault
 * began and how much it leaves, the true rate of each minute with campaigns, holidays and drift in it, and how
 * events come together. It does not know the level of the day, which is drawn again each midnight: an event shows it by the others, a site does not. Nothing
 * that reads the same counts finds more with as few false alarms (Neyman and Pearson 1933). Faults of other kinds can always be found.
 */
export function canBeFound(fault: Fault, history: SiteHistory): boolean {
  if (!LOSSES.includes(fault.kind)) return true
  const { site, level, events, total } = history
  const ofFault = site.events.filter(({ name }) => fault.event === undefined || name === fault.event)
  const series = fault.event === undefined ? total : events.get(fault.event)
  if (series === undefined || ofFault.length === 0) return false
  const share = ofFault.reduce((sum, event) => sum + event.share, 0)
  const name = ofFault[0]?.name ?? ''
  const unit = together(fault, site)
  const spread = fault.event === undefined ? site.dayNoise * Math.sqrt(1 - (site.dayMemory ?? 0) ** 2) : 0
  const isMidnight = midnights(site)
  let known = 0
  let day = new DayOfFault(spread)
  for (let slot = lastMidnight(Math.floor(fault.from), isMidnight); slot < fault.to; slot++) {
    if (isMidnight(slot)) {
      known += day.ratio()
      day = new DayOfFault(spread)
    }
    const kept = slot < fault.from ? 1 : keptShare([fault], name, slot)
    day.add((series[slot] ?? 0) / unit, ((level[slot] ?? 0) * share) / unit, kept)
    if (slot % SLOTS_AN_HOUR === 0 && known + day.ratio() >= ENOUGH) return true
  }
  return known + day.ratio() >= ENOUGH
}

/** What comes together: where nothing is left, a visit's events; else bursts, whose number has the variance of the counts. */
function together(fault: Fault, site: SiteProfile): number {
  const own = site.events.find(({ name }) => name === fault.event) ?? site.events[0]
  const burst = fault.event === undefined ? siteBurst(site) : (own?.burst ?? 1)
  const isGone = fault.kind === 'silent_sender' || fault.kind === 'event_dead'
  return Math.max(isGone ? (own?.visitSize ?? (burst + 1) / 2) : burst, site.batch)
}

/** Variance of the counts of all events over their mean. */
export const siteBurst = ({ visitBurst, events }: SiteProfile): number => visitBurst ?? events[0]?.burst ?? 1

/** When the day's level is drawn: at the visitors' midnight, or (of counts) at midnight UTC. */
function midnights({ timezone, dayMemory }: SiteProfile): (slot: number) => boolean {
  const clock = dayMemory === undefined ? null : localTime(timezone)
  return (slot) => (timeOf(slot) + (clock?.offsetAt(timeOf(slot)) ?? 0)) % DAY === 0
}

function lastMidnight(from: number, isMidnight: (slot: number) => boolean): number {
  let slot = from
  while (slot > 0 && !isMidnight(slot)) slot--
  return slot
}

/** How much more likely a day's counts are with the fault than without it, whatever the day's level. */
class DayOfFault {
  private readonly spread: number
  private measured = 0
  private expected = 0
  private expectedInFault = 0
  private weighed = 0

  /** @param spread standard deviation of the level's logarithm */
  constructor(spread: number) {
    this.spread = spread
  }

  /** @param kept share of the events that the fault leaves */
  add(measured: number, expected: number, kept: number): void {
    this.measured += measured
    this.expected += expected
    this.expectedInFault += expected * kept
    if (measured > 0) this.weighed += measured * Math.log(kept)
  }

  ratio(): number {
    return this.weighed + this.likelihood(this.expectedInFault) - this.likelihood(this.expected)
  }

  /** Of a Poisson number of bursts, over the levels that a day may have; without what all have in common. */
  private likelihood(expected: number): number {
    const logs = LEVELS.map((z) => {
      const level = z * this.spread
      return -0.5 * z * z + this.measured * level - expected * Math.exp(level)
    })
    const most = Math.max(...logs)
    return most + Math.log(logs.reduce((sum, value) => sum + Math.exp(value - most), 0))
  }
}
