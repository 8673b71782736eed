import { HOUR, namesInWords } from '../../lib/index.ts'
import type { AlertRow } from '../../store/index.ts'
import type { AlertEvent, AlertInput, Rules, Violation } from './types.ts'
import { CALM_RESULTS, FLAPPING_FLIPS, type Streak } from './types.ts'

type Result = Extract<AlertInput, { type: 'result' }>

/** An alert after a bad result, before messages are decided. */
interface AlertUpdate {
  after: AlertRow
  events: AlertEvent[]
}

/** An alert that becomes critical, a warning and critical again within this time escalates once, ms. */
const ESCALATED_AGAIN_MS = HOUR

/** The fields of an alert that just opened: one bad result, and no one was notified of it. */
export const JUST_OPENED = {
  state: 'open',
  occurrences: 1,
  confirmed_at: null,
  acknowledged_at: null,
  acknowledged_by: null,
  resolved_at: null,
  resolution: null,
  suppressed_by: null,
  is_flapping: 0,
  announced_at: null,
  last_announced_at: null,
  first_notified_at: null,
  last_notified_at: null,
  notified_severity: null,
  told_events: 0,
  incident_id: null,
  vendor: null,
} as const satisfies Partial<AlertRow>

export function openAlert(
  { identity, violation, streak, startedAt, events }: Result,
  rules: Rules,
  now: number,
): AlertUpdate {
  const after: AlertRow = {
    ...identity,
    ...violation,
    severity_since: now,
    ...JUST_OPENED,
    vendor: identity.vendor ?? null,
    started_at: Math.min(startedAt, now),
    opened_at: now,
    last_seen_at: now,
    bad_events: JSON.stringify(events),
  }
  const opened: AlertEvent = { kind: 'opened', actor: null, text: violation.message }
  return confirmed(after, [opened], streak, rules, now)
}

export function addViolation(alert: AlertRow, input: Result, rules: Rules, now: number): AlertUpdate {
  const { violation, streak, startedAt, events: badEvents } = input
  const after: AlertRow = { ...alert, ...violation, last_seen_at: now, occurrences: alert.occurrences + 1 }
  // Once people may have been notified of the beginning, it is fixed.
  if (after.confirmed_at === null) after.started_at = Math.min(after.started_at, startedAt)
  const events = severityEvents(alert, violation)
  events.push(...widened(after, badEvents))
  if (violation.severity !== alert.severity) {
    after.severity_since = now
    const isOldNews = alert.notified_severity !== 'critical' || now - alert.severity_since < ESCALATED_AGAIN_MS
    if (violation.severity === 'critical' && !isOldNews) after.notified_severity = 'warning'
  }
  if (after.is_flapping === 1 && streak.sinceFlip >= CALM_RESULTS) {
    after.is_flapping = 0
    events.push({ kind: 'calmed', actor: null, text: `No change in ${CALM_RESULTS} results: it is ongoing` })
  }
  return confirmed(after, events, streak, rules, now)
}

function severityEvents(before: AlertRow, { severity, message }: Violation): AlertEvent[] {
  if (severity === before.severity) return []
  return [{ kind: severity === 'critical' ? 'escalated' : 'eased', actor: null, text: message }]
}

/** Confirms an alert that has enough bad results. The timeline says so only where it took more than one. */
function confirmed(after: AlertRow, events: AlertEvent[], streak: Streak, rules: Rules, now: number): AlertUpdate {
  if (after.confirmed_at === null && streak.badInRow >= rules.failureThreshold) {
    after.confirmed_at = now
    if (rules.failureThreshold > 1) {
      events.push({ kind: 'confirmed', actor: null, text: `Bad ${rules.failureThreshold} times in a row` })
    }
  }
  beginFlapping(after, events, streak)
  return { after, events }
}

/** Marks the alert as flapping, in `after` and `events`, and returns true when it begins to flap now. */
export function beginFlapping(after: AlertRow, events: AlertEvent[], streak: Streak): boolean {
  const begins =
    after.is_flapping === 0 &&
    after.confirmed_at !== null &&
    streak.flips >= FLAPPING_FLIPS &&
    streak.sinceFlip < CALM_RESULTS
  if (!begins) return false
  after.is_flapping = 1
  events.push({
    kind: 'flapping',
    actor: null,
    text: `${streak.flips} changes between good and bad in the latest results`,
  })
  return true
}

/** Events that an alert remembers: with so many, one more is no news. */
const EVENTS_MAX = 100

/** Returns the events on which a tag was bad since its alert opened, in the order in which that was seen. */
export const badEventsOf = ({ bad_events }: Pick<AlertRow, 'bad_events'>): readonly string[] =>
  JSON.parse(bad_events) as string[]

/** Adds to `after` the events on which its tag has become bad. Events are never removed, so that one that flaps causes one message. */
function widened(after: AlertRow, events: readonly string[]): AlertEvent[] {
  const known = badEventsOf(after)
  const more = events.filter((event) => !known.includes(event)).slice(0, EVENTS_MAX - known.length)
  if (more.length === 0) return []
  after.bad_events = JSON.stringify([...known, ...more])
  if (known.length > 0) return [{ kind: 'widened', actor: null, text: `Also on ${namesInWords(more)}` }]
  // An earlier version opened it and kept no events: those of the first result now count as notified.
  if (after.announced_at !== null) after.told_events = more.length
  return []
}

/** Returns whether the alert has bad events that no message has named. */
export const isWider = (alert: AlertRow): boolean => alert.told_events < badEventsOf(alert).length
