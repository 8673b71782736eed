import type { AlertRow, IncidentRow } from '../../store/index.ts'
import type { AlertEvent } from '../machine/types.ts'
import type { Case } from './case.ts'
import { signOf } from './sign.ts'
import { holdMs, LATE_MS } from './steady.ts'

/** How an incident has just ended. */
export interface Ending {
  /** The alert that ended last. */
  last: AlertRow
  /** Whether someone removed all that it was about, so that no one needs a message. */
  isRemoved: boolean
  /** How long its message is held back, ms. */
  holdMs: number
}

const CLOSED: readonly (string | null)[] = ['probe_removed', 'replaced']

/**
 * Updates an incident from its alerts. It lasts as long as any of them. While it does, it is as bad as the worst unresolved one;
 * once resolved, as bad as it ever was. It is acknowledged when all unresolved alerts are.
 *
 * @param handled what people have just done to its alerts
 * @returns how it ended, or null when it did not end just now
 */
export function followAlerts(known: Case, handled: readonly AlertEvent[], now: number): Ending | null {
  const { row, alerts, events } = known
  const all = [...alerts.values()]
  const lasting = all.filter(({ state }) => state !== 'resolved')
  const last = all.toSorted((a, b) => (a.resolved_at ?? now) - (b.resolved_at ?? now)).at(-1)
  if (last === undefined || row.resolved_at !== null) return null
  const lead = alerts.get(row.lead_alert_id ?? '')
  // Of what was resolved and is bad again, another alert says how bad it is now.
  const named = lasting.find(
    ({ id, probe_id, subject }) => id === lead?.id || (probe_id === lead?.probe_id && subject === lead.subject),
  )
  if (named !== undefined) row.title = named.title
  const next = named ?? lasting[0]
  if (next !== undefined && (lead === undefined || lead.state === 'resolved')) succeed(row, lead, next, now)
  // As long as no one can know of it, an alert that began earlier moves its beginning.
  if (row.announced_at === null) row.started_at = Math.min(...all.map(({ started_at }) => started_at))
  if (lasting.length === 0) return end(known, last, now)
  const severity = worstOf(lasting)
  if (severity === 'critical' && row.severity === 'warning') {
    const worst = confirmedOf(lasting).find((alert) => alert.severity === 'critical')
    events.push({ kind: 'escalated', actor: null, text: worst?.title ?? row.title })
  }
  row.severity = severity
  const comment = handled.find(({ kind, text }) => kind === 'acknowledged' && isComment(text))
  // The first person to acknowledge it stays; a second comment is kept.
  if (row.state === 'acknowledged' && comment !== undefined) events.push({ ...comment, kind: 'acknowledged' })
  if (row.state === 'open' && lasting.every(({ state }) => state === 'acknowledged')) {
    // Either someone has just acknowledged one, or the alerts that were not acknowledged were resolved.
    const taken = handled.find(({ kind }) => kind === 'acknowledged')
    const by = taken?.actor ?? lasting[0]?.acknowledged_by ?? null
    Object.assign(row, { state: 'acknowledged', acknowledged_at: now, acknowledged_by: by })
    events.push({ kind: 'acknowledged', actor: by, text: taken?.text ?? 'Acknowledged' })
  }
  const given = handled.find(({ kind }) => kind === 'unacknowledged')
  if (row.state === 'acknowledged' && given !== undefined) {
    Object.assign(row, { state: 'open', acknowledged_at: null, acknowledged_by: null })
    events.push({ kind: 'unacknowledged', actor: given.actor, text: given.text })
  }
  return null
}

/** Whether the text is a comment and not the timeline's default. */
export const isComment = (text: string): boolean => text !== 'Acknowledged' && text !== 'No longer acknowledged'

/** Returns the worst severity. */
export const severityOfAll = (all: readonly { severity: string | null }[]): 'warning' | 'critical' =>
  all.some(({ severity }) => severity === 'critical') ? 'critical' : 'warning'

/** Returns the confirmed ones of these alerts, or all when none is: an alert that no one is notified of must not make an incident worse. */
export function confirmedOf(alerts: Iterable<AlertRow>): AlertRow[] {
  const all = [...alerts]
  const confirmed = all.filter(({ confirmed_at }) => confirmed_at !== null)
  return confirmed.length > 0 ? confirmed : all
}

/**
 * Whether an incident is critical of which no alert is critical any more: a rate passes through warning on its way back to normal.
 * Only one that is resolved can be so.
 */
export const isEased = ({ row, alerts }: Pick<Case, 'row' | 'alerts'>): boolean =>
  row.severity === 'critical' && severityOfAll(confirmedOf(alerts.values())) !== 'critical'

/** Returns the worst severity of the unresolved alerts. */
export const worstOf = (alerts: Iterable<AlertRow>): 'warning' | 'critical' =>
  severityOfAll(confirmedOf([...alerts].filter(({ state }) => state !== 'resolved')))

/**
 * Makes `next` the lead when the alert that explained the incident was resolved long ago and the incident lasts. It keeps the cause
 * that people were notified of.
 */
function succeed(row: IncidentRow, lead: AlertRow | undefined, next: AlertRow, now: number): void {
  if (lead !== undefined && now - (lead.resolved_at ?? now) < LATE_MS) return
  const { kind, vendor } = signOf(next)
  Object.assign(row, { lead_alert_id: next.id, title: next.title, vendor })
  if (row.cause_at === null) row.cause = kind
}

function end({ row, alerts, events }: Case, last: AlertRow, now: number): Ending {
  row.state = 'resolved'
  // An alert that just left the incident may have been the last to keep it open.
  row.resolved_at = last.resolved_at ?? now
  row.impact_due = now
  const all = [...alerts.values()]
  // A rate passes through warning on its way back to normal, but people look for how bad it was.
  row.severity = severityOfAll([row, ...confirmedOf(all), { severity: row.notified_severity }])
  const count = alerts.size
  events.push({
    kind: 'resolved',
    actor: null,
    text: count === 1 ? 'Its alert was resolved' : `The last of ${count} alerts was resolved`,
  })
  const isRemoved = all.every(({ resolution }) => CLOSED.includes(resolution))
  return { last, isRemoved, holdMs: holdMs(all, row.lead_alert_id, last) }
}
