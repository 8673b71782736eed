import { Temporal } from 'temporal-polyfill'
import { ceilTo, DAY, floorTo, HOUR } from '../lib/index.ts'

/** A half-open interval, epoch ms. */
export interface TimeRange {
  from: number
  to: number
}

/**
 * The UTC hours of the site's local day that holds `time`: 23 to 25 of them. An hour in which a local midnight lies, as in Asia/Kolkata, belongs to the
 * day in which it begins: so does its row of event × tag, which is not split.
 */
export function localDay(timezone: string, time: number): TimeRange {
  if (timezone === 'UTC') {
    const from = floorTo(time, DAY)
    return { from, to: from + DAY }
  }
  const local = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timezone).startOfDay()
  const next = local.add({ days: 1 }).startOfDay()
  return { from: ceilTo(local.epochMilliseconds, HOUR), to: ceilTo(next.epochMilliseconds, HOUR) }
}
