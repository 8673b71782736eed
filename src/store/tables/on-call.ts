import type { Generated, Selectable } from 'kysely'

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

export type OnCallRotationRow = Selectable<OnCallRotationTable>
export type OnCallOverrideRow = Selectable<OnCallOverrideTable>
export type OnCallEscalationRow = Selectable<OnCallEscalationTable>
