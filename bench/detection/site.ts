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
import { FIRST_JUDGED, SLOTS } from './world.ts'

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
      floor: HARD.includes(fault.kind) && (fault.tag === undefined || scope === 'all') ? floorOf(fault, history) : null,
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
  return { history: simulate(site, randomFaults(site, random, kindsOf(scope)), random, scope), causeOf: () => null }
}

const nameOf = ({ name, daily, timezone, batch }: SiteProfile): string =>
  `${name} (${daily.toFixed(0)} views a day, ${timezone}, batch ${batch})`
