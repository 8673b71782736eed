import type { Selectable } from 'kysely'
import type { MaintenanceTable } from './alerts.ts'

/** The address at which a client's status page is visible without a key. */
export interface StatusLinkTable {
  client_id: string
  /** 32 random bytes, base64url. */
  token: string
  created_at: number
  created_by: string
}

/** A client's colour and logo on its status page. */
export interface StatusLooksTable {
  client_id: string
  /** `#rrggbb` */
  accent: string | null
  /** The image as base64, and its type, detected from its bytes. */
  logo: string | null
  logo_type: string | null
}

/** Someone who gets e-mail about a status page's incidents and maintenance. Times in epoch ms. */
export interface StatusSubscriberTable {
  /** Begins with the time. */
  id: string
  client_id: string
  /** Token of the status page that they subscribed on: once its link is replaced or revoked, nothing is sent. */
  token: string
  /** In lower case. */
  email: string
  /** Part of the links in its e-mails: opens this subscription and nothing else. */
  secret: string
  created_at: number
  /** When the e-mail that asks for confirmation was sent; null: it is due. */
  asked_at: number | null
  confirmed_at: number | null
  /** Up to this time, everything about incidents and maintenance has been sent, or was before the subscription. */
  notified_until: number
  next_mail_at: number
  /** Consecutive failures. */
  failures: number
}

/** An incident of a status page as its subscribers were last e-mailed about it. */
export interface AnnouncedIncidentTable {
  /** The incident's. */
  id: string
  /** Whose page shows it. */
  client_id: string
  site_id: string
  /** As of the last change. */
  title: string
  /** JSON list of when it opened, ended and was back, the oldest first. */
  turns: string
  /** When the last of them was announced, epoch ms. */
  changed_at: number
}

/** Maintenance of a status page as its subscribers were last e-mailed about it. */
export interface AnnouncedMaintenanceTable
  extends Pick<
    MaintenanceTable,
    'id' | 'site_id' | 'kind' | 'starts_at' | 'ends_at' | 'weekdays' | 'start' | 'duration_minutes' | 'timezone'
  > {
  /** Whose page shows it. */
  client_id: string
  /** 0: it was cancelled. */
  is_planned: number
  /** When it was announced as new; later changes keep it. Epoch ms. */
  planned_at: number
  /** When the last change was announced, epoch ms. */
  changed_at: number
}

export type StatusLinkRow = Selectable<StatusLinkTable>
export type StatusLooksRow = Selectable<StatusLooksTable>
export type StatusSubscriberRow = Selectable<StatusSubscriberTable>
export type AnnouncedIncidentRow = Selectable<AnnouncedIncidentTable>
export type AnnouncedMaintenanceRow = Selectable<AnnouncedMaintenanceTable>
