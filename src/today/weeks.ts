import { Temporal } from 'temporal-polyfill'
import type { Outage } from '../cluster/index.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../lib/index.ts'
import type { TimeRange } from '../rollups/index.ts'

/** Two windows of whole hours and equal length, a week apart. Epoch ms. */
export interface Weeks {
  now: TimeRange
  before: TimeRange
}

/** What tags sent in an hour is there by then, and rolled up. */
const SETTLED_MS = 5 * MINUTE

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

/** The hours of two windows that are compared, joined to stretches: those of one are the others' a week before, in their order. */
export interface ComparedHours {
  now: readonly TimeRange[]
  before: readonly TimeRange[]
  /** Of each window are not compared. */
  leftOut: number
}

/** An hour in which this service was down counts on neither side: what was sent meanwhile is nowhere. */
export function comparedHours({ now, before }: Weeks, outages: readonly Outage[]): ComparedHours {
  const isDown = (from: number) => outages.some((outage) => outage.from < from + HOUR && outage.to > from)
  const compared = { now: [] as TimeRange[], before: [] as TimeRange[], leftOut: 0 }
  for (let at = 0; at < now.to - now.from; at += HOUR) {
    if (isDown(now.from + at) || isDown(before.from + at)) {
      compared.leftOut++
      continue
    }
    extend(compared.now, now.from + at)
    extend(compared.before, before.from + at)
  }
  return compared
}

function extend(stretches: TimeRange[], hour: number): void {
  const last = stretches.at(-1)
  if (last?.to === hour) last.to = hour + HOUR
  else stretches.push({ from: hour, to: hour + HOUR })
}
