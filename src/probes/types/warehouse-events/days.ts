import { Temporal } from 'temporal-polyfill'

/** A calendar day of a zone; times are epoch ms. */
export interface LocalDay {
  /** As in the names of tables: `20261119`. */
  suffix: string
  /** For people: `2026-11-19`. */
  date: string
  /** For people: `Thursday`. */
  weekday: string
  start: number
  end: number
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

/**
 * The day `daysBefore` days before the one that holds `now`.
 *
 * @throws RangeError when there is no such zone
 */
export function localDay(timezone: string, now: number, daysBefore: number): LocalDay {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  const day = today.subtract({ days: daysBefore })
  const date = day.toString()
  return {
    suffix: date.replaceAll('-', ''),
    date,
    weekday: WEEKDAYS[day.dayOfWeek - 1] ?? '',
    start: day.toZonedDateTime(timezone).epochMilliseconds,
    end: day.add({ days: 1 }).toZonedDateTime(timezone).epochMilliseconds,
  }
}

/** The instant at which the zone's clocks show `time` (`14:00`) on the day after the one that ends at `dayEnd`. */
export function timeAfter(timezone: string, dayEnd: number, time: string): number {
  const next = Temporal.Instant.fromEpochMilliseconds(dayEnd).toZonedDateTimeISO(timezone).toPlainDate()
  return next.toZonedDateTime({ timeZone: timezone, plainTime: Temporal.PlainTime.from(time) }).epochMilliseconds
}

export function isTimezone(timezone: string): boolean {
  try {
    localDay(timezone, 0, 0)
    return true
  } catch {
    return false
  }
}
