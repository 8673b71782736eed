import { Temporal } from 'temporal-polyfill'
import { DAY, floorTo, HOUR, MINUTE } from '../lib/index.ts'
import type { TimeRange } from '../rollups/index.ts'
import type { Weeks } from './candidates.ts'

/** When people go home. */
const EVENING = Temporal.PlainTime.from('18:00')
/** What tags sent in an hour is there by then, and rolled up. */
const SETTLED_MS = 5 * MINUTE

/** 18:00 of the day before `now` on the clocks of a zone. Epoch ms. */
export function lastEvening(now: number, timezone: string): number {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  return today.subtract({ days: 1 }).toZonedDateTime({ timeZone: timezone, plainTime: EVENING }).epochMilliseconds
}

/** The last 24 whole hours, and those at which the clocks of a zone said the same a week before. */
export function lastDay(now: number, timezone: string): Weeks {
  const to = floorTo(now - SETTLED_MS, HOUR)
  return weeksOf({ from: to - DAY, to }, timezone)
}

/** A window and the one a week before it, both of whole UTC hours and equally long: where clocks change in between, the clock counts. */
export function weeksOf(window: TimeRange, timezone: string): Weeks {
  const now = { from: floorTo(window.from, HOUR), to: floorTo(window.to, HOUR) }
  const start = Temporal.Instant.fromEpochMilliseconds(now.from).toZonedDateTimeISO(timezone)
  const from = floorTo(start.subtract({ weeks: 1 }).epochMilliseconds, HOUR)
  return { now, before: { from, to: from + (now.to - now.from) } }
}
