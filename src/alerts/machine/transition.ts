import { MINUTE } from '../../lib/index.ts'
import type { AlertMessageKind } from '../../notifications/index.ts'
import type { AlertRow } from '../../store/index.ts'
import { addViolation, badEventsOf, beginFlapping, isWider, openAlert } from './bad.ts'
import { type AlertEvent, type AlertInput, CALM_RESULTS, type Rules, type Streak, type Transition } from './types.ts'

/**
 * Returns how an input changes an alert. This is its whole state machine:
 *
 *     none ──bad result──▶ open ──acknowledge──▶ acknowledged
 *                            │                        │
 *                            └──── resolved ◀─────────┘    recovered, gone, manual, probe_removed or replaced
 *
 * - A **bad** result (warning, critical) opens an alert, or adds to the open one: of the target, or of each tag, event or field that
 *   the probe judges separately. An **error** says nothing about the target; three in a row are bad for the probe's alert about the
 *   check itself, and any other result resolves that one.
 * - `failure_threshold` bad results in a row **confirm** it. Until then it notifies no one, and resolves without a message.
 * - `recovery_threshold` ok results in a row resolve it.
 * - A tag, event or field of which nothing arrived for a day is **gone**: the alert resolves, which does not mean that it works again.
 * - **Flapping**: a confirmed alert whose last 20 results hold 4 or more changes between good and bad says so once. It then stays open
 *   and sends nothing, except that it became critical, until 10 results in a row bring no change.
 * - One message is sent at a time, the first due of these: it is open; a warning became critical; it flaps; a tag is bad on one more of
 *   its events; it still lasts (every `reminder_minutes`, until someone acknowledges it); it is resolved, if the opening was announced.
 * - A **silence**, **maintenance** or **no channel** suppress it, and the timeline says which. What is due is sent once that ends,
 *   unless the alert resolves first.
 * - Whether a due message is sent is then up to its **incident**: see `incidents/speak.ts`.
 * - A message that was written has reached no one yet: `noteDelivered` records when it was delivered.
 *
 * Pure: the caller must write all of what it returns, or nothing.
 */
export function transition(alert: AlertRow | null, input: AlertInput, rules: Rules, now: number): Transition {
  switch (input.type) {
    case 'result':
      return onResult(alert, input, rules, now)
    case 'time':
      return alert === null ? NOTHING : notifyDue(alert, [], rules, now)
    case 'acknowledged':
      return alert === null ? NOTHING : acknowledge(alert, input, now)
    case 'unacknowledged':
      return alert === null ? NOTHING : unacknowledge(alert, input)
    case 'resolved':
      return alert === null ? NOTHING : resolveByHand(alert, input, rules, now)
    case 'gone':
      return alert === null ? NOTHING : endGone(alert, rules, now)
    case 'removed':
      return alert === null ? NOTHING : close(alert, 'probe_removed', input.text, now)
    case 'replaced':
      return alert === null ? NOTHING : close(alert, 'replaced', 'Each subject now has an alert of its own', now)
  }
}

const NOTHING: Transition = { alert: null, events: [], message: null }

function onResult(
  alert: AlertRow | null,
  input: Extract<AlertInput, { type: 'result' }>,
  rules: Rules,
  now: number,
): Transition {
  const { streak } = input
  if (streak.verdict === 'silent') return { alert, events: [], message: null }
  if (streak.verdict === 'good') {
    return alert === null ? NOTHING : recoverOrStay(alert, streak, rules, now)
  }
  const { after, events } = alert === null ? openAlert(input, rules, now) : addViolation(alert, input, rules, now)
  return notifyDue(after, events, rules, now)
}

function acknowledge(
  alert: AlertRow,
  { by, comment }: Extract<AlertInput, { type: 'acknowledged' }>,
  now: number,
): Transition {
  // The first person to acknowledge it stays; a second comment is kept.
  const isFirst = alert.state === 'open'
  if (!isFirst && comment === null) return { alert, events: [], message: null }
  const event: AlertEvent = { kind: 'acknowledged', actor: by, text: comment ?? 'Acknowledged' }
  const after = isFirst ? { ...alert, state: 'acknowledged', acknowledged_at: now, acknowledged_by: by } : { ...alert }
  return { alert: after, events: [event], message: null }
}

/** Withdraws an acknowledgement, because no one works on it any more or it was a mistake: reminders resume. */
function unacknowledge(alert: AlertRow, { by, comment }: Extract<AlertInput, { type: 'unacknowledged' }>): Transition {
  if (alert.state !== 'acknowledged') return { alert, events: [], message: null }
  const after: AlertRow = { ...alert, state: 'open', acknowledged_at: null, acknowledged_by: null }
  const event: AlertEvent = { kind: 'unacknowledged', actor: by, text: comment ?? 'No longer acknowledged' }
  return { alert: after, events: [event], message: null }
}

function resolveByHand(
  alert: AlertRow,
  { by, comment }: Extract<AlertInput, { type: 'resolved' }>,
  rules: Rules,
  now: number,
): Transition {
  const after: AlertRow = { ...alert, state: 'resolved', resolution: 'manual', resolved_at: now }
  const event: AlertEvent = { kind: 'resolved', actor: by, text: comment ?? 'Resolved by hand' }
  return notifyResolution(after, [event], rules, now)
}

function endGone(alert: AlertRow, rules: Rules, now: number): Transition {
  const after: AlertRow = { ...alert, state: 'resolved', resolution: 'gone', resolved_at: now }
  const text = 'No longer seen: no data about it arrived for 24 hours'
  return notifyResolution(after, [{ kind: 'resolved', actor: null, text }], rules, now)
}

/** Closes without a message: the person who removed the probe knows. */
function close(alert: AlertRow, resolution: string, text: string, now: number): Transition {
  const after: AlertRow = { ...alert, state: 'resolved', resolution, resolved_at: now }
  return { alert: after, events: [{ kind: 'resolved', actor: null, text }], message: null }
}

/** Handles a good result: the alert resolves, or waits for more of them. */
function recoverOrStay(alert: AlertRow, streak: Streak, rules: Rules, now: number): Transition {
  const after: AlertRow = { ...alert }
  const events: AlertEvent[] = []
  if (beginFlapping(after, events, streak)) return notifyDue(after, events, rules, now)
  if (after.is_flapping === 1) {
    if (streak.sinceFlip < CALM_RESULTS) return { alert, events: [], message: null }
    after.is_flapping = 0
    events.push({ kind: 'calmed', actor: null, text: `No change in ${CALM_RESULTS} results: it is over` })
  }
  if (streak.goodInRow < rules.recoveryThreshold) {
    return { alert: events.length === 0 ? alert : after, events, message: null }
  }
  after.state = 'resolved'
  after.resolution = 'recovered'
  after.resolved_at = now
  events.push({ kind: 'resolved', actor: null, text: 'Recovered' })
  return notifyResolution(after, events, rules, now)
}

/** Decides which message an unresolved alert is due, or notes what suppresses it. `events` are those of this transition so far. */
function notifyDue(alert: AlertRow, events: readonly AlertEvent[], rules: Rules, now: number): Transition {
  const beganFlapping = events.some(({ kind }) => kind === 'flapping')
  const [message = null, otherwise = null] = dueKinds(alert, beganFlapping, rules, now)
  // Someone who acknowledges it makes a reminder that was held back needless.
  if (message === null) return { alert: isHeldBack(alert) ? { ...alert, suppressed_by: null } : alert, events, message }
  if (rules.suppressedBy !== null) return suppressed(alert, events, rules.suppressedBy, rules.suppressedText)
  const after: AlertRow = {
    ...alert,
    suppressed_by: null,
    announced_at: alert.announced_at ?? now,
    last_announced_at: now,
    notified_severity: worse(alert.notified_severity, alert.severity),
    told_events: badEventsOf(alert).length,
  }
  return { alert: after, events, message, otherwise }
}

/** Sends the end if the beginning was sent or is about to be. */
function notifyResolution(alert: AlertRow, events: readonly AlertEvent[], rules: Rules, now: number): Transition {
  if (alert.announced_at === null || !rules.notifyResolved) return { alert, events, message: null }
  if (rules.suppressedBy !== null) return suppressed(alert, events, rules.suppressedBy, rules.suppressedText)
  return { alert: { ...alert, last_announced_at: now }, events, message: 'resolved' }
}

/** Returns the message that is due; after `escalated` also what is due where that is no news. */
function dueKinds(alert: AlertRow, beganFlapping: boolean, rules: Rules, now: number): AlertMessageKind[] {
  if (alert.confirmed_at === null) return []
  if (alert.announced_at === null) return [alert.is_flapping === 1 ? 'flapping' : 'opened']
  const other = dueWhileSame(alert, beganFlapping, rules, now)
  // Comes before flapping: a server that was slow now and then and is down now must be notified at once.
  const isWorse = alert.severity === 'critical' && alert.notified_severity === 'warning'
  return [...(isWorse ? ['escalated' as const] : []), ...(other === null ? [] : [other])]
}

/** Returns the message that an alert is due that was announced and is no worse. */
function dueWhileSame(alert: AlertRow, beganFlapping: boolean, rules: Rules, now: number): AlertMessageKind | null {
  if (alert.is_flapping === 1) return beganFlapping || isHeldBack(alert) ? 'flapping' : null
  if (isWider(alert)) return 'widened'
  return isReminderDue(alert, rules.reminderMinutes, now) ? 'reminder' : null
}

/**
 * Whether a due message was suppressed before the alert began to flap: that it flaps is then still to be sent, unless another alert
 * speaks for it.
 */
const isHeldBack = ({ suppressed_by }: AlertRow): boolean =>
  suppressed_by !== null && !suppressed_by.startsWith('incident:')

type Notified = Pick<AlertRow, 'state' | 'last_announced_at' | 'last_notified_at'>

/**
 * Returns whether an alert or incident is due for a reminder. Never while someone works on it, nor before the last message has
 * reached anyone: while a channel fails, the message that is pending there is enough. A message of the future was written while the
 * clock was ahead, and must not hold back reminders until then.
 */
export function isReminderDue(
  { state, last_announced_at, last_notified_at }: Notified,
  reminderMinutes: number | null,
  now: number,
): boolean {
  if (state !== 'open' || reminderMinutes === null || last_announced_at === null || last_notified_at === null)
    return false
  const intervalMs = reminderMinutes * MINUTE
  if (last_announced_at > now + intervalMs) return true
  return last_notified_at >= last_announced_at && now - last_notified_at >= intervalMs
}

/** Notes what suppresses the alert, once for each reason. */
function suppressed(alert: AlertRow, events: readonly AlertEvent[], suppressedBy: string, text?: string): Transition {
  if (alert.suppressed_by === suppressedBy) return { alert, events, message: null }
  const [what = ''] = suppressedBy.split(':')
  const { kind, otherwise } = SUPPRESSIONS[what] ?? BY_SILENCE
  return {
    alert: { ...alert, suppressed_by: suppressedBy },
    events: [...events, { kind, actor: null, text: text ?? otherwise }],
    message: null,
  }
}

const BY_SILENCE: SuppressionWords = { kind: 'suppressed', otherwise: 'No notification: silenced' }

const SUPPRESSIONS: Readonly<Record<string, SuppressionWords>> = {
  maintenance: { kind: 'suppressed', otherwise: 'No notification until the maintenance is over' },
  quota: { kind: 'suppressed', otherwise: "No notification: the message about the client's quota covers it" },
  no_channel: { kind: 'unreachable', otherwise: 'No one to notify: add a channel' },
}

interface SuppressionWords {
  kind: AlertEvent['kind']
  otherwise: string
}

const worse = (before: string | null, now: string): string => (before === 'critical' ? before : now)
