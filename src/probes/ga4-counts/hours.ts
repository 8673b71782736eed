import { Temporal } from 'temporal-polyfill'
import { DAY, floorTo, HOUR, isoTime, MINUTE } from '../../lib/index.ts'

/** Whether this version knows the time zone. */
export function isTimeZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch {
    return false
  }
}

/**
 * Returns GA4's name of a UTC hour in the property's time zone, e.g. `2026112014`. Null when the zone has no equal hour:
 * where hours begin at half past, and for the hour that repeats when clocks go back, which GA4 adds up.
 *
 * @param hour start of a UTC hour, epoch ms
 */
export function dateHourOf(timezone: string, hour: number): string | null {
  const start = Temporal.Instant.fromEpochMilliseconds(hour).toZonedDateTimeISO(timezone)
  if (start.minute !== 0) return null
  // Lord Howe Island's clocks go back by half an hour, which makes an hour of 90 minutes.
  const end = start.toPlainDateTime().add({ hours: 1 }).toZonedDateTime(timezone).epochMilliseconds
  return isOnce(start) && end === hour + HOUR ? nameOf(start) : null
}

/**
 * The minute of the property's hours at which UTC hours begin: 0 almost everywhere, 30 in India, 45 in Nepal.
 *
 * @param time epoch ms
 */
export const minuteOfHours = (timezone: string, time: number): number =>
  Temporal.Instant.fromEpochMilliseconds(floorTo(time, HOUR)).toZonedDateTimeISO(timezone).minute

/**
 * Returns the two hours of such a zone that a UTC hour lies in: the end of the first, from `minute` on, and the beginning of
 * the second. Null when it begins at another minute, because clocks changed by half an hour, and when local time repeats.
 *
 * @param hour start of a UTC hour, epoch ms
 */
export function dateHoursAround(
  timezone: string,
  hour: number,
  minute: number,
): [first: string, second: string] | null {
  const [first, last] = [hour, hour + HOUR - MINUTE].map((time) =>
    Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timezone),
  )
  if (first === undefined || last === undefined) return null
  if (first.minute !== minute || first.offset !== last.offset || !isOnce(first) || !isOnce(last)) return null
  return [nameOf(first), nameOf(last)]
}

/** Whether local clocks show this time only once. */
const isOnce = (time: Temporal.ZonedDateTime): boolean =>
  (['earlier', 'later'] as const).every(
    (disambiguation) =>
      time.toPlainDateTime().toZonedDateTime(time.timeZoneId, { disambiguation }).epochMilliseconds ===
      time.epochMilliseconds,
  )

const nameOf = (time: Temporal.ZonedDateTime): string =>
  `${time.toPlainDate().toString().replaceAll('-', '')}${String(time.hour).padStart(2, '0')}`

/** The hours that a run requests. */
export interface Asked {
  /** Start of the first settled hour and of the first unsettled one, epoch ms. */
  from: number
  until: number
  /** Calendar days that contain these hours in every time zone. Later hours in them show how far GA4 has come. */
  startDate: string
  endDate: string
  /** Largest number of hours that GA4 can return for each event. */
  hoursMax: number
}

/** Offsets of the time zones farthest behind and ahead of UTC. */
const BEHIND_MS = 12 * HOUR
const AHEAD_MS = 14 * HOUR

export function askedAt(
  now: number,
  { days, settled_after_hours }: { days: number; settled_after_hours: number },
): Asked {
  const until = floorTo(now - settled_after_hours * HOUR, HOUR)
  const from = until - days * DAY
  const [startDate, endDate] = [dateOf(from - BEHIND_MS), dateOf(until - 1 + AHEAD_MS)]
  const dates = (Date.parse(endDate) - Date.parse(startDate)) / DAY + 1
  return { from, until, startDate, endDate, hoursMax: 25 * dates }
}

const dateOf = (time: number): string => isoTime(time).slice(0, 10)
