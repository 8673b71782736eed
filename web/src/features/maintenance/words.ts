import type { MaintenanceRecord } from '../../api/maintenance.ts'
import { ownZone } from '../../lib/zone.ts'
import type { Entry } from './entries.ts'

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

/** "Fri 21 Nov, 22:00 to 23:30 CET"; the end has a date of its own on another day. */
export function windowWords({ starts_at, ends_at }: { starts_at: string; ends_at: string }, zone = ownZone()): string {
  const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: zone })
  const time = { hour: '2-digit', minute: '2-digit', timeZone: zone } as const
  const clock = new Intl.DateTimeFormat('en-GB', time)
  const clockInZone = new Intl.DateTimeFormat('en-GB', { ...time, timeZoneName: 'short' })
  const [start, end] = [Date.parse(starts_at), Date.parse(ends_at)]
  const endDay = day.format(end) === day.format(start) ? '' : `${day.format(end)}, `
  return `${day.format(start)}, ${clock.format(start)} to ${endDay}${clockInZone.format(end)}`
}

/** "Mon to Fri at 22:00 for 1 h 30 min, Europe/Berlin"; null for what is once. */
export function weeklyWords({ weekdays, start, duration_minutes, timezone }: MaintenanceRecord): string | null {
  if (weekdays === null || start === null || duration_minutes === null || timezone === null) return null
  return `${weekdayWords(weekdays)} at ${start} for ${lengthWords(duration_minutes)}, ${timezone}`
}

export const titleOf = (entry: Entry): string =>
  entry.kind === 'maintenance' ? entry.record.title : (entry.record.comment ?? 'Silence')
