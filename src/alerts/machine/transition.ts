import type { AlertRow } from '../../store/index.ts'
import { addViolation, beginFlapping, openAlert } from './bad.ts'
import { notifyDue, notifyResolution } from './notify.ts'
import { CALM_RESULTS, type Streak } from './streak.ts'
import type { AlertEvent, AlertInput, Rules, Transition } from './types.ts'

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
 * - **Flapping**: a confirmed alert whose last 20 results hold 4 or more changes between good and bad says so once and then is quiet and
 *   stays open, until 10 results in a row bring no change.
 * - Messages go out in this order and one at a time: it is open; it flaps; a warning became critical; a tag is bad on one more of its
 *   events; it still lasts (each `reminder_minutes`, until someone acknowledges it); it is resolved, if anyone was notified that it
 *   opened.
 * - A **silence**, a **maintenance**, another alert about the **same outage**, or **no channel** keep it quiet, and the timeline says
 *   which. What is due then goes out once that ends, unless the alert resolves first.
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

/** No one takes care of it any more, or the acknowledgement was a mistake: reminders go on. */
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
  const text = 'No longer seen: nothing came to judge it by for 24 hours'
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
