import { MINUTE } from '../../lib/index.ts'
import type { AlertMessageKind } from '../../notifications/index.ts'
import type { AlertRow } from '../../store/index.ts'
import { addViolation, badEventsOf, beginFlapping, isWider, openAlert } from './bad.ts'
import { type AlertEvent, type AlertInput, CALM_RESULTS, type Rules, type Streak, type Transition } from './types.ts'

/**
 * The life of an alert. It has one state machine, and this is all of it:
 *
 *     none ──bad result──▶ open ──acknowledge──▶ acknowledged
 *                            │                        │
 *                            └──── resolved ◀─────────┘    recovered, gone, manual, probe_removed or replaced; the end
 *
 * - A **bad** result (warning, critical) opens an alert, or adds to the one there is: of the target, or of each tag, event or field that
 *   the probe judges separately. An **error** says nothing about the target; three in a row are bad for the probe's alert about the check
 *   itself, and any other result resolves that.
 * - `failure_threshold` bad results in a row **confirm** it. Before that it notifies no one, and resolves without a message.
 * - `recovery_threshold` ok results in a row resolve it.
 * - A tag, event or field that nothing has come of for a day is **gone**: that is an end, and no sign that it works again.
 * - **Flapping**: a confirmed alert whose last 20 results hold 4 or more changes between good and bad says so once, then sends nothing but
 *   that it became critical, and stays open, until 10 results in a row bring no change.
 * - Messages go out in this order and one at a time: it is open; a warning became critical; it flaps; a tag is bad on one more of its
 *   events; it still lasts (each `reminder_minutes`, until someone acknowledges it); it is resolved, if anyone was notified that it
 *   opened.
 * - A **silence**, a **maintenance** or **no channel** suppress it, and the timeline says which. What is due then goes out once that
 *   ends, unless the alert resolves first.
 * - Whether what is due goes out is then a matter of its **incident**: see `incidents/speak.ts`.
 * - A message that is written has reached no one yet: `delivered.ts` notes it when it was delivered.
 *
 * Pure: what it returns is to be written by the caller, all of it or nothing.
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
      return alert === null ? NOTHING : close(alert, 'replaced', 'Each subject has an alert of its own now', now)
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
  // Said twice, it is who said it first; a second comment is kept.
  const isFirst = alert.state === 'open'
  if (!isFirst && comment === null) return { alert, events: [], message: null }
  const event: AlertEvent = { kind: 'acknowledged', actor: by, text: comment ?? 'Acknowledged' }
  const after = isFirst ? { ...alert, state: 'acknowledged', acknowledged_at: now, acknowledged_by: by } : { ...alert }
  return { alert: after, events: [event], message: null }
}

/** No one takes care of it any more, or the acknowledgement was a mistake: reminders resume. */
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
  const text = 'No longer seen: nothing to judge it by arrived for 24 hours'
  return notifyResolution(after, [{ kind: 'resolved', actor: null, text }], rules, now)
}

/** No message: the person who removed the probe knows. */
function close(alert: AlertRow, resolution: string, text: string, now: number): Transition {
  const after: AlertRow = { ...alert, state: 'resolved', resolution, resolved_at: now }
  return { alert: after, events: [{ kind: 'resolved', actor: null, text }], message: null }
}

/** A good result: the alert ends, or waits for more of them. */
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
  const message = dueMessage(alert, beganFlapping, rules, now)
  if (message === null) return { alert, events, message: null }
  if (rules.suppressedBy !== null) return suppressed(alert, events, rules.suppressedBy, rules.suppressedText)
  const after: AlertRow = {
    ...alert,
    suppressed_by: null,
    announced_at: alert.announced_at ?? now,
    last_announced_at: now,
    notified_severity: worse(alert.notified_severity, alert.severity),
    told_events: badEventsOf(alert).length,
  }
  return { alert: after, events, message }
}

/** Notifies everyone of the end who was notified of the beginning, or is about to be. */
function notifyResolution(alert: AlertRow, events: readonly AlertEvent[], rules: Rules, now: number): Transition {
  if (alert.announced_at === null || !rules.notifyResolved) return { alert, events, message: null }
  if (rules.suppressedBy !== null) return suppressed(alert, events, rules.suppressedBy, rules.suppressedText)
  return { alert: { ...alert, last_announced_at: now }, events, message: 'resolved' }
}

function dueMessage(alert: AlertRow, beganFlapping: boolean, rules: Rules, now: number): AlertMessageKind | null {
  if (alert.confirmed_at === null) return null
  if (alert.announced_at === null) return alert.is_flapping === 1 ? 'flapping' : 'opened'
  // A server that was slow now and then, and is down, has to be heard of at once.
  if (rules.notifyEscalated && alert.severity === 'critical' && alert.notified_severity === 'warning') {
    return 'escalated'
  }
  if (alert.is_flapping === 1) return beganFlapping || isHeldBack(alert) ? 'flapping' : null
  if (isWider(alert)) return 'widened'
  return isReminderDue(alert, rules.reminderMinutes, now) ? 'reminder' : null
}

/** What was due has not been said: while it flaps, that it does, unless another alert speaks for it. */
const isHeldBack = ({ suppressed_by }: AlertRow): boolean =>
  suppressed_by !== null && !suppressed_by.startsWith('incident:')

type Notified = Pick<AlertRow, 'state' | 'last_announced_at' | 'last_notified_at'>

/**
 * Whether an alert or incident is due for a reminder. Not while someone takes care of it, nor before the last message has reached
 * anyone: while a channel fails, what waits there is enough.
 */
export const isReminderDue = (
  { state, last_announced_at, last_notified_at }: Notified,
  reminderMinutes: number | null,
  now: number,
): boolean =>
  state === 'open' &&
  reminderMinutes !== null &&
  last_announced_at !== null &&
  last_notified_at !== null &&
  last_notified_at >= last_announced_at &&
  now - last_notified_at >= reminderMinutes * MINUTE

/** Noted once for each thing that suppresses it. */
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
  no_channel: { kind: 'unreachable', otherwise: 'No one to notify: add a channel' },
}

interface SuppressionWords {
  kind: AlertEvent['kind']
  otherwise: string
}

const worse = (before: string | null, now: string): string => (before === 'critical' ? before : now)
