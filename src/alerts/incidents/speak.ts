import { quoted } from '../../lib/index.ts'
import type { AlertMessageKind } from '../../notifications/index.ts'
import type { AlertRow } from '../../store/index.ts'
import { isReminderDue } from '../machine/transition.ts'
import type { AlertEvent, Transition } from '../machine/types.ts'
import type { Case } from './case.ts'
import { worstOf } from './close.ts'

/** What the client wants to be notified of. */
export interface Wishes {
  notifyEscalated: boolean
  reminderMinutes: number | null
}

/** What becomes of an alert's message. */
export interface Spoken {
  alert: AlertRow
  events: readonly AlertEvent[]
  /** Of the incident, or null. */
  message: AlertMessageKind | null
  note: string | null
}

/**
 * Decides whether an alert that is due for a message speaks for its incident. The first that may speak announces it. Of the others, one
 * that makes a warning critical escalates it, and one that explains it says so; all else is in the timelines alone. How it ends
 * is decided elsewhere, when all its alerts have.
 *
 * Changes what `known` says of its messages.
 *
 * @param made what the alert's own rules came to
 * @param isSilenced whether someone has silenced the incident
 */
export function speak(
  before: AlertRow | null,
  made: Transition,
  known: Case,
  wishes: Wishes,
  now: number,
  isSilenced = false,
): Spoken | null {
  const { alert, message, events } = made
  if (alert === null || message === null) return null
  const said = { alert, events, note: null }
  const { row } = known
  const isVoice = row.announced_alert_id === alert.id
  switch (message) {
    case 'opened':
    case 'flapping':
      // What joins it is silenced with it: what is still bad at the end is due again then.
      if (isSilenced && !isVoice) return { ...quiet(before, made, alert, known), message: null, note: null }
      if (row.announced_at === null && row.resolved_at === null) {
        announce(known, alert, now)
        return { ...said, message }
      }
      if (isBackUnsaid(known)) {
        return { ...quiet(before, made, alert, known), events, ...sayBack(known, alert, now) }
      }
      if (isVoice || (message === 'flapping' && row.resolved_at === null && isOfVoice(alert, known))) {
        noteSeverity(known, wishes)
        return { ...said, message }
      }
      return { ...quiet(before, made, alert, known), ...newsOf(before, alert, known, wishes, now) }
    case 'escalated':
      // Said once, whichever of its alerts it came from, and however often its severity changes.
      if (row.notified_severity === 'critical') return { ...said, message: null }
      row.notified_severity = 'critical'
      row.last_announced_at = now
      return { ...said, message }
    case 'widened':
      return { ...said, message: isVoice ? message : null }
    case 'reminder':
      if (isBackUnsaid(known)) return { ...said, ...sayBack(known, alert, now) }
      if (!isReminderDue(row, wishes.reminderMinutes, now))
        return { ...said, alert: unreminded(before, alert), message: null }
      row.last_announced_at = now
      noteSeverity(known, wishes)
      return { ...said, message }
    default:
      return { ...said, message: null }
  }
}

/** Whether it is about the very same as the alert that announced the incident: with each change between good and bad there is another one. */
export function isOfVoice({ probe_id, subject }: AlertRow, { row, alerts }: Case): boolean {
  const voice = alerts.get(row.announced_alert_id ?? '')
  return voice?.probe_id === probe_id && voice.subject === subject
}

function announce({ row, alerts }: Case, alert: AlertRow, now: number): void {
  row.announced_at = now
  row.last_announced_at = now
  row.announced_alert_id = alert.id
  // The message says how bad all are: one that was found at once and is worse is no news after it.
  row.notified_severity = worstOf(alerts.values())
}

/** Where no escalation is to say that it is critical, people know it by what says how bad it is. */
function noteSeverity({ row, alerts }: Case, { notifyEscalated }: Wishes): void {
  if (!notifyEscalated && worstOf(alerts.values()) === 'critical') row.notified_severity = 'critical'
}

/** People were notified of its end, and of nothing since: it came back while it was muted. */
export const isBackUnsaid = ({ row }: Pick<Case, 'row'>): boolean =>
  row.announced_at !== null && row.resolved_at === null && row.notified_severity === null

/** What is due of an alert of such an incident is that it is back. */
function sayBack({ row, alerts }: Case, { title }: AlertRow, now: number): Pick<Spoken, 'message' | 'note'> {
  row.last_announced_at = now
  row.notified_severity = worstOf(alerts.values())
  return { message: 'opened', note: `${quoted(title)} is back` }
}

/** What an alert adds to an incident that people know of. */
function newsOf(
  before: AlertRow | null,
  alert: AlertRow,
  { row }: Case,
  { notifyEscalated }: Wishes,
  now: number,
): Pick<Spoken, 'message' | 'note'> {
  if (row.resolved_at !== null) return { message: null, note: null }
  // Found after the one that announced it, and said once.
  const isFound = row.lead_alert_id === alert.id && alert.id > (row.announced_alert_id ?? '')
  const isCause = isFound && before?.suppressed_by !== suppressedBy(row.id)
  const isWorse = alert.severity === 'critical' && row.notified_severity === 'warning' && notifyEscalated
  if (!isCause && !isWorse) return { message: null, note: null }
  row.last_announced_at = now
  if (isWorse) row.notified_severity = 'critical'
  const note = isCause ? `Cause found: ${quoted(alert.title)}` : `Until now: ${quoted(row.title)}`
  return { message: isWorse ? 'escalated' : 'explained', note }
}

/** The alert as it would be had it not been due: another one speaks for it. */
function quiet(
  before: AlertRow | null,
  made: Transition,
  due: AlertRow,
  { row }: Case,
): Pick<Spoken, 'alert' | 'events'> {
  const by = suppressedBy(row.id)
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
  const text = `No notification: part of the incident ${quoted(row.title)}`
  return { alert, events: [...made.events, { kind: 'suppressed', actor: null, text }] }
}

/** It may be due again as soon as no one takes care of the incident any more. */
const unreminded = (before: AlertRow | null, due: AlertRow): AlertRow =>
  before !== null && isUnmoved(before, due) ? before : { ...due, last_announced_at: before?.last_announced_at ?? null }

/** What being due changes; all else is of the result. */
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
