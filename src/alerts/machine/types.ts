import type { AlertMessageKind, Severity } from '../../notifications/index.ts'
import type { AlertRow } from '../../store/index.ts'
import type { Standing } from './recent.ts'

/** `target`: what the probe watches; `check`: whether the probe can do its work. A probe has at most one alert for each. */
export type Subject = 'target' | 'check'

export const EVENT_KINDS = [
  'opened',
  'confirmed',
  'escalated',
  'eased',
  'flapping',
  'calmed',
  'notified',
  'suppressed',
  'acknowledged',
  'resolved',
] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** A line of an alert's timeline. */
export interface AlertEvent {
  kind: EventKind
  actor: string | null
  text: string
}

/** What decides about messages, of the probe and of the client. */
export interface Rules {
  failureThreshold: number
  recoveryThreshold: number
  /** Null = no reminders. */
  reminderMinutes: number | null
  notifyResolved: boolean
  notifyEscalated: boolean
  /** `silence:ID` or `maintenance:ID` while nothing is to be sent. */
  quietBy: string | null
}

/** What a bad result says, and of what an alert is made. */
export interface Complaint {
  severity: Severity
  title: string
  message: string
  /** JSON. */
  details: string
}

/** What an alert is about; stays as it is. */
export type Identity = Pick<AlertRow, 'id' | 'client_id' | 'site_id' | 'probe_id' | 'probe_type'> & { subject: Subject }

export type Happening =
  | { type: 'result'; standing: Standing; complaint: Complaint; identity: Identity }
  | { type: 'time' }
  | { type: 'acknowledged'; by: string; comment: string | null }
  | { type: 'resolved'; by: string; comment: string | null }
  /** The probe was deleted or switched off, or its site or client was. */
  | { type: 'removed'; text: string }

/** What becomes of an alert. */
export interface Transition {
  /** As it is afterwards; null: there is none. The same object as before when nothing changed. */
  alert: AlertRow | null
  events: readonly AlertEvent[]
  /** What people are to be told now. */
  message: AlertMessageKind | null
}
