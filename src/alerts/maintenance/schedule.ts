import type { MaintenanceRow } from '../../store/index.ts'

/** When maintenance takes place: once, or each week at the same local time. */
export type Schedule =
  /** Epoch ms, half-open. */
  | { kind: 'once'; startsAt: number; endsAt: number }
  | {
      kind: 'weekly'
      /** ISO, 1 = Monday. */
      weekdays: readonly number[]
      /** Local time, `HH:MM`. */
      start: string
      /** Of real time: a change of the clocks makes it neither longer nor shorter. */
      durationMinutes: number
      timezone: string
    }

/** @throws Error when the row was not written by this program: each kind has its fields. */
export function scheduleOf(row: MaintenanceRow): Schedule {
  const { kind, starts_at, ends_at, weekdays, start, duration_minutes, timezone } = row
  if (kind === 'once' && starts_at !== null && ends_at !== null) return { kind, startsAt: starts_at, endsAt: ends_at }
  if (kind === 'weekly' && weekdays !== null && start !== null && duration_minutes !== null && timezone !== null) {
    return { kind, weekdays: JSON.parse(weekdays) as number[], start, durationMinutes: duration_minutes, timezone }
  }
  throw new Error(`the store holds maintenance without a schedule: ${row.id}`)
}
