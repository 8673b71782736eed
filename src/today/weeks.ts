import { Temporal } from 'temporal-polyfill'
import type { Outage } from '../cluster/index.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../lib/index.ts'
import type { TimeRange } from '../rollups/index.ts'

/** Two windows of whole hours and equal length, a week apart. Epoch ms. */
export interface Weeks {
  now: TimeRange
  before: TimeRange
}

/** By then an hour's telemetry has arrived and is rolled up. */
const SETTLED_MS = 5 * MINUTE

/** The last 24 whole hours, and those at the same local time a week before. */
export function lastDay(now: number, timezone: string): Weeks {
  const to = floorTo(now - SETTLED_MS, HOUR)
  return weeksOf({ from: to - DAY, to }, timezone)
}

/** A window and the one at the same local time a week before, both of whole UTC hours and equal length. */
export function weeksOf(window: TimeRange, timezone: string): Weeks {
  const now = { from: floorTo(window.from, HOUR), to: floorTo(window.to, HOUR) }
  const start = Temporal.Instant.fromEpochMilliseconds(now.from).toZonedDateTimeISO(timezone)
  const from = floorTo(start.subtract({ weeks: 1 }).epochMilliseconds, HOUR)
  return { now, before: { from, to: from + (now.to - now.from) } }
}

/** The hours of both windows that are compared, joined into stretches. Both lists have the same hours in the same order, a week apart. */
export interface ComparedHours {
  now: readonly TimeRange[]
  before: readonly TimeRange[]
  /** How many hours of each window are left out. */
  leftOut: number
}

/** Leaves out, on both sides, hours in which Tagwarden was down: what was sent then was counted nowhere. */
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
