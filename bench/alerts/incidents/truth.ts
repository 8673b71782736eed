import type { AlertRow } from '../../../src/store/index.ts'
import type { Fault } from '../../detection/faults.ts'
import { SLOTS_A_DAY, SLOTS_AN_HOUR, timeOf } from '../../detection/world.ts'
import type { Cause } from './causes.ts'

/** What an alert shows, as far as it tells which cause it is of. */
export interface Shown {
  place: number
  probeType: string
  tag: string | null
  event: string | null
  field: string | null
  /** When it says that it began, and when it was found. */
  startedAt: number
  openedAt: number
}

export type SymptomRow = Pick<AlertRow, 'probe_type' | 'details' | 'started_at' | 'opened_at'>

export function shownBy({ probe_type, details, started_at, opened_at }: SymptomRow, place: number): Shown {
  const { findings } = JSON.parse(details) as { findings?: readonly { subject?: Record<string, string> }[] }
  const subject = findings?.[0]?.subject ?? {}
  return {
    place,
    probeType: probe_type,
    tag: subject.tag_key ?? null,
    event: subject.event_name ?? null,
    field: subject.field ?? null,
    startedAt: started_at,
    openedAt: opened_at,
  }
}

/** An alert that opens so long after a fault is still its doing: windows that reach back into it are at most this long as a rule. */
export const AFTERMATH_SLOTS = 2 * SLOTS_AN_HOUR
/** What is rare is judged by what came in a day: what says itself that it began before the fault was over was found by that. */
const LOOK_BACK_SLOTS = SLOTS_A_DAY

/** How much of what a site sends an event is, by the site's place. */
export type ShareOf = (place: number, event: string) => number
/** A site's volume that is found to be low has lost more than this: an event that is less of it did not do that. */
const LEAST_FALL = 0.3

/**
 * The cause whose symptom an alert is; null: a false alarm. Of several that may have done it, the one that fits best: first those of the
 * very tag, event or field, then those of the whole site; of equal ones the one that began last.
 */
export function culpritOf(shown: Shown, causes: readonly Cause[], shareOf: ShareOf): Cause | null {
  const fitting = causes
    .filter((cause) => !isHidden(cause, shown.place, causes))
    .flatMap((cause) => {
      const after = shown.startedAt < timeOf(cause.to) ? LOOK_BACK_SLOTS : AFTERMATH_SLOTS
      const isNow = shown.openedAt >= timeOf(cause.from) && shown.openedAt <= timeOf(cause.to + after)
      const fit = isNow ? fitOf(shown, cause, shareOf) : 0
      return fit > 0 ? [{ cause, fit }] : []
    })
  return fitting.toSorted((a, b) => b.fit - a.fit || b.cause.from - a.cause.from)[0]?.cause ?? null
}

/** Whether nothing came of the site for as long as the cause lasted: no one could see it. */
function isHidden(cause: Cause, place: number, causes: readonly Cause[]): boolean {
  if (cause.kind !== 'independent' || isSilence(cause, place)) return false
  return causes.some(
    (other) => isSilence(other, place) && other.from <= cause.from && cause.to <= other.to + AFTERMATH_SLOTS,
  )
}

const isSilence = ({ faults }: Cause, place: number): boolean =>
  faults.get(place)?.some(({ kind }) => kind === 'silent_sender') === true

const NETWORK: readonly string[] = ['http_health', 'tag_server_infra']

/** How well a cause explains it, 0: not at all. */
function fitOf(shown: Shown, { kind, server, faults }: Cause, shareOf: ShareOf): number {
  const isNetwork = NETWORK.includes(shown.probeType)
  if (kind === 'connection') return isNetwork ? 3 : 0
  const mine = faults.get(shown.place)
  if (mine === undefined) return 0
  if (isNetwork) return server === null ? 0 : 3
  return Math.max(0, ...mine.map((fault) => fitOfFault(shown, fault, shareOf)))
}

function fitOfFault({ place, probeType, tag, event, field }: Shown, fault: Fault, shareOf: ShareOf): number {
  switch (fault.kind) {
    case 'silent_sender':
    case 'partial_loss':
    case 'slow_decay':
      // Events are judged by their share of what comes, which is the same.
      if (event !== null && probeType === 'data_volume' && fault.size > 0) return 0
      // What else is judged by too few events.
      return probeType === 'data_freshness' || (probeType === 'data_volume' && event === null) ? 2 : 1
    case 'event_dead':
    case 'event_partial':
      if (event === fault.event) return 3
      if (event !== null || (probeType !== 'data_volume' && probeType !== 'data_freshness')) return 0
      return shareOf(place, fault.event ?? '') * (1 - fault.size) >= LEAST_FALL ? 1 : 0
    case 'tag_dead':
    case 'tag_off_event':
      return probeType === 'tag_missing' && tag === fault.tag ? 3 : 0
    case 'tag_failing':
      return probeType === 'tag_failure_rate' && tag === fault.tag ? 3 : 0
    case 'tag_slow':
      return probeType === 'tag_latency' && tag === fault.tag ? 3 : 0
    case 'field_lost':
      if (!probeType.endsWith('_quality')) return 0
      return field === fault.field ? 3 : field === null ? 1 : 0
    // Faults of signals are not among the causes.
    default:
      return 0
  }
}
