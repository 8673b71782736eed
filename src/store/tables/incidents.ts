import type { Selectable } from 'kysely'

/** Alerts of one cause: what people are notified of. */
export interface IncidentTable {
  /** Begins with the time it was opened. */
  id: string
  /** `site`: of one site; `vendor`: a vendor fails on many sites, of whatever clients, and the operator alone is notified of it. */
  scope: string
  /** Null of a vendor's, like the next. */
  client_id: string | null
  site_id: string | null
  /** What explains it, the strongest that is known: `server`, `release`, `tag`, … */
  cause: string
  /** When what explains it happened, where that is no alert: a release. */
  cause_at: number | null
  /** Whose tags it is about; null where it is not about tags. */
  vendor: string | null
  /** That of the alert that explains it. */
  title: string
  severity: string
  state: string
  /** Its earliest sign. */
  started_at: number
  opened_at: number
  /** When its first message was put into the outbox, and the last. */
  announced_at: number | null
  last_announced_at: number | null
  /** When a message about it was last delivered. */
  last_notified_at: number | null
  /** The worst severity that messages were written of. */
  notified_severity: string | null
  /** The alert under whose id its messages go out, so that services keep them together; of a vendor's its own id. */
  announced_alert_id: string | null
  acknowledged_at: number | null
  acknowledged_by: string | null
  resolved_at: number | null
  /** The alert that explains the others; null of a vendor's. */
  lead_alert_id: string | null
  /** The vendor's incident that a site's belongs to. */
  parent_id: string | null
  /** What it costs, JSON; null while that is not known. */
  impact: string | null
  /** When that is counted next; null once it is final. */
  impact_due: number | null
}

/** What happened to an incident, for its timeline. */
export interface IncidentEventTable {
  incident_id: string
  /** Begins with the time. */
  id: string
  at: number
  kind: string
  /** Who did it; null when it happened automatically. */
  actor: string | null
  text: string
}

/** What people write down about an incident. */
export interface IncidentNoteTable {
  incident_id: string
  /** Begins with the time. */
  id: string
  at: number
  author: string
  text: string
}

export type IncidentRow = Selectable<IncidentTable>
export type IncidentEventRow = Selectable<IncidentEventTable>
export type IncidentNoteRow = Selectable<IncidentNoteTable>
