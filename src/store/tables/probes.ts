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
