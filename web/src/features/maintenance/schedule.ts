import type { MaintenanceRecord } from '../../api/maintenance.ts'
import { dateFormat } from '../../lib/words.ts'
import { momentOf, ownZone, wallTime } from '../../lib/zone.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
export const MINUTES_PER_WEEK = 10_080

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

/** The date in the page's address, or `fallback` when it is not valid or so far off that weeks around it have no date. */
export const dateIn = (text: string, fallback: string): string =>
  /^[12]\d{3}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00Z`)) ? text : fallback

/** The beginnings of seven days in a zone, and their end. */
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

/** The windows on each start date in the range, and before it by the maintenance's duration, because one may still last. */
function weeklyAround({ weekdays, start, duration_minutes, timezone }: Schedule, from: number, to: number): Stretch[] {
  if (weekdays === null || start === null || duration_minutes === null || timezone === null) return []
  // Half-typed, it may be no number, or so long that the loop would not end.
  if (!(duration_minutes > 0 && duration_minutes <= MINUTES_PER_WEEK)) return []
  const lasts = duration_minutes * MINUTE
  const last = addDays(dateAt(to, timezone), 1)
  const found: Stretch[] = []
  for (let date = dateAt(from - lasts - DAY, timezone); date <= last; date = addDays(date, 1)) {
    const begins = weekdays.includes(weekdayOf(date)) ? momentOf(`${date}T${start}`, timezone) : null
    if (begins !== null) found.push({ from: begins, to: begins + lasts })
  }
  return found
}

/** ISO order: 1 is Monday. */
export const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const

/** "90 min", "4 h", "1 h 30 min", "2 d" */
export function lengthWords(minutes: number): string {
  const days = Math.floor(minutes / 1_440)
  const hours = Math.floor((minutes % 1_440) / 60)
  const rest = minutes % 60
  const parts = [days > 0 ? `${days} d` : '', hours > 0 ? `${hours} h` : '', rest > 0 ? `${rest} min` : '']
  return parts.filter((part) => part !== '').join(' ') || '0 min'
}

/** "Mon to Fri", "Mon, Wed", "every day" */
export function weekdayWords(weekdays: readonly number[]): string {
  if (weekdays.length === 7) return 'every day'
  const sorted = weekdays.toSorted((a, b) => a - b)
  const name = (day: number | undefined) => WEEKDAYS[(day ?? 1) - 1] ?? ''
  const [first, last] = [sorted[0] ?? 1, sorted.at(-1) ?? 1]
  const isRun = sorted.length > 2 && last - first === sorted.length - 1
  return isRun ? `${name(first)} to ${name(last)}` : sorted.map(name).join(', ')
}

/** "Fri 21 Nov, 22:00 to 23:30 CET"; the end has its own date when it is on another day. */
export function windowWords({ starts_at, ends_at }: { starts_at: string; ends_at: string }, zone = ownZone()): string {
  const day = dateFormat(zone, { weekday: 'short', day: 'numeric', month: 'short' })
  const time = { hour: '2-digit', minute: '2-digit' } as const
  const clock = dateFormat(zone, time)
  const clockInZone = dateFormat(zone, { ...time, timeZoneName: 'short' })
  const [start, end] = [Date.parse(starts_at), Date.parse(ends_at)]
  const endDay = day.format(end) === day.format(start) ? '' : `${day.format(end)}, `
  return `${day.format(start)}, ${clock.format(start)} to ${endDay}${clockInZone.format(end)}`
}

/** "Mon to Fri at 22:00 for 1 h 30 min, Europe/Berlin"; null for one-time maintenance. */
export function weeklyWords({ weekdays, start, duration_minutes, timezone }: MaintenanceRecord): string | null {
  if (weekdays === null || start === null || duration_minutes === null || timezone === null) return null
  return `${weekdayWords(weekdays)} at ${start} for ${lengthWords(duration_minutes)}, ${timezone}`
}
