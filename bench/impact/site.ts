import { type Fault, randomFaults } from '../detection/faults.ts'
import { type SiteHistory, simulate } from '../detection/history.ts'
import { randomSite } from '../detection/profile.ts'
import { Random } from '../detection/random.ts'
import { replay } from '../detection/replay.ts'
import { SLOTS_AN_HOUR } from '../detection/world.ts'
import { type Estimated, estimatesOf } from './losses.ts'
import { FaultWindows, SHOWN_BY, type Window } from './windows.ts'

/** Faults of half an hour too: those of the detection benchmark last four hours and more. */
const SHORTEST = 0.5 * SLOTS_AN_HOUR

/** A site's history, in which each fault is between half an hour and as long as it would have been. */
export function historyWithFaults(seed: number, index: number): SiteHistory {
  const random = new Random(seed * 1_000 + index)
  const site = randomSite(random, index)
  const faults = randomFaults(site, random).map((fault) => ({ ...fault, to: fault.from + lengthOf(fault, random) }))
  return simulate(site, faults, random)
}

function lengthOf({ kind, from, to }: Fault, random: Random): number {
  const longest = to - from
  return kind === 'slow_decay' ? longest : SHORTEST * (longest / SHORTEST) ** random.next()
}

/**
 * What is estimated of each fault next to what it took, in the time that the probes saw it.
 *
 * @param isToldWhen the true beginning and end are used instead, which needs no probes: a hundred times as quick
 */
export function estimatesOfSite(history: SiteHistory, isToldWhen: boolean): Estimated[] {
  const windowOf = isToldWhen ? trueWindow : windowsSeen(history)
  return history.faults
    .filter(({ kind }) => kind in SHOWN_BY)
    .flatMap((fault) => {
      const window = windowOf(fault)
      return window === undefined ? [] : estimatesOf(fault, window, history)
    })
}

const trueWindow = ({ from, to }: Fault): Window => ({ from: Math.floor(from), to: Math.ceil(to) })

function windowsSeen(history: SiteHistory): (fault: Fault) => Window | undefined {
  const windows = new FaultWindows(history.faults)
  replay(history, windows)
  return (fault) => windows.of(fault)
}
