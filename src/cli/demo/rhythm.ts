import { Temporal } from 'temporal-polyfill'
import { DAY, floorTo, HOUR } from '../../lib/index.ts'
import type { SiteProfile } from './profile.ts'

/** 1 January 1970 was a Thursday; weekdays count from Monday. */
const WEEKDAY_OF_EPOCH = 3

/** Events per minute that a site expects at a time (epoch ms): its mean, bent by the local hour and weekday. */
export type Rhythm = (time: number) => number

export function rhythmOf(site: SiteProfile): Rhythm {
  const hours = normalised(site.hours)
  const weekdays = normalised(site.weekdays)
  const offsetAt = zoneOffset(site.timezone)
  return (time) => {
    const local = time + offsetAt(time)
    const hour = (local % DAY) / HOUR
    const weekday = weekdays[(Math.floor(local / DAY) + WEEKDAY_OF_EPOCH) % weekdays.length] ?? 1
    return site.eventsPerMinute * weekday * between(hours, hour)
  }
}

/** The zone's offset from UTC, ms. Asked for every minute, so it remembers the UTC hour it looked up last. */
function zoneOffset(timezone: string): (time: number) => number {
  let known = { hour: Number.NaN, offset: 0 }
  return (time) => {
    const hour = floorTo(time, HOUR)
    if (known.hour !== hour) {
      const { offsetNanoseconds } = Temporal.Instant.fromEpochMilliseconds(hour).toZonedDateTimeISO(timezone)
      known = { hour, offset: offsetNanoseconds / 1e6 }
    }
    return known.offset
  }
}

/** The weights with a mean of 1. */
function normalised(weights: readonly number[]): readonly number[] {
  const mean = weights.reduce((sum, weight) => sum + weight, 0) / weights.length
  return weights.map((weight) => weight / mean)
}

/** The value at a place between two, so that traffic does not jump at full hours. */
function between(values: readonly number[], place: number): number {
  const before = Math.floor(place)
  const from = values[before % values.length] ?? 0
  const to = values[(before + 1) % values.length] ?? 0
  return from + (to - from) * (place - before)
}

/**
 * Two hours early: the whole hours that *Today* compares with begin so long before the last week does, at most.
 *
 * @param start where the history ends, epoch ms
 */
export const historyBegin = (start: number, days: number): number => floorTo(start, HOUR) - days * DAY - 2 * HOUR
