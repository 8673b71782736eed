import { newOrderedId, quoted } from '../../lib/index.ts'
import type { AlertRow } from '../../store/index.ts'
import { type Case, openIncidentOf } from './case.ts'
import { type Decision, incidentOf, type SiteFacts } from './grouping.ts'
import { rankOf, type Sign, signOf } from './sign.ts'

/** An alert that has no incident yet, or that has left one. */
export interface Unfiled {
  alert: AlertRow
  /** The alert as it was, if a version without incidents announced it: it gets an incident of its own. */
  announced: AlertRow | null
  /** The incident that it has just left. */
  left: string | null
}

/** What people who know of an incident are to be notified of. */
export interface News {
  /** `explained`: it turned out to be a symptom of another incident. `opened`: it had ended and is back. */
  kind: 'explained' | 'opened'
  known: Case
  note: string
}

/**
 * Puts alerts into incidents, the strongest causes first, because results of one batch have no other order. Changes `cases` and
 * adds new incidents to it.
 */
export function fileAlerts(
  unfiled: readonly Unfiled[],
  cases: Map<string, Case>,
  facts: ReadonlyMap<string, SiteFacts>,
  now: number,
): News[] {
  const news: News[] = []
  const inOrder = unfiled
    .map((one) => ({ ...one, sign: signOf(one.alert) }))
    .sort((a, b) => rankOf(a.sign.kind) - rankOf(b.sign.kind) || a.sign.startedAt - b.sign.startedAt)
  for (const { alert, announced, left, sign } of inOrder) {
    const decision =
      announced !== null
        ? alone(sign)
        : incidentOf(
            sign,
            openOn(alert.site_id, cases).filter(({ id }) => id !== left),
            factsOf(alert, facts, now),
          )
    // An alert that is not confirmed notifies no one, and most recover by then: until it is confirmed it does not reopen an
    // incident.
    if (decision.kind === 'again' && alert.confirmed_at === null) continue
    place(alert, sign, decision, { cases, news, now, announced })
  }
  return news
}

const alone = (sign: Sign): Decision => ({ kind: 'open', cause: sign.kind, causeAt: null, why: null })

const openOn = (siteId: string, cases: ReadonlyMap<string, Case>) =>
  [...cases.values()].filter(({ row }) => row.site_id === siteId).map(openIncidentOf)

const factsOf = ({ site_id }: AlertRow, facts: ReadonlyMap<string, SiteFacts>, now: number): SiteFacts =>
  facts.get(site_id) ?? { now, releases: [], tags: [] }

interface Filing {
  cases: Map<string, Case>
  news: News[]
  now: number
  announced: AlertRow | null
}

function place(alert: AlertRow, sign: Sign, decision: Decision, filing: Filing): void {
  const { cases, news, now } = filing
  const found = decision.kind === 'open' ? undefined : cases.get(decision.incident.id)
  if (decision.kind === 'open' || found === undefined) {
    const made = newCase(alert, sign, decision, filing)
    cases.set(made.row.id, made)
    return
  }
  add(found, alert)
  if (decision.kind === 'again' && reopen(found, now)) news.push({ kind: 'opened', known: found, note: decision.why })
  if (decision.kind === 'join' || decision.kind === 'again') {
    const kind = decision.kind === 'again' ? 'reopened' : 'joined'
    found.events.push({ kind, actor: null, text: decision.why })
    return
  }
  found.row.cause = decision.cause
  found.row.cause_at = decision.causeAt
  // What explains it now is no longer a vendor, nor one of those that become part of it.
  if (decision.leads || decision.merged.length > 0) found.row.parent_id = null
  if (decision.leads) {
    found.row.lead_alert_id = alert.id
    found.row.title = alert.title
    found.row.vendor = sign.vendor
  }
  found.events.push({ kind: 'explained', actor: null, text: decision.why })
  for (const { id } of decision.merged) {
    const merged = cases.get(id)
    if (merged === undefined) continue
    if (merged.row.announced_at === null) merge(merged, found, now)
    else news.push(belong(merged, found, sign.kind === 'own' ? OF_OWN_CHECK : decision.why))
  }
}

function newCase(
  alert: AlertRow,
  sign: Sign,
  decision: Decision,
  { now, announced }: Pick<Filing, 'now' | 'announced'>,
): Case {
  const { cause, causeAt } =
    decision.kind === 'join' || decision.kind === 'again' ? { cause: sign.kind, causeAt: null } : decision
  const made: Case = {
    row: {
      id: newOrderedId(now),
      scope: 'site',
      client_id: alert.client_id,
      site_id: alert.site_id,
      cause,
      cause_at: causeAt,
      vendor: sign.vendor,
      title: alert.title,
      severity: alert.severity,
      state: alert.state === 'acknowledged' ? 'acknowledged' : 'open',
      started_at: alert.started_at,
      opened_at: now,
      announced_at: announced?.announced_at ?? null,
      last_announced_at: announced?.last_announced_at ?? null,
      last_notified_at: announced?.last_notified_at ?? null,
      notified_severity: announced?.notified_severity ?? null,
      announced_alert_id: announced?.id ?? null,
      acknowledged_at: alert.acknowledged_at,
      acknowledged_by: alert.acknowledged_by,
      resolved_at: null,
      lead_alert_id: alert.id,
      parent_id: null,
      impact: null,
      impact_due: now,
    },
    before: null,
    alerts: new Map(),
    events: [{ kind: 'opened', actor: null, text: alert.title }],
  }
  add(made, alert)
  if (decision.why !== null) made.events.push({ kind: 'explained', actor: null, text: decision.why })
  return made
}

function add({ row, alerts }: Case, alert: AlertRow): void {
  alert.incident_id = row.id
  alerts.set(alert.id, alert)
  row.started_at = Math.min(row.started_at, alert.started_at)
}

/**
 * Reopens an incident.
 *
 * @returns whether it was resolved and people were notified of it; only the first alert of a batch finds that
 */
function reopen({ row }: Case, now: number): boolean {
  const wasOver = row.resolved_at !== null
  Object.assign(row, {
    state: 'open',
    resolved_at: null,
    acknowledged_at: null,
    acknowledged_by: null,
    impact_due: now,
  })
  return wasOver && row.announced_at !== null
}

/** Merges an incident that no one knows of: its alerts move, and it closes without a trace in messages. */
function merge(merged: Case, into: Case, now: number): void {
  for (const alert of merged.alerts.values()) add(into, alert)
  merged.alerts.clear()
  merged.row.state = 'resolved'
  merged.row.resolved_at = now
  merged.row.impact_due = null
  merged.row.parent_id = into.row.id
  merged.events.push({ kind: 'merged', actor: null, text: `Part of ${quoted(into.row.title)} from now on` })
}

/** Instead of words that quote why a check cannot run, which is about this installation: clients read the timelines of their incidents. */
const OF_OWN_CHECK = 'A check that cannot run explains it'

/** Makes an incident that people know of part of another: it stays open until its own end, and people are notified of what explains it. */
function belong(symptom: Case, cause: Case, why: string): News {
  symptom.row.parent_id = cause.row.id
  symptom.events.push({ kind: 'belongs', actor: null, text: why })
  return { kind: 'explained', known: symptom, note: `Cause found: ${quoted(cause.row.title)}` }
}
