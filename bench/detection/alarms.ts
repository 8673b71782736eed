import type { Finding, Verdict } from '../../src/detection/index.ts'
import { SLOTS_AN_HOUR } from './world.ts'

/** A subject of a probe that was bad without a break. */
export interface Alarm {
  probe: string
  subject: string
  /** Evaluations at which it began and at which it was good again, in slots. */
  from: number
  to: number
  message: string
  /** When its first finding says that it began, epoch ms. */
  since: number | null
  /** The worst it was. */
  severity: 'warning' | 'critical'
}

/** An alarm that comes back within an hour is the same: the alerts call that flapping and send one message. */
const FLAPPING = SLOTS_AN_HOUR

/** Keeps what one site's probes say, as the alerts would: one unresolved alert a probe and subject. */
export class AlarmLog {
  readonly #open = new Map<string, Alarm>()
  readonly #closed: Alarm[] = []

  add(probe: string, slot: number, verdict: Verdict): void {
    const bad = new Map<string, Finding>(
      verdict.details.findings
        .filter(({ status }) => status !== 'ok')
        .map((finding) => [`${probe} ${subjectOf(finding)}`, finding] as const),
    )
    for (const [key, finding] of bad) {
      if (!this.#open.has(key)) {
        const { message } = finding
        const since = finding.since === null ? null : Date.parse(finding.since)
        const alarm = { probe, subject: subjectOf(finding), from: slot, to: slot, message, since }
        this.#open.set(key, { ...alarm, severity: 'warning' })
      }
      const alarm = this.#open.get(key)
      if (alarm !== undefined && finding.status === 'critical') alarm.severity = 'critical'
    }
    for (const [key, alarm] of this.#open) {
      if (alarm.probe !== probe || bad.has(key)) continue
      this.#closed.push({ ...alarm, to: slot })
      this.#open.delete(key)
    }
  }

  /** All alarms, those that flap as one; those still open end at `slot`. */
  finish(slot: number): Alarm[] {
    const all = [...this.#closed, ...[...this.#open.values()].map((alarm) => ({ ...alarm, to: slot }))]
    const merged: Alarm[] = []
    for (const alarm of all.toSorted((a, b) => a.from - b.from)) {
      const before = merged.findLast(({ probe, subject }) => probe === alarm.probe && subject === alarm.subject)
      if (before !== undefined && alarm.from <= before.to + FLAPPING) {
        before.to = alarm.to
        if (alarm.severity === 'critical') before.severity = 'critical'
      } else merged.push(alarm)
    }
    return merged
  }
}

const subjectOf = ({ subject }: Finding): string => Object.values(subject).join(' on ') || 'site'
