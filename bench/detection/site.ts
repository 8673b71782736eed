import { localTime } from '../../src/detection/index.ts'
import { DAY } from '../../src/lib/index.ts'
import { AlarmLog } from './alarms.ts'
import { baselineOutcomes } from './baselines.ts'
import { kindsOf, randomFaults } from './faults.ts'
import { floorOf } from './floor.ts'
import { type Scope, type SiteHistory, simulate } from './history.ts'
import { randomSite, type SiteProfile } from './profile.ts'
import { Random } from './random.ts'
import { replay } from './replay.ts'
import { HARD, outcomeOf, type SiteOutcome } from './score.ts'
import { sightOf, usualRate } from './visible.ts'
import { benignCause, visitorHistory } from './visitors/site.ts'
import { FIRST_JUDGED, SLOTS, timeOf } from './world.ts'

/** How a site's traffic is made: counts of each minute, or visitors one by one. */
export const WORLDS = ['counts', 'visitors'] as const
export type World = (typeof WORLDS)[number]

/** Which probes run, and after how many minutes again. */
export interface Watching {
  readonly scope: Scope
  readonly every: number
}

/** Simulates one site and runs the probes on it. It depends on nothing but the arguments. */
export function siteOutcome(world: World, seed: number, index: number, { scope, every }: Watching): SiteOutcome {
  const { history, causeOf } = made(world, new Random(seed * 1_000 + index), index, scope)
  const log = new AlarmLog()
  replay(history, log, FIRST_JUDGED, every)
  const outcome = outcomeOf(
    nameOf(history.site),
    history.faults,
    log.finish(SLOTS),
    (fault) => ({
      ...sightOf(fault, history),
      rate: usualRate(fault, history),
      floor:
        HARD.includes(fault.kind) && (fault.tag === undefined || scope === 'all')
          ? floorOf(fault, history, every)
          : null,
    }),
    causeOf,
    SLOTS - FIRST_JUDGED,
  )
  const seen = outcome.faults.filter((fault) => fault.isVisible).map(({ fault }) => fault)
  return { ...outcome, baselines: baselineOutcomes(history, (fault) => seen.includes(fault)) }
}

interface Made {
  readonly history: SiteHistory
  /** What explains an alarm that begins in a slot without a fault. */
  readonly causeOf: (slot: number) => string | null
}

function made(world: World, random: Random, index: number, scope: Scope): Made {
  if (world === 'visitors') {
    const history = visitorHistory(random, index, scope)
    return { history, causeOf: (slot) => benignCause(history.benign, slot) }
  }
  const site = randomSite(random, index)
  const history = simulate(site, randomFaults(site, random, kindsOf(scope)), random, scope)
  return { history, causeOf: (slot) => specialDay(site, slot) }
}

/** The special day that an alarm begins on, or the one it is compared with. */
function specialDay({ holidays, sales, timezone }: SiteProfile, slot: number): string | null {
  const local = timeOf(slot) + localTime(timezone).offsetAt(timeOf(slot))
  const day = Math.floor((local - timeOf(0)) / DAY)
  // What a night has begins the day before.
  const isOn = (days: ReadonlyMap<number, number>, at: number) => days.has(at) || days.has(at - 1)
  if (isOn(holidays, day)) return 'holiday'
  if (isOn(sales, day)) return 'sale'
  return isOn(holidays, day - 7) || isOn(sales, day - 7) ? 'echo' : null
}

const nameOf = ({ name, daily, timezone, batch }: SiteProfile): string =>
  `${name} (${daily.toFixed(0)} views a day, ${timezone}, batch ${batch})`
