import { AlarmLog } from './alarms.ts'
import { randomFaults } from './faults.ts'
import { floorOf } from './floor.ts'
import { simulate } from './history.ts'
import { randomSite, type SiteProfile } from './profile.ts'
import { Random } from './random.ts'
import { replay } from './replay.ts'
import { HARD, outcomeOf, type SiteOutcome } from './score.ts'
import { isVisible, usualRate } from './visible.ts'
import { FIRST_JUDGED, SLOTS } from './world.ts'

/** Simulates one site and runs the probes on it. It depends on nothing but the two numbers. */
export function siteOutcome(seed: number, index: number): SiteOutcome {
  const random = new Random(seed * 1_000 + index)
  const site = randomSite(random, index)
  const faults = randomFaults(site, random)
  const history = simulate(site, faults, random)
  const log = new AlarmLog()
  replay(history, log)
  return outcomeOf(
    nameOf(site),
    faults,
    log.finish(SLOTS),
    (fault) => ({
      isVisible: isVisible(fault, history),
      rate: usualRate(fault, history),
      floor: HARD.includes(fault.kind) ? floorOf(fault, history) : null,
    }),
    SLOTS - FIRST_JUDGED,
  )
}

const nameOf = ({ name, daily, timezone, batch }: SiteProfile): string =>
  `${name} (${daily.toFixed(0)} views a day, ${timezone}, batch ${batch})`
