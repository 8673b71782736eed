import { Temporal } from 'temporal-polyfill'
import { DAY, floorTo, HOUR } from '../lib/index.ts'

/** A half-open stretch of time, epoch ms. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/**
 * Returns the newest buckets that together hold enough: those from `from` on, and as many older ones as needed. Null when all
 * together hold too little. So a detector judges the last minutes of a busy tag and the last hours of a rare one.
 *
 * @param buckets oldest first
 */
export function newestUntil<B extends TimeRange>(
  buckets: readonly B[],
  from: number,
  amountOf: (bucket: B) => number,
  enough: number,
): readonly B[] | null {
  let amount = 0
  for (let start = buckets.length - 1; start >= 0; start--) {
    const bucket = buckets[start]
    if (bucket === undefined) break
    if (bucket.from < from && amount >= enough) return buckets.slice(start + 1)
    amount += amountOf(bucket)
  }
  return amount >= enough ? buckets : null
}

/** The length of the common part of two stretches, ms. */
export const overlap = (a: TimeRange, b: TimeRange): number =>
  Math.max(0, Math.min(a.to, b.to) - Math.max(a.from, b.from))

export const touchesAny = (range: TimeRange, others: readonly TimeRange[]): boolean =>
  others.some((other) => overlap(range, other) > 0)

/** The clock of a time zone. */
export interface LocalTime {
  /** Local time minus UTC at an instant, ms. */
  offsetAt(time: number): number
  /** The first instant at which local clocks show a time, which is given as if it were UTC. */
  instantOf(local: number): number
  /** The instant at which local clocks showed the same time `days` days before. */
  daysBefore(time: number, days: number): number
}

/** A stretch in which the zone's offset does not change. */
interface Span extends TimeRange {
  readonly offset: number
}

/** @throws RangeError for an unknown time zone */
export function localTime(timezone: string): LocalTime {
  // A replay needs the offset of every row, and looking up the zone's rules costs 100 times as much as this list.
  let last = spanAt(timezone, 0)
  const known: Span[] = [last]
  const spanOf = (time: number): Span => {
    const span = known.findLast(({ from, to }) => time >= from && time < to)
    if (span !== undefined) return span
    const added = spanAt(timezone, time)
    known.push(added)
    return added
  }
  const offsetAt = (time: number): number => {
    if (time < last.from || time >= last.to) last = spanOf(time)
    return last.offset
  }
  return {
    offsetAt,
    instantOf: (local) => {
      const [before, after] = [offsetAt(local - DAY), offsetAt(local + DAY)]
      const early = local - Math.max(before, after)
      return early + offsetAt(early) === local ? early : local - Math.min(before, after)
    },
    daysBefore: (time, days) => {
      const earlier = time - days * DAY
      return earlier + offsetAt(time) - offsetAt(earlier)
    },
  }
}

/** Starts of the UTC hours with the same local hour every `daysApart` days before `hour`, newest first. */
export const sameHoursBefore = (clock: LocalTime, hour: number, daysApart: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => floorTo(clock.daysBefore(hour, daysApart * (index + 1)), HOUR))

function spanAt(timezone: string, time: number): Span {
  const zoned = (instant: number) => Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timezone)
  return {
    // At the very instant of a change, `previous` would return the change before it.
    from: zoned(time + 1).getTimeZoneTransition('previous')?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
    to: zoned(time).getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    offset: zoned(time).offsetNanoseconds / 1e6,
  }
}

export const HOURS_A_DAY = 24
export const HOURS_A_WEEK = 7 * HOURS_A_DAY
/** 1 January 1970 was a Thursday; weekdays count from Monday, 0. */
const WEEKDAY_OF_EPOCH = 3
/** Weekdays count from Monday, 0–6. */
export const SATURDAY = 5

/** The UTC hours of some weeks, oldest first. */
export interface WeekHours {
  /** Start of the first hour. */
  readonly start: number
  readonly length: number
  /** For each hour, the hour of the local week, 0–167 from Monday. */
  readonly places: Uint8Array
  /** 1 for hours whose counts are known and not special. */
  readonly isKnown: Uint8Array
  /** Returns the hour of the local week for any hour, even a future one. */
  placeOf(utcHour: number): number
}

/** The whole hours before `now` to compare with. */
export const hoursCompared = (now: number, weeks: number): TimeRange => {
  const to = floorTo(now, HOUR)
  return { from: to - weeks * HOURS_A_WEEK * HOUR, to }
}

/** @param unknown stretches whose counts say nothing about what is usual */
export function weekHours(clock: LocalTime, now: number, weeks: number, unknown: readonly TimeRange[]): WeekHours {
  const { from: start, to: end } = hoursCompared(now, weeks)
  const length = (end - start) / HOUR
  const placeOf = (hour: number): number => {
    const local = hour + clock.offsetAt(hour)
    return ((Math.floor(local / DAY) + WEEKDAY_OF_EPOCH) % 7) * HOURS_A_DAY + Math.floor((local % DAY) / HOUR)
  }
  const hours = Array.from({ length }, (_, index) => start + index * HOUR)
  const near = unknown.filter(({ from, to }) => from < end && to > start)
  return {
    start,
    length,
    places: Uint8Array.from(hours, placeOf),
    isKnown: Uint8Array.from(hours, (from) => (touchesAny({ from, to: from + HOUR }, near) ? 0 : 1)),
    placeOf,
  }
}

/** The hour among the 24 of weekdays and the 24 of weekends, 0–47. */
export const likeOf = (place: number): number =>
  (place >= SATURDAY * HOURS_A_DAY ? HOURS_A_DAY : 0) + (place % HOURS_A_DAY)
