import type { Generated, Selectable } from 'kysely'

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
  /** Advances when a run is claimed, and to its place on the grid when the result is written. */
  next_run_at: number
  /** The node that runs the probe now. */
  claimed_by: string | null
  claimed_at: number | null
  /** When the claimed run was due. */
  due_at: Generated<number | null>
  /** Consecutive runs whose node died before their result was written. */
  lost_runs: Generated<number>
  last_status: string | null
  /** Why the last result judged nothing (`no_data`, `learning`); null if it judged, and before the first. */
  last_reason: Generated<string | null>
  last_message: string | null
  last_response_time_ms: number | null
  last_result_at: number | null
  /** Consecutive warnings and criticals; an error neither adds to them nor ends them. */
  consecutive_failures: number
  /** The first letters of the last 20 results' statuses, oldest first; `u` for one that judged nothing. */
  recent_statuses: Generated<string>
  /** JSON, for types that judge many subjects: the same letters by subject key, for each subject that was bad in the last 20 results. */
  subject_statuses: Generated<string>
  /** JSON of what the probe's type remembers between runs. */
  memory: string
  /** Results before this UTC day (epoch ms) are thinned; 0: none yet. */
  results_thinned_to: Generated<number>
}

/** The address that a job calls to report, and its last call. */
export interface PushTable {
  probe_id: string
  /** Shown to editors, who need the address again. */
  token: string
  /** SHA-256 of the token, base64url; calls are looked up by it. */
  token_hash: string
  made_at: number
  last_at: number | null
  last_status: 'ok' | 'warning' | 'critical' | null
  /** Cleaned and cut; empty when the call gave none. */
  last_message: string | null
  /** Since when calls have said `last_status`. */
  status_since: number | null
  /** When the job reported its start; null once it has reported its end. */
  started_at: number | null
  /** How long the last reported job ran, if known. */
  duration_ms: number | null
  /** The time for which a call last requested a run of the probe, so that not every call requests one. */
  run_asked_at: number | null
}

export interface ProbeResultTable {
  /** The probe may be deleted by now: its results follow it, in steps. */
  probe_id: string
  /** Begins with the time, so that the key orders a probe's results. */
  id: string
  status: string
  /** Why it judged nothing (`no_data`, `learning`); null if it judged. */
  reason: string | null
  message: string
  response_time_ms: number | null
  /** JSON. */
  details: string
  attempts: number
  executed_at: number
  /** The maintenance in which it was found. */
  maintenance_id: string | null
}

/** The first sighting of a version of something that a site runs. */
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
