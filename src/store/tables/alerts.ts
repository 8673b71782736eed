import type { Generated, Selectable } from 'kysely'

/** Something that is or was wrong. At most one for a probe and subject is unresolved: a unique index holds it. */
export interface AlertTable {
  /** Begins with the time it was opened. */
  id: string
  client_id: string
  site_id: string
  probe_id: string
  probe_type: string
  /**
   * `target`: what the probe watches is bad, as a whole; `check`: the probe itself cannot do its work; else the key of a tag, an
   * event or a field that the probe judges separately.
   */
  subject: string
  /** Which tag, event or field that is, for people; null for `target` and `check`. */
  subject_label: string | null
  severity: string
  /** When it became as severe as it is. */
  severity_since: number
  state: string
  title: string
  /** What the last bad result said. */
  message: string
  /** JSON of the last bad result's details. */
  details: string
  /** When it began: the start of the first bad bucket, or the first bad result. */
  started_at: number
  /** When we saw it. */
  opened_at: number
  /** The last bad result. */
  last_seen_at: number
  /** Bad results. */
  occurrences: number
  /** When there were as many bad results in a row as the probe wants before a message. */
  confirmed_at: number | null
  acknowledged_at: number | null
  acknowledged_by: string | null
  resolved_at: number | null
  resolution: string | null
  /**
   * `silence:ID`, `maintenance:ID`, the `incident:ID` that was announced by another alert (`alert:ID` in earlier versions), or
   * `no_channel`: what kept a message from being written; null again when it was.
   */
  suppressed_by: string | null
  is_flapping: number
  /** When the first message about it was put into the outbox, and the last. */
  announced_at: number | null
  last_announced_at: number | null
  /** When the first of them was delivered, and the last; null while none was. */
  first_notified_at: number | null
  last_notified_at: number | null
  /** The worst severity that messages were written of. */
  notified_severity: string | null
  /** JSON: on which of its events a tag was bad since the alert opened, in that order; empty where that is not judged by event. */
  bad_events: string
  /** Whose tag it is about, where people had set that when it opened. */
  vendor: Generated<string | null>
  /** How many of them, from the first on, messages were written of. */
  told_events: number
  /** The incident that people are notified of; null of what an earlier version opened and resolved. */
  incident_id: string | null
}

/** What happened to an alert, for its timeline. */
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

/** A time in which nothing is sent about a client, a site or a probe: exactly one of the three is named. */
export interface SilenceTable {
  id: string
  client_id: string | null
  site_id: string | null
  probe_id: string | null
  /** All alerts of this incident, and of those that it explains, whenever they join it. */
  incident_id: Generated<string | null>
  /** With a probe: of its alerts only those about this subject; null for all. */
  subject_key: string | null
  /** That subject as people read it. */
  subject_label: string | null
  starts_at: number
  ends_at: number
  /** 1: it ends sooner, when no alert within it is unresolved any more. */
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
  /** Of one that is once; null otherwise. */
  starts_at: number | null
  ends_at: number | null
  /** Of a weekly one, JSON: ISO weekdays, 1 = Monday; null otherwise, like the next three. */
  weekdays: string | null
  /** Local time, `HH:MM`. */
  start: string | null
  duration_minutes: number | null
  timezone: string | null
  created_at: number
  created_by: string
}

/** How a way to reach people does. The address itself may have changed since: then what is said here is of no interest. */
export interface ChannelTable {
  /** `global`, `chat:CLIENT`, `email:CLIENT` or `own:CLIENT:ID`. */
  channel: string
  /** The address that the rest speaks of; of `global` the service and a hash, as it is a secret of the environment. */
  address: string
  /** The node that sends on it now: one at a time, so that messages keep their order and services their pace. */
  claimed_by: string | null
  claimed_at: number | null
  next_attempt_at: number
  /** Failed attempts in a row. */
  failures: number
  failing_since: number | null
  last_error: string | null
  last_success_at: number | null
  /** Switched off by a failure that does not pass, until the address is edited. */
  off_since: number | null
}

/** A way to reach people of a client besides its chat webhook and its e-mail. */
export interface ClientChannelTable {
  id: string
  client_id: string
  kind: string
  name: string
  /** With its key, see `destinationOf`. */
  address: string
  minimum_severity: string
  is_active: number
  created_at: number
  /** Null: `NOTIFY_WARNINGS_AFTER_MINUTES` says. */
  warnings_after_minutes: number | null
}

/** A message on its way to people over one channel: written together with its cause, sent later. */
export interface DeliveryTable {
  /** Begins with the time; the order in which a channel's messages are sent. */
  id: string
  channel: string
  client_id: string | null
  alert_id: string | null
  kind: string
  /** JSON of the message as `notifications/message.ts` describes it. */
  message: string
  state: string
  created_at: number
  /** Kept back until then, so that what belongs together goes out together. */
  not_before: number
  /** Deliveries that share it go out as one message. Settled before it is sent, so that a repetition says the same. */
  group_id: string | null
  attempts: number
  last_attempt_at: number | null
  last_error: string | null
  delivered_at: number | null
  /** By which the service knows it, where it may be changed later. */
  receipt: Generated<string | null>
}

/** The periods whose digest is done with: written for the client, or left out because it would have come too late. */
export interface DigestTable {
  client_id: string
  /** Epoch ms. Its end and not its start: a day and a week that end on one morning are sent only once. */
  period_end: number
  written_at: number
}

/** Whether an alert was right, as people said. The probes read it: what they take for usual follows from it. */
export interface AlertFeedbackTable {
  alert_id: string
  site_id: string
  /** Null: it was about all events of the site. */
  event_name: string | null
  /** `not_a_problem` or `real`. */
  verdict: string
  /** When the alert began. */
  began_at: number
  /** When it was resolved; null while it is not. */
  ended_at: number | null
  given_at: number
  given_by: string
}

export type AlertRow = Selectable<AlertTable>
export type AlertEventRow = Selectable<AlertEventTable>
export type AlertFeedbackRow = Selectable<AlertFeedbackTable>
export type SilenceRow = Selectable<SilenceTable>
export type MaintenanceRow = Selectable<MaintenanceTable>
export type ChannelRow = Selectable<ChannelTable>
export type ClientChannelRow = Selectable<ClientChannelTable>
export type DeliveryRow = Selectable<DeliveryTable>

export interface ProbeTable {
  id: string
  site_id: string
  probe_type: string
  name: string
  /** JSON of the settings that were given; the others follow the type's defaults. */
  config: string
  interval_seconds: number
  timeout_ms: number
  failure_threshold: number
  recovery_threshold: number
  is_active: number
  created_at: number
  /** Moves on with the claim of a run, and to its place on the grid when the result is written. */
  next_run_at: number
  /** The node that runs the probe now. */
  claimed_by: string | null
  claimed_at: number | null
  /** When the run that is claimed was due. */
  due_at: Generated<number | null>
  /** Runs in a row whose node died before their result was written. */
  lost_runs: Generated<number>
  last_status: string | null
  /** Why the last result judged nothing (`no_data`, `learning`); null where it judged, and before the first. */
  last_reason: Generated<string | null>
  last_message: string | null
  last_response_time_ms: number | null
  last_result_at: number | null
  /** Warnings and criticals in a row; an error neither adds to them nor ends them. */
  consecutive_failures: number
  /** The first letters of the last 20 results' statuses, oldest first; `u` for one that judged nothing. */
  recent_statuses: Generated<string>
  /** JSON, of a type that judges many subjects: the same letters of each that was bad in the last 20 results, by its key. */
  subject_statuses: Generated<string>
  /** JSON of what the probe's type remembers from run to run. */
  memory: string
}

/** What a job calls that reports by itself, and what its last call said. */
export interface PushTable {
  probe_id: string
  /** Shown to admins, who need the address again. */
  token: string
  /** SHA-256 of the token, base64url: by it the token of a call is looked up. */
  token_hash: string
  made_at: number
  last_at: number | null
  last_status: 'ok' | 'warning' | 'critical' | null
  /** Cleaned and cut; empty where it said nothing. */
  last_message: string | null
  /** Since when calls say `last_status`. */
  status_since: number | null
  /** When the job said that it begins, until it says how it ended. */
  started_at: number | null
  /** How long the job ran that called last, where it is known. */
  duration_ms: number | null
  /** For when a call last asked for a run of the probe: calls do not ask for one each. */
  run_asked_at: number | null
}

export interface ProbeResultTable {
  /** Of a probe that may be deleted by now: its results go after it, in steps. */
  probe_id: string
  /** Begins with the time, so that the key orders a probe's results. */
  id: string
  status: string
  /** Why it judged nothing (`no_data`, `learning`); null where it judged. */
  reason: string | null
  message: string
  response_time_ms: number | null
  /** JSON. */
  details: string
  attempts: number
  executed_at: number
  /** The maintenance during which it was found. */
  maintenance_id: string | null
}

/** A version of what a site runs that was seen for the first time. */
export interface DeployMarkerTable {
  site_id: string
  /** Begins with the time. */
  id: string
  at: number
  source: string
  from_version: string | null
  to_version: string
  /** JSON. */
  details: string
}

export type ProbeRow = Selectable<ProbeTable>
export type ProbeResultRow = Selectable<ProbeResultTable>
