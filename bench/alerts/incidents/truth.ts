import type { AlertRow } from '../../../src/store/index.ts'
import type { Fault } from '../../detection/faults.ts'
import { SLOTS_AN_HOUR, timeOf } from '../../detection/world.ts'
import type { Cause } from './causes.ts'

/** What an alert shows, as far as it tells which cause it is of. */
export interface Shown {
  place: number
  probeType: string
  tag: string | null
  event: string | null
  field: string | null
  openedAt: number
}

export type SymptomRow = Pick<AlertRow, 'probe_type' | 'details' | 'opened_at'>

export function shownBy({ probe_type, details, opened_at }: SymptomRow, place: number): Shown {
  const { findings } = JSON.parse(details) as { findings?: readonly { subject?: Record<string, string> }[] }
  const subject = findings?.[0]?.subject ?? {}
  return {
    place,
    probeType: probe_type,
    tag: subject.tag_key ?? null,
    event: subject.event_name ?? null,
    field: subject.field ?? null,
    openedAt: opened_at,
  }
}

/** An alert that opens so long after a fault is still its doing: windows that reach back into it are at most this long as a rule. */
export const AFTERMATH_SLOTS = 2 * SLOTS_AN_HOUR

/**
 * The cause whose symptom an alert is; null: a false alarm. Of several that may have done it, the one that fits best: first those of the
 * very tag, event or field, then those of the whole site; of equal ones the one that began last.
 */
export function culpritOf(shown: Shown, causes: readonly Cause[]): Cause | null {
  const fitting = causes.flatMap((cause) => {
    const isNow = shown.openedAt >= timeOf(cause.from) && shown.openedAt <= timeOf(cause.to + AFTERMATH_SLOTS)
    const fit = isNow ? fitOf(shown, cause) : 0
    return fit > 0 ? [{ cause, fit }] : []
  })
  return fitting.toSorted((a, b) => b.fit - a.fit || b.cause.from - a.cause.from)[0]?.cause ?? null
}

const NETWORK: readonly string[] = ['http_health', 'tag_server_infra']

/** How well a cause explains it, 0: not at all. */
function fitOf(shown: Shown, { kind, server, faults }: Cause): number {
  const isNetwork = NETWORK.includes(shown.probeType)
  if (kind === 'connection') return isNetwork ? 3 : 0
  const mine = faults.get(shown.place)
  if (mine === undefined) return 0
  if (isNetwork) return server === null ? 0 : 3
  return Math.max(0, ...mine.map((fault) => fitOfFault(shown, fault)))
}

function fitOfFault({ probeType, tag, event, field }: Shown, fault: Fault): number {
  switch (fault.kind) {
    case 'silent_sender':
    case 'partial_loss':
    case 'slow_decay':
      // What else is judged by too few events.
      return probeType === 'data_freshness' || (probeType === 'data_volume' && event === null) ? 2 : 1
    case 'event_dead':
    case 'event_partial':
      if (event === fault.event) return 3
      return event === null && (probeType === 'data_volume' || probeType === 'data_freshness') ? 1 : 0
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
