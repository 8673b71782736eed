import { isoTime, isoTimeOrNull } from '../../lib/index.ts'
import type { MaintenanceRow } from '../../store/index.ts'
import { scheduleOf } from './schedule.ts'
import { KINDS, type Kind, type MaintenanceRecord } from './schemas.ts'
import { nextWindow, windowAt } from './window.ts'

/** Maintenance as the interface shows it at `now`. */
export function maintenanceRecord(row: MaintenanceRow, now: number): MaintenanceRecord {
  const { kind, is_active, starts_at, ends_at, weekdays, created_at, ...others } = row
  const schedule = scheduleOf(row)
  const current = is_active === 1 ? windowAt(schedule, now) : null
  const shown = current ?? (is_active === 1 ? nextWindow(schedule, now) : null)
  return {
    ...others,
    kind: kindOf(kind),
    is_active: is_active === 1,
    starts_at: isoTimeOrNull(starts_at),
    ends_at: isoTimeOrNull(ends_at),
    weekdays: weekdays === null ? null : (JSON.parse(weekdays) as number[]),
    next_occurrence: shown && { starts_at: isoTime(shown.startsAt), ends_at: isoTime(shown.endsAt) },
    is_under_way: current !== null,
    created_at: isoTime(created_at),
  }
}

/** @throws Error when the row was not written by this program: the store holds no other kind. */
export function kindOf(text: string): Kind {
  const known = KINDS.find((kind) => kind === text)
  if (known === undefined) throw new Error(`the store holds an unknown kind of maintenance: ${text}`)
  return known
}
