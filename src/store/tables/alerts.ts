import type { Generated, Selectable } from 'kysely'

/** A problem, current or past. A unique index allows one unresolved alert per probe and subject. */
export interface AlertTable {
  /** Begins with the time at which it was opened. */
  id: string
  client_id: string
  site_id: string
  probe_id: string
  probe_type: string
  /**
   * `target`: what the probe watches is bad as a whole. `check`: the probe itself cannot do its work. Otherwise the key of a tag,
   * event or field that the probe judges separately.
   */
  subject: string
  /** The name of that tag, event or field for people; null for `target` and `check`. */
  subject_label: string | null
  severity: string
  /** Since when it has had this severity. */
  severity_since: number
  state: string
  title: string
  /** The message of the last bad result. */
  message: string
  /** JSON of the last bad result's details. */
  details: string
  /** When the problem began: the start of the first bad bucket, or the first bad result. */
  started_at: number
  /** When we noticed it. */
  opened_at: number
  /** Time of the last bad result. */
  last_seen_at: number
  /** Number of bad results. */
  occurrences: number
  /** When the probe's failure threshold of consecutive bad results was reached. */
  confirmed_at: number | null
  acknowledged_at: number | null
  acknowledged_by: string | null
  resolved_at: number | null
  resolution: string | null
  /**
   * What kept its message from being written: `silence:ID`, `maintenance:ID`, the `incident:ID` that another alert announced
   * (`alert:ID` in earlier versions), `no_channel`, or `quota`. Null again once the message is written.
   */
  suppressed_by: string | null
  is_flapping: number
  /** When the first and the last message about it were put into the outbox. */
  announced_at: number | null
  last_announced_at: number | null
  /** When the first and the last of them were delivered; null before. */
  first_notified_at: number | null
  last_notified_at: number | null
  /** The worst severity that a message was written about. */
  notified_severity: string | null
  /** JSON: the events on which a tag was bad since the alert opened, in that order; empty where the probe does not judge by event. */
  bad_events: string
  /** The tag's vendor, if people had set one when the alert opened. */
  vendor: Generated<string | null>
  /** How many of `bad_events`, from the first on, messages were written about. */
  told_events: number
  /** The incident that people are notified of; null if an earlier version opened and resolved the alert. */
  incident_id: string | null
}

/** An entry in an alert's timeline. */
export interface AlertEventTable {
  alert_id: string
  /** Begins with the time. */
  id: string
  at: number
  kind: string
  /** Who did it; null when it happened automatically. */
  actor: string | null
  text: string
}

/** A time in which no messages are sent about a client, a site, a probe or an incident: exactly one is set. */
export interface SilenceTable {
  id: string
  client_id: string | null
  site_id: string | null
  probe_id: string | null
  /** Covers all alerts of this incident and of those that it explains, including alerts that join later. */
  incident_id: Generated<string | null>
  /** With a probe: only its alerts about this subject; null for all. */
  subject_key: string | null
  /** That subject's name for people. */
  subject_label: string | null
  starts_at: number
  ends_at: number
  /** 1: ends early, once no alert within it is unresolved. */
  until_resolved: Generated<number>
  comment: string | null
  created_at: number
  created_by: string
}

/** Planned work on a client, a site or a probe: once, or each week at the same local time. */
export interface MaintenanceTable {
  id: string
  client_id: string | null
  site_id: string | null
  probe_id: string | null
  title: string
  kind: string
  is_active: number
  /** For a single one; null otherwise. */
  starts_at: number | null
  ends_at: number | null
  /** For a weekly one, JSON of ISO weekdays, 1 = Monday; null otherwise, as are the next three. */
  weekdays: string | null
  /** Local time, `HH:MM`. */
  start: string | null
  duration_minutes: number | null
  timezone: string | null
  created_at: number
  created_by: string
}

/** The state of a channel. The configured address may have changed since; then this state no longer matters. */
export interface ChannelTable {
  /** `global`, `chat:CLIENT`, `email:CLIENT` or `own:CLIENT:ID`. */
  channel: string
  /** The address that this state is about. For `global` the service and a hash, because it is a secret of the environment. */
  address: string
  /** The node that sends on it now: one at a time, so that messages keep their order and services their rate limits. */
  claimed_by: string | null
  claimed_at: number | null
  next_attempt_at: number
  /** Consecutive failed attempts. */
  failures: number
  failing_since: number | null
  last_error: string | null
  last_success_at: number | null
  /** Since when a permanent failure has turned it off, until the address is edited. */
  off_since: number | null
}

/** A channel of a client besides its chat webhook and its e-mail. */
export interface ClientChannelTable {
  id: string
  client_id: string
  kind: string
  name: string
  /** Contains the service's key, see `destinationOf`. */
  address: string
  minimum_severity: string
  is_active: number
  created_at: number
  /** Null: `NOTIFY_WARNINGS_AFTER_MINUTES` applies. */
  warnings_after_minutes: number | null
}

/** A message to people over one channel: written together with its cause, sent later. */
export interface DeliveryTable {
  /** Begins with the time; a channel's messages are sent in this order. */
  id: string
  channel: string
  client_id: string | null
  alert_id: string | null
  kind: string
  /** JSON of the message; `notifications/message.ts` has its shape. */
  message: string
  state: string
  created_at: number
  /** Held back until then, so that related messages go out together. */
  not_before: number
  /** Deliveries with the same group go out as one message. Set before sending, so that a retry says the same. */
  group_id: string | null
  attempts: number
  last_attempt_at: number | null
  last_error: string | null
  delivered_at: number | null
  /** The service's id of the message, where it may be changed later. */
  receipt: Generated<string | null>
  /** When it was no longer tried because it had become too old; null while it is tried, and when the service refused it. */
  given_up_at: Generated<number | null>
  /** The vendor's incident that it is about; null when it is about an alert or something else. */
  incident_id: Generated<string | null>
}

/** A period whose digest is settled: written for the client, or skipped because it would have come too late. */
export interface DigestTable {
  client_id: string
  /** Epoch ms. The end and not the start, so that a day and a week that end on the same morning are sent only once. */
  period_end: number
  written_at: number
}

/** People's verdict on an alert. Probes read it to learn what is usual. */
export interface AlertFeedbackTable {
  alert_id: string
  site_id: string
  /** Null: all events of the site. */
  event_name: string | null
  /** `not_a_problem` or `real`. */
  verdict: string
  /** When the alert began. */
  began_at: number
  /** When it was resolved; null before. */
  ended_at: number | null
  given_at: number
  given_by: string
}

/** Which of a client's people is on call in which week. */
export interface OnCallRotationTable {
  client_id: string
  /** JSON of the people, in the order of their weeks. */
  people: string
  people_count: number
  timezone: string
  /** 1 (Monday) to 7. */
  handover_weekday: number
  /** `HH:MM` in `timezone`. */
  handover_time: string
  /** `YYYY-MM-DD`, a day in the first person's week. */
  starts_on: string
  escalate_after_minutes: number | null
}

/** A stand-in for the person who would be on call. */
export interface OnCallOverrideTable {
  /** Begins with the time. */
  id: string
  client_id: string
  person_id: string
  starts_at: number
  ends_at: number
  created_by: string
}

/** How far an unacknowledged incident has escalated. */
export interface OnCallEscalationTable {
  incident_id: string
  /** People notified after the first. */
  steps: number
  last_at: number
  /** JSON of the ids of everyone who was notified, the first one included; null: only `steps` is known. */
  notified: Generated<string | null>
  /** When what was passed on was announced; null: before `last_at`. */
  announced_at: Generated<number | null>
}

export type AlertRow = Selectable<AlertTable>
export type AlertEventRow = Selectable<AlertEventTable>
export type AlertFeedbackRow = Selectable<AlertFeedbackTable>
export type SilenceRow = Selectable<SilenceTable>
export type MaintenanceRow = Selectable<MaintenanceTable>
export type ChannelRow = Selectable<ChannelTable>
export type ClientChannelRow = Selectable<ClientChannelTable>
export type DeliveryRow = Selectable<DeliveryTable>
export type OnCallRotationRow = Selectable<OnCallRotationTable>
export type OnCallOverrideRow = Selectable<OnCallOverrideTable>
export type OnCallEscalationRow = Selectable<OnCallEscalationTable>
