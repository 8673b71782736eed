import { quoted } from '../../lib/index.ts'
import type { AlertMessageKind } from '../../notifications/index.ts'
import type { AlertRow } from '../../store/index.ts'
import { isReminderDue } from '../machine/transition.ts'
import type { AlertEvent, Transition } from '../machine/types.ts'
import type { Case } from './case.ts'
import { worstOf } from './close.ts'

/** What the client wants to be notified of. */
export interface Wishes {
  reminderMinutes: number | null
}

/** What becomes of an alert's message. */
export interface Spoken {
  alert: AlertRow
  events: readonly AlertEvent[]
  /** The message that the incident sends, or null. */
  message: AlertMessageKind | null
  /** The message for channels to which `escalated` is no news. */
  otherwise?: AlertMessageKind | null
  note: string | null
}

/** Messages about an alert that was announced before. */
const LATER: readonly AlertMessageKind[] = ['escalated', 'widened', 'reminder']

/**
 * Decides whether an alert that is due for a message speaks for its incident. The first that may speak announces it. Of the others,
 * one that makes a warning critical escalates it, and one that explains it says so; anything else goes into the timelines only. The
 * end is decided in `followAlerts`, when all alerts are resolved.
 *
 * Changes the fields of `known.row` that say what people were notified of.
 *
 * @param made the transition by the alert's own rules
 * @param silence of the whole incident, as in `suppressed_by`; null when there is none
 */
export function speak(
  before: AlertRow | null,
  made: Transition,
  known: Case,
  wishes: Wishes,
  now: number,
  silence: string | null = null,
): Spoken | null {
  const { alert, message, events, otherwise = null } = made
  if (alert === null || message === null) return null
  const said = { alert, events, note: null }
  const { row } = known
  const isVoice = row.announced_alert_id === alert.id
  // Anyone who believes that it is resolved must first learn that it is back, whatever else is new.
  if (LATER.includes(message) && isBackUnsaid(known)) return { ...said, ...sayBack(known, alert, now) }
  switch (message) {
    case 'opened':
    case 'flapping':
      // An alert that joins is silenced with the incident. If it is still bad when the silence ends, it is due again then.
      if (silence !== null && !isVoice)
        return { ...quiet(before, made, alert, known, silence), message: null, note: null }
      if (row.announced_alert_id === null && row.resolved_at === null) {
        announce(known, alert, now)
        // Before the alert's own time, so that it shows as said since: see `isFlappingKnown`.
        if (message === 'flapping') row.last_announced_at = now - 1
        return { ...said, message }
      }
      if (isBackUnsaid(known)) {
        return { ...quiet(before, made, alert, known), events, ...sayBack(known, alert, now) }
      }
      if (message === 'flapping' && isFlappingKnown(before, alert, known)) {
        if (isVoice) return { ...said, alert: unreminded(before, alert), message: null }
      } else if (isVoice || (message === 'flapping' && row.resolved_at === null && isOfVoice(alert, known))) {
        // Of what flaps no escalation follows.
        if (message === 'flapping') noteSeverity(known)
        return { ...said, message }
      }
      return { ...quiet(before, made, alert, known), ...newsOf(before, alert, known, now) }
    case 'escalated': {
      // Said once, from whichever alert, however often its severity changes.
      const isKnown = row.notified_severity === 'critical'
      row.notified_severity = 'critical'
      const other = speak(before, { ...made, message: otherwise, otherwise: null }, known, wishes, now, silence)
      if (isKnown) return other ?? { ...said, message: null }
      row.last_announced_at = now
      return { ...said, message, otherwise: other?.message ?? null }
    }
    case 'widened':
      if (isVoice) row.last_announced_at = now
      return { ...said, message: isVoice ? message : null }
    case 'reminder':
      if (!isReminderDue(row, wishes.reminderMinutes, now))
        return { ...said, alert: unreminded(before, alert), message: null }
      row.last_announced_at = now
      return { ...said, message }
    default:
      return { ...said, message: null }
  }
}

/**
 * Returns whether the alert has the same subject as the one that announced the incident: each change between good and bad opens
 * another alert.
 */
export function isOfVoice({ probe_id, subject }: AlertRow, { row, alerts }: Case): boolean {
  const voice = alerts.get(row.announced_alert_id ?? '')
  return voice?.probe_id === probe_id && voice.subject === subject
}

/**
 * Returns whether people know that it flaps, and that it is as bad as this: after a pause it begins to flap again, many times a day,
 * and as long as no other message was sent in between that is no news.
 */
function isFlappingKnown(before: AlertRow | null, { id, probe_id, subject, severity }: AlertRow, known: Case): boolean {
  const { row, alerts } = known
  // Under an alert's own name only that it flaps is said later than anything about the incident.
  const others = [...alerts.values()].filter(
    (one) => one.probe_id === probe_id && one.subject === subject && one.id !== id,
  )
  const said = [before?.last_announced_at, ...others.map(({ announced_at }) => announced_at)]
  const isSaid = said.some((at) => (at ?? 0) > (row.last_announced_at ?? Number.POSITIVE_INFINITY))
  return isSaid && (severity !== 'critical' || row.notified_severity === 'critical')
}

function announce({ row, alerts }: Case, alert: AlertRow, now: number): void {
  // It was announced before if that message was given up.
  row.announced_at ??= now
  row.last_announced_at = now
  row.announced_alert_id = alert.id
  // The message gives the worst severity of all alerts, so a worse one found at the same time is no news.
  row.notified_severity = worstOf(alerts.values())
}

/** Notes that people who know of an incident know it as critical, by a message that gives its severity. */
function noteSeverity({ row, alerts }: Case): void {
  const isWarning = row.notified_severity === 'warning'
  if (isWarning && worstOf(alerts.values()) === 'critical') row.notified_severity = 'critical'
}

/** Returns whether people were last notified of its end: it came back while it was muted. */
export const isBackUnsaid = ({ row }: Pick<Case, 'row'>): boolean =>
  row.announced_at !== null && row.resolved_at === null && row.notified_severity === null

/** Makes the message that the incident is back, which is what an alert of such an incident has to say. */
function sayBack({ row, alerts }: Case, { title }: AlertRow, now: number): Pick<Spoken, 'message' | 'note'> {
  row.last_announced_at = now
  row.notified_severity = worstOf(alerts.values())
  return { message: 'opened', note: `${quoted(title)} is back` }
}

/** Returns what an alert adds to an incident that people know of. */
function newsOf(
  before: AlertRow | null,
  alert: AlertRow,
  { row }: Case,
  now: number,
): Pick<Spoken, 'message' | 'otherwise' | 'note'> {
  if (row.resolved_at !== null) return { message: null, note: null }
  // The lead was found after the alert that announced the incident. That is said once.
  const isFound = row.lead_alert_id === alert.id && alert.id > (row.announced_alert_id ?? '')
  const isCause = isFound && before?.suppressed_by !== suppressedBy(row.id)
  const isWorse = alert.severity === 'critical' && row.notified_severity === 'warning'
  if (!isCause && !isWorse) return { message: null, note: null }
  row.last_announced_at = now
  if (isWorse) row.notified_severity = 'critical'
  const note = isCause ? `Cause found: ${quoted(alert.title)}` : `Until now: ${quoted(row.title)}`
  return isWorse
    ? { message: 'escalated', otherwise: isCause ? 'explained' : null, note }
    : { message: 'explained', note }
}

/**
 * Says with a cause that is found what another alert is about to say: that the incident became critical. Otherwise the message of
 * the cause would show it as critical, and a second one would say so again.
 */
export function withEscalation(spoken: Spoken, { row }: Case): Pick<Spoken, 'message' | 'otherwise' | 'note'> {
  if (spoken.message !== 'explained' || row.notified_severity !== 'warning') return spoken
  row.notified_severity = 'critical'
  return { message: 'escalated', otherwise: 'explained', note: spoken.note }
}

/** Returns the alert as if it had not been due, because another one speaks for it or its incident is silenced. */
function quiet(
  before: AlertRow | null,
  made: Transition,
  due: AlertRow,
  { row }: Case,
  silence: string | null = null,
): Pick<Spoken, 'alert' | 'events'> {
  const by = silence ?? suppressedBy(row.id)
  if (before?.suppressed_by === by && isUnmoved(before, due)) return { alert: before, events: made.events }
  const alert: AlertRow = {
    ...due,
    announced_at: before?.announced_at ?? null,
    last_announced_at: before?.last_announced_at ?? null,
    notified_severity: before?.notified_severity ?? null,
    told_events: before?.told_events ?? 0,
    suppressed_by: by,
  }
  if (before?.suppressed_by === by) return { alert, events: made.events }
  const why = silence === null ? `part of the incident ${quoted(row.title)}` : 'silenced'
  const text = `No notification: ${why}`
  return { alert, events: [...made.events, { kind: 'suppressed', actor: null, text }] }
}

/** Keeps the reminder due, so that it is sent as soon as the incident is no longer acknowledged. */
const unreminded = (before: AlertRow | null, due: AlertRow): AlertRow =>
  before !== null && isUnmoved(before, due) ? before : { ...due, last_announced_at: before?.last_announced_at ?? null }

/** Columns that a due message changes; all others come from the result. */
const OF_MESSAGES: readonly string[] = [
  'announced_at',
  'last_announced_at',
  'notified_severity',
  'told_events',
  'suppressed_by',
]

const isUnmoved = (before: AlertRow, after: AlertRow): boolean =>
  Object.entries(after).every(([name, value]) => OF_MESSAGES.includes(name) || before[name as keyof AlertRow] === value)

const PREFIX = 'incident:'
export const suppressedBy = (incidentId: string): string => `${PREFIX}${incidentId}`
