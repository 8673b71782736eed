import type { AlertRow, IncidentRow } from '../../store/index.ts'
import type { AlertEvent } from '../machine/types.ts'
import type { Case } from './case.ts'
import { signOf } from './sign.ts'
import { holdMs, LATE_MS } from './steady.ts'

/** How an incident that has just ended did so. */
export interface Ending {
  /** The alert that ended last. */
  last: AlertRow
  /** Whether someone removed all that it was about, and knows. */
  isRemoved: boolean
  /** How long people are not notified yet. */
  holdMs: number
}

const CLOSED: readonly (string | null)[] = ['probe_removed', 'replaced']

/**
 * Brings an incident up to date with its alerts. It lasts as long as one of them, is as bad as the worst that lasts, at its end as it was
 * at its worst, and someone takes care of it when someone does of all of them.
 *
 * @param handled what people have just done to its alerts
 * @returns how it ended; null when it did not just now
 */
export function followAlerts(known: Case, handled: readonly AlertEvent[], now: number): Ending | null {
  const { row, alerts, events } = known
  const all = [...alerts.values()]
  const lasting = all.filter(({ state }) => state !== 'resolved')
  const last = all.toSorted((a, b) => (a.resolved_at ?? now) - (b.resolved_at ?? now)).at(-1)
  if (last === undefined || row.resolved_at !== null) return null
  const lead = alerts.get(row.lead_alert_id ?? '')
  if (lead !== undefined && lead.state !== 'resolved') row.title = lead.title
  else if (lasting[0] !== undefined) succeed(row, lead, lasting[0], now)
  // Until people may know of it, an alert that is found to have begun earlier makes it begin earlier.
  if (row.announced_at === null) row.started_at = Math.min(...all.map(({ started_at }) => started_at))
  if (lasting.length === 0) return end(known, last, now)
  const severity = worstOf(lasting)
  if (severity === 'critical' && row.severity === 'warning') {
    const worst = confirmedOf(lasting).find((alert) => alert.severity === 'critical')
    events.push({ kind: 'escalated', actor: null, text: worst?.title ?? row.title })
  }
  row.severity = severity
  if (row.state === 'open' && lasting.every(({ state }) => state === 'acknowledged')) {
    // By what someone has just done, or as the alerts that no one took care of have ended.
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

/** How bad these are together. */
export const severityOfAll = (all: readonly { severity: string | null }[]): 'warning' | 'critical' =>
  all.some(({ severity }) => severity === 'critical') ? 'critical' : 'warning'

/** Of these alerts those that are confirmed, or all where none is: what people are not notified of makes nothing worse. */
export function confirmedOf(alerts: Iterable<AlertRow>): AlertRow[] {
  const all = [...alerts]
  const confirmed = all.filter(({ confirmed_at }) => confirmed_at !== null)
  return confirmed.length > 0 ? confirmed : all
}

/** How bad these alerts are together, those that have ended left out. */
export const worstOf = (alerts: Iterable<AlertRow>): 'warning' | 'critical' =>
  severityOfAll(confirmedOf([...alerts].filter(({ state }) => state !== 'resolved')))

/** What explained it is long over, and it lasts: it goes by what people were notified of. */
function succeed(row: IncidentRow, lead: AlertRow | undefined, next: AlertRow, now: number): void {
  if (lead !== undefined && now - (lead.resolved_at ?? now) < LATE_MS) return
  const { kind, vendor } = signOf(next)
  Object.assign(row, { lead_alert_id: next.id, title: next.title, vendor })
  if (row.cause_at === null) row.cause = kind
}

function end({ row, alerts, events }: Case, last: AlertRow, now: number): Ending {
  row.state = 'resolved'
  // What left it a moment ago was the last to keep it open.
  row.resolved_at = last.resolved_at ?? now
  row.impact_due = now
  const all = [...alerts.values()]
  // A rate fades through warning, and people look for how bad it was.
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
