import type { Selectable } from 'kysely'

/** Alerts with one cause: what people are notified of. */
export interface IncidentTable {
  /** Begins with the time at which it was opened. */
  id: string
  /** `site`: of one site. `vendor`: a vendor fails on many sites of any clients, and only the operator is notified. */
  scope: string
  /** Null for a vendor's incident, as is the next. */
  client_id: string | null
  site_id: string | null
  /** The strongest known explanation: `server`, `release`, `tag`, … */
  cause: string
  /** When the cause happened, if it is not an alert but, say, a release. */
  cause_at: number | null
  /** The vendor of the tags that it is about; null when it is not about tags. */
  vendor: string | null
  /** The title of the alert that explains it. */
  title: string
  severity: string
  state: string
  /** Time of its earliest sign. */
  started_at: number
  opened_at: number
  /** When its first and its last message were put into the outbox. */
  announced_at: number | null
  last_announced_at: number | null
  /** When a message about it was last delivered. */
  last_notified_at: number | null
  /** The worst severity that a message was written about. */
  notified_severity: string | null
  /** The alert under whose id its messages go out, so that services keep them together; for a vendor's incident its own id. */
  announced_alert_id: string | null
  acknowledged_at: number | null
  acknowledged_by: string | null
  resolved_at: number | null
  /** The alert that explains the others; null for a vendor's incident. */
  lead_alert_id: string | null
  /** The vendor's incident that a site's incident belongs to. */
  parent_id: string | null
  /** What it costs, JSON; null while unknown. */
  impact: string | null
  /** When the impact is computed next; null once it is final. */
  impact_due: number | null
}

/** An entry in an incident's timeline. */
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

/** A note that someone wrote about an incident. */
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
