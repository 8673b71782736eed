import type { Alarm } from './alarms.ts'
import type { Fault, FaultKind } from './faults.ts'
import { SLOT, SLOTS_AN_HOUR, timeOf } from './world.ts'

/** Of one rule on one site. */
export interface BaselineOutcome {
  /** One of `BASELINES`. */
  readonly rule: string
  /** Of the visible faults of volume. */
  readonly found: number
  readonly visible: number
  readonly falseAlarms: number
}

/** What data_volume says of events that come twice, apart from what it says of those that are missing. */
export const DOUBLED_PROBE = 'data_volume, doubled'

/** Which probes have to see a fault, the first of them being counted as its own. */
export const PROBES_OF: Readonly<Record<FaultKind, readonly [string, ...string[]]>> = {
  silent_sender: ['data_freshness', 'data_volume'],
  partial_loss: ['data_volume'],
  slow_decay: ['data_volume'],
  event_dead: ['data_volume'],
  event_partial: ['data_volume'],
  tag_dead: ['tag_missing'],
  tag_off_event: ['tag_missing'],
  tag_failing: ['tag_failure_rate'],
  tag_slow: ['tag_latency'],
  field_lost: ['user_data_quality', 'ecommerce_quality'],
  event_doubled: [DOUBLED_PROBE],
  transactions_repeat: ['duplicates'],
  event_id_lost: ['duplicates'],
  value_broken: ['value_quality'],
  identifier_lost: ['identifier_quality'],
  consent_lost: ['consent_signals'],
  tag_ignores_consent: ['consent_signals'],
  vendor_refusing: ['vendor_status'],
  tag_too_soon: ['tag_latency'],
}

/** Faults after which nothing comes at all. */
export const HARD: readonly FaultKind[] = ['silent_sender', 'event_dead', 'tag_dead']

/** An alarm this long after a fault is still its doing: windows that reach back into it are at most this long as a rule. */
const AFTERMATH = 2 * SLOTS_AN_HOUR
/** A false alarm this long after a fault looks back into it, as the longest windows do. */
const LOOKS_BACK = 24 * SLOTS_AN_HOUR

export interface JudgedFault {
  fault: Fault
  isVisible: boolean
  /** Whether it is large and there is enough of it, and nobody could find it all the same, see `canBeFound`. */
  isHopeless: boolean
  /** See `usualRate`. */
  rate: number
  /** In slots, null when it was not detected. */
  detectedAfter: number | null
  /** How much later than it did the fault began by what that alarm says, in slots; null also where it does not say. */
  datedAfter: number | null
  /** Of a hard fault, see `floorOf`. */
  floor: number | null
}

export interface FalseAlarm extends Alarm {
  /** What went on that is no fault, null in ordinary times. */
  cause: string | null
}

export interface SiteOutcome {
  site: string
  faults: readonly JudgedFault[]
  falseAlarms: readonly FalseAlarm[]
  judgedSlots: number
  /** What simple rules make of the same faults of volume. */
  baselines?: readonly BaselineOutcome[]
}

export function outcomeOf(
  site: string,
  faults: readonly Fault[],
  alarms: readonly Alarm[],
  known: (fault: Fault) => Pick<JudgedFault, 'isVisible' | 'isHopeless' | 'rate' | 'floor'>,
  causeOf: (slot: number) => string | null,
  judgedSlots: number,
): SiteOutcome {
  return {
    site,
    faults: faults.map((fault) => ({
      fault,
      ...known(fault),
      ...detection(fault, alarms),
    })),
    falseAlarms: alarms
      .filter((alarm) => isFalse(alarm, faults))
      .map((alarm) => ({ ...alarm, cause: causeOf(alarm.from) ?? faultBefore(alarm, faults) })),
    judgedSlots,
  }
}

/** Whether an alarm begins outside all faults and what they leave behind. */
export const isFalse = ({ from }: Alarm, faults: readonly Fault[]): boolean =>
  !faults.some((fault) => from >= fault.from && from <= fault.to + AFTERMATH)

const faultBefore = ({ from }: Alarm, faults: readonly Fault[]): string | null =>
  faults.some((fault) => from > fault.to && from <= fault.to + LOOKS_BACK) ? 'the day after a fault' : null

/** By the first alarm of a probe that has to see the fault. */
function detection(fault: Fault, alarms: readonly Alarm[]): Pick<JudgedFault, 'detectedAfter' | 'datedAfter'> {
  const first = alarms
    .filter(({ probe, from }) => PROBES_OF[fault.kind].includes(probe) && from >= fault.from && from <= fault.to)
    .toSorted((a, b) => a.from - b.from)[0]
  if (first === undefined) return { detectedAfter: null, datedAfter: null }
  return {
    detectedAfter: first.from - fault.from,
    datedAfter: first.since === null ? null : (first.since - timeOf(fault.from)) / SLOT,
  }
}
