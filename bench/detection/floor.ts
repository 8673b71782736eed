import type { Fault } from './faults.ts'
import type { SiteHistory } from './history.ts'
import { SLOTS_A_DAY } from './world.ts'

/** False alarms a site and month that are allowed, see the budget of the detectors, … */
export const WANTED_FALSE_ALARMS = 0.2
/** … and so many share them. */
export const SUBJECTS = 12
const SLOTS_A_MONTH = 30 * SLOTS_A_DAY

/**
 * After how many slots no detector could know earlier that something is dead. The ideal watcher knows the true rate of the moment, how many
 * events a visit brings and how often the tag is left out, sees every minute, looks when the probes run, and waits for
 * no more than that the silence is as improbable as false alarms may be. No test of the same counts is quicker at the same
 * number of false alarms: a dead source shows nothing but how long it has been silent (Lorden 1971). Batches are taken for
 * visits of their size. Null when the fault ends before.
 *
 * @param every slots between two runs
 */
export function floorOf(fault: Fault, history: SiteHistory, every: number): number | null {
  // In powers of e: with all runs of a month and a dozen subjects a site, it alone uses up what is allowed.
  const limit = Math.log(((SLOTS_A_MONTH / every) * SUBJECTS) / WANTED_FALSE_ALARMS)
  const surprise = fault.kind === 'tag_dead' ? missedRuns(fault, history, limit) : silence(fault, history)
  let total = 0
  let slot = surprise.from
  for (let run = Math.ceil(fault.from / every) * every; run <= fault.to; run += every) {
    for (; slot < run; slot++) total += surprise.in(slot)
    if (total >= limit) return run - fault.from
  }
  return null
}

/** How much each slot adds, from the one after the last sign of life on. */
interface Surprises {
  from: number
  in: (slot: number) => number
}

function silence(fault: Fault, { site, level, events, total }: SiteHistory): Surprises {
  const silent = site.events.filter(({ name }) => fault.event === undefined || name === fault.event)
  const rates = silent.map(({ share, burst, visitSize }) => share / (visitSize ?? (burst + 1) / 2))
  // Where visitors are simulated, all events of a visit are one.
  const isOne = silent.some(({ visitSize }) => visitSize !== undefined)
  const visits = (isOne ? Math.max(...rates) : rates.reduce((sum, rate) => sum + rate, 0)) / site.batch
  const series = (fault.event === undefined ? total : events.get(fault.event)) ?? total
  return { from: afterLast(series, fault), in: (slot) => (level[slot] ?? 0) * visits }
}

function missedRuns(fault: Fault, { events, tags }: SiteHistory, limit: number): Surprises {
  const dead = tags.find(({ tag }) => tag.key === fault.tag)
  if (dead === undefined) throw new Error(`no such tag: ${fault.tag}`)
  const { tag, executions } = dead
  // A tag that is never left out is dead with the first occurrence that it misses.
  const each = -Math.log(Math.max(1 - tag.coverage, Math.exp(-limit)))
  const occurrences = (slot: number) => tag.events.reduce((sum, name) => sum + (events.get(name)?.[slot] ?? 0), 0)
  return { from: afterLast(executions, fault), in: (slot) => each * occurrences(slot) }
}

function afterLast(series: Float64Array, fault: Fault): number {
  let slot = Math.ceil(fault.from)
  while (slot > 0 && (series[slot - 1] ?? 0) === 0) slot--
  return slot
}
