import { Temporal } from 'temporal-polyfill'
import { DAY, MINUTE } from '../../lib/index.ts'
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
      /** In real time: a change of the clocks makes it neither longer nor shorter. */
      durationMinutes: number
      timezone: string
    }

type StoredSchedule = Pick<
  MaintenanceRow,
  'id' | 'kind' | 'starts_at' | 'ends_at' | 'weekdays' | 'start' | 'duration_minutes' | 'timezone'
>

/**
 * Returns the schedule of a stored row.
 *
 * @throws Error when Tagwarden did not write the row: each kind has its fields
 */
export function scheduleOf(row: StoredSchedule): Schedule {
  const { kind, starts_at, ends_at, weekdays, start, duration_minutes, timezone } = row
  if (kind === 'once' && starts_at !== null && ends_at !== null) return { kind, startsAt: starts_at, endsAt: ends_at }
  if (kind === 'weekly' && weekdays !== null && start !== null && duration_minutes !== null && timezone !== null) {
    return { kind, weekdays: JSON.parse(weekdays) as number[], start, durationMinutes: duration_minutes, timezone }
  }
  throw new Error(`the store holds maintenance without a schedule: ${row.id}`)
}

type Weekly = Extract<Schedule, { kind: 'weekly' }>

/** Epoch ms, half-open. */
export interface Window {
  startsAt: number
  endsAt: number
}

/**
 * Returns the window that contains `at`, or null. Windows overlap when the duration is longer than the time to the next start; then
 * it is the one that began last, which also ends last, because all are equally long.
 */
export function windowAt(schedule: Schedule, at: number): Window | null {
  const latest = schedule.kind === 'once' ? onlyWindow(schedule) : latestWindow(schedule, at)
  return latest !== null && latest.startsAt <= at && at < latest.endsAt ? latest : null
}

/** Returns the first window that starts after `after`, or null when there is none. */
export function nextWindow(schedule: Schedule, after: number): Window | null {
  if (schedule.kind === 'once') return schedule.startsAt > after ? onlyWindow(schedule) : null
  const isLater = ({ startsAt }: Window) => startsAt > after
  return firstWindow(schedule, after, daysFrom(0, 7), isLater)
}

/** Returns the window that is under way at that time, or else the next one; null when there is none. */
export const nearestWindow = (schedule: Schedule, at: number): Window | null =>
  windowAt(schedule, at) ?? nextWindow(schedule, at)

const onlyWindow = ({ startsAt, endsAt }: Window): Window => ({ startsAt, endsAt })

/** Returns the window that began last, if it may still be under way. */
function latestWindow(schedule: Weekly, at: number): Window | null {
  const back = Math.ceil((schedule.durationMinutes * MINUTE) / DAY) + 1
  // Tomorrow's may have begun: when clocks are put back over midnight, the last minutes of a date come again.
  return firstWindow(schedule, at, daysFrom(-back, 1).reverse(), ({ startsAt }) => startsAt <= at)
}

const daysFrom = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

/**
 * Returns the first window that meets the condition, on the dates that are `days` away from the local date at `time`. A later date
 * never starts earlier, so in either direction that is the nearest one.
 */
function firstWindow(
  schedule: Weekly,
  time: number,
  days: readonly number[],
  condition: (window: Window) => boolean,
): Window | null {
  const { weekdays, timezone, durationMinutes } = schedule
  const today = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timezone).toPlainDate()
  for (const distance of days) {
    const weekday = ((today.dayOfWeek - 1 + distance + 14) % 7) + 1
    if (!weekdays.includes(weekday)) continue
    const startsAt = startOn(today.add({ days: distance }), schedule)
    const window = { startsAt, endsAt: startsAt + durationMinutes * MINUTE }
    if (condition(window)) return window
  }
  return null
}

/**
 * Returns when local clocks show the start time on that date: the first time when it occurs twice, and the first instant after a
 * gap when the clocks skip it.
 */
function startOn(date: Temporal.PlainDate, { start, timezone }: Weekly): number {
  const wall = date.toPlainDateTime(start)
  const first = wall.toZonedDateTime(timezone, { disambiguation: 'earlier' })
  if (first.toPlainDateTime().equals(wall)) return first.epochMilliseconds
  // In a gap, `earlier` is as far before the change of the clocks as the start is before the end of the gap.
  return (first.getTimeZoneTransition('next') ?? first).epochMilliseconds
}
