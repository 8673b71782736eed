import type { Subject, Verdict } from '../../src/detection/index.ts'
import type { Fault } from '../detection/faults.ts'
import type { VerdictLog } from '../detection/replay.ts'
import { RUN_EVERY, SLOT, SLOTS_AN_HOUR, START } from '../detection/world.ts'

/** A stretch of the world, in slots, half-open. */
export interface Window {
  from: number
  to: number
}

/** Which probe's findings show a kind of fault that loses something: slow tags and missing fields do not. */
export const SHOWN_BY: Readonly<Partial<Record<Fault['kind'], string>>> = {
  silent_sender: 'data_volume',
  partial_loss: 'data_volume',
  slow_decay: 'data_volume',
  event_dead: 'data_volume',
  event_partial: 'data_volume',
  tag_dead: 'tag_missing',
  tag_off_event: 'tag_missing',
  tag_failing: 'tag_failure_rate',
}

/** So long after a fault alarms may still be about it, and end. */
const AFTERMATH = 2 * SLOTS_AN_HOUR

/** Notes when the probes would have had an alert about each fault: from the onset that the first finding names to the last run that is bad. */
export class FaultWindows implements VerdictLog {
  readonly #faults: readonly Fault[]
  readonly #windows = new Map<Fault, Window>()

  constructor(faults: readonly Fault[]) {
    this.#faults = faults
  }

  add(probe: string, slot: number, { details }: Verdict): void {
    const fault = this.#faults.find(({ from, to }) => slot >= from && slot < to + AFTERMATH)
    if (fault === undefined || SHOWN_BY[fault.kind] !== probe) return
    const finding = details.findings.find(({ status, subject }) => status !== 'ok' && isAbout(subject, fault))
    if (finding === undefined) return
    const since = finding.since === null ? slot : (Date.parse(finding.since) - START) / SLOT
    const known = this.#windows.get(fault)
    // Not an alarm of the aftermath alone.
    if (known === undefined && slot >= fault.to) return
    this.#windows.set(fault, { from: known?.from ?? Math.floor(since), to: slot + RUN_EVERY })
  }

  /** Undefined where no probe saw the fault. */
  of(fault: Fault): Window | undefined {
    return this.#windows.get(fault)
  }
}

const isAbout = ({ event_name, tag_key }: Subject, fault: Fault): boolean =>
  fault.tag === undefined
    ? tag_key === undefined && event_name === fault.event
    : tag_key === fault.tag && (fault.event === undefined || event_name === undefined || event_name === fault.event)
