import { MINUTE } from '../../lib/index.ts'
import type { AlertMessageKind } from '../../notifications/index.ts'
import type { AlertRow } from '../../store/index.ts'
import type { AlertEvent, Rules, Transition } from './types.ts'

/** What people read in the timeline of each message. */
const TOLD: Readonly<Record<AlertMessageKind, string>> = {
  opened: 'Told that it is open',
  escalated: 'Told that it has become critical',
  flapping: 'Told that it comes and goes; quiet until it is steady',
  reminder: 'Reminded',
  resolved: 'Told that it is over',
}

/** Tells of an alert that lasts what is owed, or notes what keeps it quiet. `events` are those of the step so far. */
export function tellOwed(alert: AlertRow, events: readonly AlertEvent[], rules: Rules, now: number): Transition {
  const beganFlapping = events.some(({ kind }) => kind === 'flapping')
  const message = owed(alert, beganFlapping, rules, now)
  if (message === null) return { alert, events, message: null }
  if (rules.quietBy !== null) return keptQuiet(alert, events, rules.quietBy)
  const after: AlertRow = {
    ...alert,
    suppressed_by: null,
    first_notified_at: alert.first_notified_at ?? now,
    last_notified_at: now,
    notified_severity: worse(alert.notified_severity, alert.severity),
  }
  return { alert: after, events: [...events, told(message)], message }
}

/** Tells that an alert is over, to those who were told that it began. */
export function tellEnd(alert: AlertRow, events: readonly AlertEvent[], rules: Rules, now: number): Transition {
  if (alert.first_notified_at === null || !rules.notifyResolved) return { alert, events, message: null }
  if (rules.quietBy !== null) return keptQuiet(alert, events, rules.quietBy)
  return { alert: { ...alert, last_notified_at: now }, events: [...events, told('resolved')], message: 'resolved' }
}

function owed(alert: AlertRow, beganFlapping: boolean, rules: Rules, now: number): AlertMessageKind | null {
  if (alert.confirmed_at === null) return null
  if (alert.first_notified_at === null) return alert.is_flapping === 1 ? 'flapping' : 'opened'
  if (alert.is_flapping === 1) return beganFlapping ? 'flapping' : null
  if (rules.notifyEscalated && alert.severity === 'critical' && alert.notified_severity === 'warning') {
    return 'escalated'
  }
  return isReminderDue(alert, rules, now) ? 'reminder' : null
}

const isReminderDue = ({ state, last_notified_at }: AlertRow, { reminderMinutes }: Rules, now: number): boolean =>
  state === 'open' &&
  reminderMinutes !== null &&
  last_notified_at !== null &&
  now - last_notified_at >= reminderMinutes * MINUTE

/** Noted once for each thing that keeps it quiet. */
function keptQuiet(alert: AlertRow, events: readonly AlertEvent[], quietBy: string): Transition {
  if (alert.suppressed_by === quietBy) return { alert, events, message: null }
  const [what = ''] = quietBy.split(':')
  const text = what === 'maintenance' ? 'Nobody is told: maintenance' : 'Nobody is told: silenced'
  return {
    alert: { ...alert, suppressed_by: quietBy },
    events: [...events, { kind: 'suppressed', actor: null, text }],
    message: null,
  }
}

const told = (message: AlertMessageKind): AlertEvent => ({ kind: 'notified', actor: null, text: TOLD[message] })

const worse = (before: string | null, now: string): string => (before === 'critical' ? before : now)
