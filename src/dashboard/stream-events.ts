import type { Status } from './status.ts'

/** The kinds of messages on `/api/stream`, and what each holds. */
export interface StreamEvents {
  /** Sites that received something since the last message. */
  ingest: { sites: SiteCounter[] }
  /** Probes whose status is another than before. */
  status: { probes: ProbeStatus[] }
  /** Alerts that were opened, changed or resolved. */
  alerts: { alerts: AlertChange[] }
}

export interface SiteCounter {
  id: string
  last_event_at: string
  /** Events of the last five minutes. */
  events_5m: number
}

export interface ProbeStatus {
  id: string
  site_id: string
  status: Status
}

export interface AlertChange {
  id: string
  client_id: string
  site_id: string
  probe_id: string
  severity: 'warning' | 'critical'
  state: 'open' | 'acknowledged' | 'resolved'
  title: string
}
