import { MINUTE } from '../../lib/index.ts'
import type { AlertMessageKind } from '../../notifications/index.ts'
import type { AlertRow } from '../../store/index.ts'
import { badEventsOf, isWider } from './bad.ts'
import type { AlertEvent, Rules, Transition } from './types.ts'

/** Decides which message an unresolved alert is due, or notes what keeps it quiet. `events` are those of this transition so far. */
export function notifyDue(alert: AlertRow, events: readonly AlertEvent[], rules: Rules, now: number): Transition {
  const beganFlapping = events.some(({ kind }) => kind === 'flapping')
  const message = dueMessage(alert, beganFlapping, rules, now)
  if (message === null) return { alert, events, message: null }
  if (rules.quietBy !== null) return keptQuiet(alert, events, rules.quietBy, rules.quietText)
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
export function notifyResolution(
  alert: AlertRow,
  events: readonly AlertEvent[],
  rules: Rules,
  now: number,
): Transition {
  if (alert.announced_at === null || !rules.notifyResolved) return { alert, events, message: null }
  if (rules.quietBy !== null) return keptQuiet(alert, events, rules.quietBy, rules.quietText)
  return { alert: { ...alert, last_announced_at: now }, events, message: 'resolved' }
}

function dueMessage(alert: AlertRow, beganFlapping: boolean, rules: Rules, now: number): AlertMessageKind | null {
  if (alert.confirmed_at === null) return null
  if (alert.announced_at === null) return alert.is_flapping === 1 ? 'flapping' : 'opened'
  if (alert.is_flapping === 1) return beganFlapping ? 'flapping' : null
  if (rules.notifyEscalated && alert.severity === 'critical' && alert.notified_severity === 'warning') {
    return 'escalated'
  }
  if (isWider(alert)) return 'widened'
  return isReminderDue(alert, rules, now) ? 'reminder' : null
}

/** No reminder of what has reached no one yet: while a channel fails, what waits there is enough. */
const isReminderDue = (
  { state, last_announced_at, last_notified_at }: AlertRow,
  { reminderMinutes }: Rules,
  now: number,
): boolean =>
  state === 'open' &&
  reminderMinutes !== null &&
  last_announced_at !== null &&
  last_notified_at !== null &&
  last_notified_at >= last_announced_at &&
  now - last_notified_at >= reminderMinutes * MINUTE

/** Noted once for each thing that keeps it quiet. */
function keptQuiet(alert: AlertRow, events: readonly AlertEvent[], quietBy: string, text?: string): Transition {
  if (alert.suppressed_by === quietBy) return { alert, events, message: null }
  const [what = ''] = quietBy.split(':')
  const { kind, otherwise } = QUIET[what] ?? QUIET_BY_SILENCE
  return {
    alert: { ...alert, suppressed_by: quietBy },
    events: [...events, { kind, actor: null, text: text ?? otherwise }],
    message: null,
  }
}

const QUIET_BY_SILENCE: QuietWords = { kind: 'suppressed', otherwise: 'No notification: silenced' }

const QUIET: Readonly<Record<string, QuietWords>> = {
  maintenance: { kind: 'suppressed', otherwise: 'No notification: maintenance' },
  alert: { kind: 'suppressed', otherwise: 'No notification: another alert covers the same outage' },
  no_channel: { kind: 'unreachable', otherwise: 'No one to notify: add a channel' },
}

interface QuietWords {
  kind: AlertEvent['kind']
  otherwise: string
}

const worse = (before: string | null, now: string): string => (before === 'critical' ? before : now)
