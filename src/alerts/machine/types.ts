import type { AlertMessageKind, Severity } from '../../notifications/index.ts'
import type { AlertRow } from '../../store/index.ts'
import type { Streak } from './streak.ts'

/**
 * `target`: what the probe watches, as a whole or one of the tags, events and fields that it judges separately; `check`: whether
 * the probe can do its work.
 */
export type Subject = 'target' | 'check'

export const EVENT_KINDS = [
  'opened',
  'confirmed',
  'escalated',
  'eased',
  'widened',
  'flapping',
  'calmed',
  'notified',
  'suppressed',
  'unreachable',
  'acknowledged',
  'unacknowledged',
  'silenced',
  'unsilenced',
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
  /**
   * While nothing is to be sent, why: `silence:ID`, `maintenance:ID`, `alert:ID` while that one covers the same outage, or
   * `no_channel` when there is no one to notify.
   */
  quietBy: string | null
  /** The same for people, where it is not said by its kind. */
  quietText?: string | undefined
}

/** For alerts that close without a message. */
export const SILENT: Rules = {
  failureThreshold: 1,
  recoveryThreshold: 1,
  reminderMinutes: null,
  notifyResolved: false,
  notifyEscalated: false,
  quietBy: null,
}

/** What a bad result found, as the alert keeps it. */
export interface Violation {
  severity: Severity
  /** Which tag, event or field, for people; null for the whole. */
  subject_label: string | null
  title: string
  message: string
  /** JSON. */
  details: string
}

/** What an alert is about; stays as it is. A probe has at most one unresolved alert for each subject. */
export type Identity = Pick<AlertRow, 'id' | 'client_id' | 'site_id' | 'probe_id' | 'probe_type' | 'subject'>

/** What moves an alert on: a result, the time, a person, or the end of its probe. */
export type AlertInput =
  /** `startedAt`: since when it is bad, as far as the result says, epoch ms. `events`: on which of its events a tag is bad. */
  | {
      type: 'result'
      streak: Streak
      violation: Violation
      startedAt: number
      events: readonly string[]
      identity: Identity
    }
  | { type: 'time' }
  | { type: 'acknowledged'; by: string; comment: string | null }
  | { type: 'unacknowledged'; by: string; comment: string | null }
  | { type: 'resolved'; by: string; comment: string | null }
  /** The probe was deleted or switched off, or its site or client was. */
  | { type: 'removed'; text: string }
  /** For a day nothing came by which it could be judged. */
  | { type: 'gone' }
  /** It covered several subjects, which have alerts of their own now. */
  | { type: 'replaced' }

/** How an input changes an alert. */
export interface Transition {
  /** As it is afterwards; null: there is none. The same object as before when nothing changed. */
  alert: AlertRow | null
  events: readonly AlertEvent[]
  /** The message to send now. */
  message: AlertMessageKind | null
}
