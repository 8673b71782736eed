import { transition } from '../../src/alerts/machine/transition.ts'
import type { AlertInput, Rules, Subject, Violation } from '../../src/alerts/machine/types.ts'
import { streakOf } from '../../src/alerts/machine/types.ts'
import { MINUTE } from '../../src/lib/index.ts'
import type { AlertRow } from '../../src/store/index.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')

export const RULES: Rules = {
  failureThreshold: 1,
  recoveryThreshold: 1,
  reminderMinutes: null,
  notifyResolved: true,
  suppressedBy: null,
}

const LETTERS = { o: 'ok', w: 'warning', c: 'critical', e: 'error', u: 'ok' } as const
type Letter = keyof typeof LETTERS

/**
 * A step of a play: a result by its letter, a bad one with the events on which a tag is bad, or anything else that happens; rules
 * hold from there on.
 */
export type PlayStep =
  | Letter
  | { bad: readonly string[] }
  | Exclude<AlertInput, { type: 'result' }>
  | { wait: number }
  | { rules: Partial<Rules> }

export interface Play {
  alert: AlertRow | null
  /** Kinds of messages, in their order, as `opened:critical`. */
  messages: string[]
  /** Kinds of the timeline's entries, of all alerts. */
  events: string[]
  /** How many alerts were opened. */
  opened: number
}

/** Letters with spaces between them for readability. */
export const results = (letters: string): Letter[] => [...letters.replaceAll(' ', '')] as Letter[]

/**
 * Plays results and other inputs through the state machine, a minute between any two, as the store would keep them.
 *
 * @param reaches whether messages are delivered at once, or not at all
 */
export function play(
  steps: readonly PlayStep[],
  rules: Partial<Rules> = {},
  subject: Subject = 'target',
  reaches = true,
): Play {
  const seen: Play = { alert: null, messages: [], events: [], opened: 0 }
  let current: Rules = { ...RULES, ...rules }
  let recent = ''
  let now = NOW
  let unresolved: AlertRow | null = null
  for (const step of steps) {
    if (typeof step === 'object' && 'rules' in step) {
      current = { ...current, ...step.rules }
      continue
    }
    if (typeof step === 'object' && 'wait' in step) {
      now += step.wait
      continue
    }
    now += MINUTE
    recent = (recent + (typeof step === 'string' ? step : 'bad' in step ? 'c' : '')).slice(-20)
    const ofResult = (letter: Letter, events: readonly string[]) =>
      resultOf(letter, events, recent, subject, seen.opened, now)
    const input = typeof step === 'string' ? ofResult(step, []) : 'bad' in step ? ofResult('c', step.bad) : step
    const made = transition(unresolved, input, current, now)
    if (unresolved === null && made.alert !== null) seen.opened++
    seen.alert = made.alert ?? seen.alert
    seen.events.push(...made.events.map(({ kind }) => kind))
    if (made.message !== null && made.alert !== null) seen.messages.push(`${made.message}:${made.alert.severity}`)
    unresolved = made.alert?.state === 'resolved' ? null : made.alert
    if (made.message === null || !reaches) continue
    seen.events.push('notified')
    if (unresolved === null) continue
    unresolved = { ...unresolved, first_notified_at: unresolved.first_notified_at ?? now, last_notified_at: now }
    seen.alert = unresolved
  }
  return seen
}

function resultOf(
  letter: Letter,
  events: readonly string[],
  recent: string,
  subject: Subject,
  opened: number,
  now: number,
): AlertInput {
  const severity = letter === 'c' ? 'critical' : 'warning'
  const violation: Violation = {
    severity,
    subject_label: null,
    title: LETTERS[letter],
    message: `it is ${LETTERS[letter]}`,
    details: '{}',
  }
  const identity = {
    id: `alert-${opened + 1}`,
    client_id: 'client',
    site_id: 'site',
    probe_id: 'probe',
    probe_type: 'http_health',
    subject,
  }
  return { type: 'result', streak: streakOf(subject, recent), violation, startedAt: now, events, identity }
}
