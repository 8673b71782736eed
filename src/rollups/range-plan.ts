import { Temporal } from 'temporal-polyfill'
import { ceilTo, DAY, floorTo, HOUR, MINUTE } from '../lib/index.ts'
import { GRAIN } from './columns.ts'

/** A half-open interval, epoch ms. */
export interface TimeRange {
  from: number
  to: number
}

/**
 * The UTC hours of the site's local day that contains `time`: 23 to 25 of them. An hour that contains a local midnight, as in
 * Asia/Kolkata, belongs to the day in which it begins, because its event × tag row is not split.
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

export type Grain = (typeof GRAIN)[keyof typeof GRAIN]

/** Rows to read: those of `grain` seconds whose bucket starts in [from, to). */
export interface Segment extends TimeRange {
  grain: Grain
}

/** How long rows are kept. */
export interface Retention {
  minuteDays: number
  hourDays: number
}

/** First minute row that is kept. Whole hours, so that an hour has either all its minute rows or only its hour row. */
export const minuteRowsFrom = (now: number, retention: Retention): number =>
  floorTo(now, HOUR) - retention.minuteDays * DAY

/** Length of an old minute row, ms: later minutes are merged into the first of five. */
export const FIVE_MINUTES = 5 * MINUTE

/**
 * Minute rows that start before this stand for five minutes each, or soon will. Nothing judges single minutes of that time, and
 * events come a day late at most.
 */
export const singleMinutesFrom = (now: number): number => floorTo(now, HOUR) - 2 * DAY

/**
 * Days for which event × tag rows are kept by the hour. No hourly chart (1,500 points at most) reaches back farther, nor do 30
 * days compared with the 30 before. Probes read two weeks of them, the losses of an incident five.
 */
export const PAIR_HOUR_DAYS = 63

/** Event × tag hour rows that start before this stand for a local day each, or soon will. The start of a local day. */
export const pairHoursFrom = (now: number, timezone: string): number =>
  localDay(timezone, floorTo(now, HOUR) - PAIR_HOUR_DAYS * DAY).from

/**
 * UTC days that start before this are merged by local days. That is three days after reports stop asking for their hours, because
 * a local day reaches beyond the UTC day, another time zone moves it by up to 26 hours, and a slow clock may have planned a
 * report.
 */
export const pairHoursKeptFrom = (now: number): number => floorTo(now, DAY) - (PAIR_HOUR_DAYS + 3) * DAY

/** First hour row that is kept. Whole UTC days, because day rows go together with the hours under them. */
export const hourRowsFrom = (now: number, retention: Retention): number => floorTo(now, DAY) - retention.hourDays * DAY

/** Which rows of a table a plan may read. */
export interface ReadableRows {
  /**
   * The finest rows there are. Coarser ones are derived from them; event × tag rows begin with the hour, and parts of a dirty hour hold
   * what is not in its rows yet.
   */
  finest: typeof GRAIN.minute | typeof GRAIN.hour
  /** The coarsest rows the reader can use: a row must not span two of its buckets. */
  coarsest: Grain
  /** Minute rows that start before this are deleted, unless their hour is dirty. A whole UTC hour. */
  minuteRowsFrom: number
  /** Minute rows that start before this are five minutes long. A whole UTC hour. */
  singleMinutesFrom: number
  /** Where the second hour row of a UTC hour starts, ms after the hour; 0 when there is only one row. See `hourSplit`. */
  splitOf: (utcHour: number) => number
  /** Set where hour rows may stand for a local day each. */
  wholeDays?: WholeDays
}

export interface WholeDays {
  /** Hour rows that start before this may stand for a local day. The start of a local day. */
  before: number
  /** The local day that contains a time, in whole UTC hours. */
  of: (time: number) => TimeRange
}

/**
 * The range with its ends moved outward to where rows start: whole minutes, five of them where minutes are merged, whole hour
 * rows where minute rows are deleted, and whole local days where hour rows are merged. This is the range that a report really
 * answers for.
 */
export function widenRange({ from, to }: TimeRange, rows: ReadableRows): TimeRange {
  return { from: widenedStart(from, rows), to: widenedEnd(to, rows) }
}

function widenedStart(from: number, rows: ReadableRows): number {
  if (rows.wholeDays !== undefined && from < rows.wholeDays.before) return rows.wholeDays.of(from).from
  const start = floorTo(from, from < rows.singleMinutesFrom ? FIVE_MINUTES : MINUTE)
  return needsHourRow(start, rows) ? hourRowStart(start, rows) : start
}

function widenedEnd(to: number, rows: ReadableRows): number {
  if (rows.wholeDays !== undefined && to < rows.wholeDays.before)
    return rows.wholeDays.of(to).from === to ? to : rows.wholeDays.of(to - 1).to
  const end = ceilTo(to, to < rows.singleMinutesFrom ? FIVE_MINUTES : MINUTE)
  return needsHourRow(end, rows) ? hourRowEnd(end, rows) : end
}

/** What is out of date: starts of UTC hours and days. */
export interface DirtyTimes {
  /** Hours whose minutes hold everything: the plan reads these, and no day row over them. */
  hours: ReadonlySet<number>
  /** Hours whose minutes were deleted, so that those there now came later: the plan reads them besides the rows over them. */
  lateHours: ReadonlySet<number>
  /** Days whose day rows are out of date or unusable: the plan reads their hour rows. */
  days: ReadonlySet<number>
}

/**
 * Plans how to read a range: segments that tile the widened range exactly, each with the coarsest rows that may be read there, so
 * that their sum is the sum over the finest rows. What coarse rows do not hold yet comes on top: minutes of late hours and, for
 * event × tag, parts of dirty ones. Read the dirty buckets and the rows in one snapshot, because the transaction
 * that derives a bucket's rows also clears its mark.
 */
export function planRange(range: TimeRange, dirty: DirtyTimes, rows: ReadableRows): Segment[] {
  const { from, to } = widenRange(range, rows)
  const segments: Segment[] = []
  if (rows.coarsest === GRAIN.minute) {
    append(segments, GRAIN.minute, from, to)
    return segments
  }
  const staleDays = new Set([...dirty.days, ...Array.from(dirty.hours, (hour) => floorTo(hour, DAY))])
  for (let day = floorTo(from, DAY); day < to; day += DAY) {
    const part = { from: Math.max(from, day), to: Math.min(to, day + DAY) }
    // Where hour rows stand for local days there are no day rows.
    const isWhole = part.to - part.from === DAY && day >= (rows.wholeDays?.before ?? day)
    if (rows.coarsest === GRAIN.day && isWhole && !staleDays.has(day)) append(segments, GRAIN.day, part.from, part.to)
    else planHours(segments, part, dirty.hours, rows)
  }
  const onTop = rows.finest === GRAIN.hour ? [...dirty.hours, ...dirty.lateHours] : [...dirty.lateHours]
  return [...segments, ...onTop.sort((a, b) => a - b).flatMap((hour) => minutesOnTop(segments, hour))]
}

/** The minutes of an hour that are read from coarser rows, whose hour row does not hold all of them. */
const minutesOnTop = (segments: readonly Segment[], hour: number): Segment[] =>
  segments
    .filter(({ grain, from, to }) => grain !== GRAIN.minute && from < hour + HOUR && to > hour)
    .map(({ from, to }) => ({ grain: GRAIN.minute, from: Math.max(from, hour), to: Math.min(to, hour + HOUR) }))

function planHours(
  segments: Segment[],
  { from, to }: TimeRange,
  dirtyHours: ReadonlySet<number>,
  rows: ReadableRows,
): void {
  for (let hour = floorTo(from, HOUR); hour < to; hour += HOUR) {
    const start = Math.max(from, hour)
    const end = Math.min(to, hour + HOUR)
    const byHourRows =
      rows.finest === GRAIN.hour ||
      (!dirtyHours.has(hour) && hourRowStart(start, rows) === start && hourRowEnd(end, rows) === end)
    append(segments, byHourRows ? GRAIN.hour : GRAIN.minute, start, end)
  }
}

function append(segments: Segment[], grain: Grain, from: number, to: number): void {
  if (to <= from) return
  const last = segments.at(-1)
  if (last?.grain === grain && last.to === from) last.to = to
  else segments.push({ grain, from, to })
}

const needsHourRow = (time: number, rows: ReadableRows): boolean =>
  rows.finest === GRAIN.hour || time < rows.minuteRowsFrom

/** Start of the hour row that contains `time`. */
function hourRowStart(time: number, rows: ReadableRows): number {
  const hour = floorTo(time, HOUR)
  const second = hour + rows.splitOf(hour)
  return time >= second ? second : hour
}

/** The first start of an hour row at or after `time`. */
function hourRowEnd(time: number, rows: ReadableRows): number {
  const start = hourRowStart(time, rows)
  if (start === time) return time
  const hour = floorTo(time, HOUR)
  const second = hour + rows.splitOf(hour)
  return start < second ? second : hour + HOUR
}
