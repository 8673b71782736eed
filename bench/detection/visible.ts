import type { Fault } from './faults.ts'
import type { SiteHistory } from './history.ts'
import { canBeFound, siteBurst } from './ideal.ts'
import { ECOMMERCE } from './profile.ts'
import { RUN_EVERY, SLOTS_A_DAY, SLOTS_AN_HOUR } from './world.ts'

/** Whether a person could see a fault, and whether it is one that shows but that nobody could find with so few false alarms. */
export function sightOf(fault: Fault, history: SiteHistory): { isVisible: boolean; isHopeless: boolean } {
  const isLarge = shows(fault, history)
  const isFindable = isLarge && canBeFound(fault, history)
  return { isVisible: isFindable, isHopeless: isLarge && !isFindable }
}

/** Settled before any detector was run, see `shows` and `canBeFound`. */
export const isVisible = (fault: Fault, history: SiteHistory): boolean => sightOf(fault, history).isVisible

/**
 * Whether a person who looks at the site's charts could see the fault:
 * enough has to happen in its first 24 hours that the change is at least five standard deviations of pure counting noise,
 * and it has to be large: half of a count, ten points of a failure rate, 2.5 times a duration, half of a field's rate.
 * What a count would have been without the fault is taken from the week before.
 */
function shows(fault: Fault, { site, events, total, tags, fields }: SiteHistory): boolean {
  // Slow decay is nothing to see on its first day.
  const length = fault.kind === 'slow_decay' ? fault.to - fault.from : Math.min(fault.to - fault.from, SLOTS_A_DAY)
  const usual = (series: Float64Array | undefined): number => {
    let sum = 0
    const from = Math.floor(fault.from) - 7 * SLOTS_A_DAY
    for (let slot = from; slot < from + length; slot++) sum += series?.[slot] ?? 0
    return sum
  }
  const tag = tags.find(({ tag: { key } }) => key === fault.tag)
  const burstOf = (name: string | undefined) => site.events.find((event) => event.name === name)?.burst ?? 4
  const fallIsSeen = (expected: number, burst: number) =>
    expected > 0 &&
    fault.size <= 0.5 &&
    1 - fault.size >= 3 * site.dayNoise &&
    expected * (1 - fault.size) >= 5 * Math.sqrt(expected * burst * site.batch)
  switch (fault.kind) {
    case 'silent_sender':
    case 'partial_loss':
    case 'slow_decay':
      return fallIsSeen(usual(total), siteBurst(site))
    case 'event_dead':
    case 'event_partial':
      return fallIsSeen(usual(events.get(fault.event ?? '')), burstOf(fault.event))
    case 'tag_dead':
    case 'tag_off_event': {
      const names = fault.event === undefined ? (tag?.tag.events ?? []) : [fault.event]
      const most = Math.max(...names.map((name) => usual(tag?.onEvent.get(name))))
      return site.batch === 1 && most >= 60
    }
    case 'tag_failing': {
      const executions = usual(tag?.executions)
      return executions >= 30 && fault.size >= 0.1 && fault.size * executions >= 10
    }
    case 'tag_slow':
      return (
        site.batch === 1 &&
        usual(tag?.executions) >= 60 &&
        fault.size >= 2.5 &&
        (tag?.tag.medianMs ?? 0) * Math.exp(1.645 * (tag?.tag.spread ?? 0)) * (fault.size - 1) >= 500
      )
    case 'field_lost': {
      const base = usual(fields.get(fault.field ?? 'email')?.total)
      return base >= (ECOMMERCE.some((name) => name === fault.field) ? 60 : 80)
    }
  }
}

/** Occurrences that a dead event, tag or site would have had every five minutes in its first two hours, going by the week before. */
export function usualRate(fault: Fault, { events, total, tags }: SiteHistory): number {
  const from = Math.floor(fault.from) - 7 * SLOTS_A_DAY
  const rateOf = (series: Float64Array | undefined) => {
    let sum = 0
    for (let slot = from; slot < from + 2 * SLOTS_AN_HOUR; slot++) sum += series?.[slot] ?? 0
    return (sum * RUN_EVERY) / (2 * SLOTS_AN_HOUR)
  }
  if (fault.event !== undefined) return rateOf(events.get(fault.event))
  if (fault.tag === undefined) return rateOf(total)
  const tag = tags.find(({ tag: { key } }) => key === fault.tag)
  return Math.max(...[...(tag?.onEvent.values() ?? [])].map(rateOf))
}
