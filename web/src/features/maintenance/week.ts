import type { MaintenanceRecord } from '../../api/maintenance.ts'
import { momentOf, wallTime } from '../../lib/zone.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** Epoch ms, half-open. */
export interface Stretch {
  from: number
  to: number
}

/** `YYYY-MM-DD` some days later. */
export const addDays = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00Z`) + days * DAY).toISOString().slice(0, 10)

/** The date of a moment in a zone. */
export const dateAt = (at: number, zone: string): string => wallTime(at, zone).slice(0, 10)

/** 1 is Monday. */
export const weekdayOf = (date: string): number => ((new Date(`${date}T00:00Z`).getUTCDay() + 6) % 7) + 1

/** A date as it stands in the address; `fallback` where it is none. */
export const dateIn = (text: string, fallback: string): string =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00Z`)) ? text : fallback

/** Seven days as they begin in a zone, and their end. */
export function weekFrom(first: string, zone: string): { days: { date: string; from: number }[]; to: number } {
  const at = (date: string) => momentOf(`${date}T00:00`, zone) ?? Date.parse(`${date}T00:00Z`)
  const days = [0, 1, 2, 3, 4, 5, 6].map((n) => addDays(first, n)).map((date) => ({ date, from: at(date) }))
  return { days, to: at(addDays(first, 7)) }
}

export type Schedule = Pick<
  MaintenanceRecord,
  'kind' | 'starts_at' | 'ends_at' | 'weekdays' | 'start' | 'duration_minutes' | 'timezone'
>

/** When maintenance takes place within a stretch of time, earliest first. */
export function occurrencesIn(schedule: Schedule, { from, to }: Stretch): Stretch[] {
  const all = schedule.kind === 'once' ? onceOf(schedule) : weeklyAround(schedule, from, to)
  return all.filter((window) => window.from < to && window.to > from).toSorted((a, b) => a.from - b.from)
}

const onceOf = ({ starts_at, ends_at }: Schedule): Stretch[] =>
  starts_at === null || ends_at === null ? [] : [{ from: Date.parse(starts_at), to: Date.parse(ends_at) }]

/** On each date that it starts on: it may have begun as long before as it lasts. */
function weeklyAround({ weekdays, start, duration_minutes, timezone }: Schedule, from: number, to: number): Stretch[] {
  if (weekdays === null || start === null || duration_minutes === null || timezone === null) return []
  const lasts = duration_minutes * MINUTE
  const last = addDays(dateAt(to, timezone), 1)
  const found: Stretch[] = []
  for (let date = dateAt(from - lasts - DAY, timezone); date <= last; date = addDays(date, 1)) {
    const begins = weekdays.includes(weekdayOf(date)) ? momentOf(`${date}T${start}`, timezone) : null
    if (begins !== null) found.push({ from: begins, to: begins + lasts })
  }
  return found
}
