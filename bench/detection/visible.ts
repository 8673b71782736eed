import type { Fault } from './faults.ts'
import type { SiteHistory } from './history.ts'
import { canBeFound, siteBurst } from './ideal.ts'
import { ECOMMERCE } from './profile.ts'
import type { Signals } from './signals.ts'
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
function shows(fault: Fault, history: SiteHistory): boolean {
  const { site, events, total, tags, fields } = history
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
    case 'event_doubled': {
      const expected = usual(events.get(fault.event ?? ''))
      return expected * (fault.size - 1) >= 5 * Math.sqrt(expected * burstOf(fault.event) * site.batch)
    }
    case 'transactions_repeat':
    case 'event_id_lost':
    case 'value_broken':
    case 'identifier_lost':
    case 'consent_lost':
    case 'tag_ignores_consent':
    case 'vendor_refusing':
      return history.signals !== undefined && signalShows(fault, history, history.signals, usual)
    case 'tag_too_soon':
      return site.batch === 1 && usual(tag?.executions) >= 60 && (tag?.tag.medianMs ?? 0) >= 60
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

/**
 * What is said of 60 events or more, each as much as one that came alone, changes by half: what visitors bring, as consent and click ids, is one thing for all pages of a visit.
 *
 * @param usual what a series would have had in the fault's first 24 hours, going by the week before
 */
function signalShows(
  fault: Fault,
  { site, tags }: SiteHistory,
  signals: Signals,
  usual: (series: Float64Array | undefined) => number,
): boolean {
  const pages = Math.max(1, Math.round(site.pagesAVisit ?? 1))
  const ofTag = signals.tags.find(({ key }) => key === fault.tag)
  const isSaid = ({ present, total }: { present: Float64Array; total: Float64Array }): boolean => {
    const [seen, all] = [usual(present), usual(total)]
    return seen / all >= 0.12 && seen >= 60 * (seen > 0.9 * all ? 1 : pages) && fault.size <= 0.4
  }
  switch (fault.kind) {
    case 'transactions_repeat': {
      const executions = signals.presence.get('purchase')?.get('transaction_duplicate')
      return site.batch === 1 && usual(executions?.total) >= 60
    }
    case 'value_broken':
      return kindsWith(signals, fault).some(({ total }) => usual(total) >= 60)
    case 'event_id_lost':
    case 'identifier_lost':
      return kindsWith(signals, fault).some(isSaid)
    case 'consent_lost': {
      const said = signals.consent.get(fault.consent ?? 'signal')
      return said !== undefined && isSaid(said)
    }
    case 'tag_ignores_consent': {
      const denied = signals.consent.get('refusal')
      const share = usual(denied?.present) / usual(denied?.total)
      return usual(ofTag?.consented) * share >= 60 * (ofTag?.key === 'Meta' ? pages : 1)
    }
    case 'vendor_refusing': {
      const executions = usual(tags.find(({ tag: { key } }) => key === fault.tag)?.executions)
      return executions >= 30 && fault.size * executions >= 10
    }
    default:
      return false
  }
}

const kindsWith = ({ presence }: Signals, { signal }: Fault) =>
  [...presence.values()].flatMap((kind) => (signal === undefined ? [] : (kind.get(signal) ?? [])))
