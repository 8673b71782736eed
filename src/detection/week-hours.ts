import { DAY, floorTo, HOUR } from '../lib/index.ts'
import { type LocalTime, type TimeRange, touchesAny } from './time.ts'

export const HOURS_A_DAY = 24
export const HOURS_A_WEEK = 7 * HOURS_A_DAY
/** 1 January 1970 was a Thursday; days of the week count from Monday. */
const WEEKDAY_OF_EPOCH = 3
/** From Monday, 0–6. */
export const SATURDAY = 5

/** The UTC hours of some weeks, oldest first. */
export interface WeekHours {
  /** Start of the first of them. */
  readonly start: number
  readonly length: number
  /** Hour of the local week, 0–167 from Monday, of each. */
  readonly places: Uint8Array
  /** 1 for those whose counts are known and were not special. */
  readonly isKnown: Uint8Array
  /** Hour of the local week of any hour, also of one to come. */
  placeOf(utcHour: number): number
}

/** The whole hours before `now` that are compared with. */
export const hoursCompared = (now: number, weeks: number): TimeRange => {
  const to = floorTo(now, HOUR)
  return { from: to - weeks * HOURS_A_WEEK * HOUR, to }
}

/** @param unknown stretches whose counts say nothing of what is usual */
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

/** A place among the 48 hours of weekdays and of weekends. */
export const likeOf = (place: number): number =>
  (place >= SATURDAY * HOURS_A_DAY ? HOURS_A_DAY : 0) + (place % HOURS_A_DAY)
