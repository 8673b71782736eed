import { Temporal } from 'temporal-polyfill'
import { DAY, floorTo, HOUR, isoTime, MINUTE } from '../../lib/index.ts'

/** Whether it is a zone that this program knows. */
export function isTimeZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch {
    return false
  }
}

/**
 * How GA4 names a whole UTC hour in a property's zone, `2026112014`; null where the zone has no hour that is this one: where its hours
 * begin at half past, and in the hour that comes twice when clocks are set back, as GA4 adds both up.
 *
 * @param hour start of a whole UTC hour, epoch ms
 */
export function dateHourOf(timezone: string, hour: number): string | null {
  const start = Temporal.Instant.fromEpochMilliseconds(hour).toZonedDateTimeISO(timezone)
  if (start.minute !== 0 || start.second !== 0) return null
  // On Lord Howe Island clocks are set back by half an hour: an hour of 90 minutes.
  const end = start.toPlainDateTime().add({ hours: 1 }).toZonedDateTime(timezone).epochMilliseconds
  return isOnce(start) && end === hour + HOUR ? nameOf(start) : null
}

/** At which minute of the property's hours UTC hours begin: 0 nearly everywhere, 30 in India, 45 in Nepal. @param time epoch ms */
export const minuteOfHours = (timezone: string, time: number): number =>
  Temporal.Instant.fromEpochMilliseconds(floorTo(time, HOUR)).toZonedDateTimeISO(timezone).minute

/**
 * The two hours of such a zone that a UTC hour lies in: the end of the first, from `minute` on, and the beginning of the second. Null where it begins at another minute, as clocks are set by half an
 * hour, and where local time comes twice.
 *
 * @param hour start of a whole UTC hour, epoch ms
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

/** Whether local clocks show this time once. */
const isOnce = (time: Temporal.ZonedDateTime): boolean =>
  (['earlier', 'later'] as const).every(
    (disambiguation) =>
      time.toPlainDateTime().toZonedDateTime(time.timeZoneId, { disambiguation }).epochMilliseconds ===
      time.epochMilliseconds,
  )

const nameOf = (time: Temporal.ZonedDateTime): string =>
  `${time.toPlainDate().toString().replaceAll('-', '')}${String(time.hour).padStart(2, '0')}`

/** What a run asks for. */
export interface Asked {
  /** Starts of the first settled hour and of the first that is not, epoch ms. */
  from: number
  until: number
  /** Calendar days that hold all of these hours in every zone; later hours in them show how far GA4 has come. */
  startDate: string
  endDate: string
  /** How many hours GA4 can answer of each event. */
  hoursMax: number
}

/** The zone that is the furthest behind UTC, and the one that is furthest ahead. */
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
