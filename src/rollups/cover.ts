import { DAY, floorTo, HOUR, MINUTE } from '../lib/index.ts'
import { GRAIN } from './columns.ts'

/** A half-open stretch of time, epoch ms. */
export interface TimeRange {
  from: number
  to: number
}

export type Grain = (typeof GRAIN)[keyof typeof GRAIN]

/** Rows to read: those of `grain` seconds whose bucket starts in [from, to). */
export interface Segment extends TimeRange {
  grain: Grain
}

/** Which rows of a table can be read. */
export interface ReadableRows {
  /** The rows that counts are folded into; the coarser ones are derived from them. */
  finest: typeof GRAIN.minute | typeof GRAIN.hour
  /** The coarsest rows that serve the reader: a row must not straddle two of its buckets. */
  coarsest: Grain
  /** Minute rows that start before this have been deleted, unless their hour is marked. A whole UTC hour. */
  minuteRowsFrom: number
  /** Where the second hour row of a UTC hour starts, ms after it; 0 when there is one row. See `hourSplit`. */
  splitOf: (utcHour: number) => number
}

/**
 * The range with its ends moved outward to where rows start: whole minutes, and whole hour rows where minute rows are
 * gone. This is the range that a report really answers for.
 */
export function widenRange({ from, to }: TimeRange, rows: ReadableRows): TimeRange {
  const start = floorTo(from, MINUTE)
  const end = floorTo(to + MINUTE - 1, MINUTE)
  return {
    from: needsHourRow(start, rows) ? hourRowStart(start, rows) : start,
    to: needsHourRow(end, rows) ? hourRowEnd(end, rows) : end,
  }
}

/**
 * Segments that tile the widened range exactly, each with the coarsest rows that may be read there, so that the sum over
 * them is the sum over the finest rows. Read the marks and the rows in one snapshot: a mark goes in the transaction that
 * derives the rows it stands for.
 *
 * @param hourMarks UTC hours whose hour rows are out of date: their minute rows are read, and no day row over them
 * @param dayMarks UTC days whose day rows are out of date or cannot be used: their hour rows are read
 */
export function coverRange(
  range: TimeRange,
  hourMarks: ReadonlySet<number>,
  dayMarks: ReadonlySet<number>,
  rows: ReadableRows,
): Segment[] {
  const { from, to } = widenRange(range, rows)
  const segments: Segment[] = []
  if (rows.coarsest === GRAIN.minute) {
    append(segments, GRAIN.minute, from, to)
    return segments
  }
  const staleDays = new Set([...dayMarks, ...Array.from(hourMarks, (hour) => floorTo(hour, DAY))])
  for (let day = floorTo(from, DAY); day < to; day += DAY) {
    const part = { from: Math.max(from, day), to: Math.min(to, day + DAY) }
    const isWhole = part.to - part.from === DAY
    if (rows.coarsest === GRAIN.day && isWhole && !staleDays.has(day)) append(segments, GRAIN.day, part.from, part.to)
    else coverHours(segments, part, hourMarks, rows)
  }
  return segments
}

function coverHours(
  segments: Segment[],
  { from, to }: TimeRange,
  hourMarks: ReadonlySet<number>,
  rows: ReadableRows,
): void {
  for (let hour = floorTo(from, HOUR); hour < to; hour += HOUR) {
    const start = Math.max(from, hour)
    const end = Math.min(to, hour + HOUR)
    const byHourRows =
      rows.finest === GRAIN.hour ||
      (!hourMarks.has(hour) && hourRowStart(start, rows) === start && hourRowEnd(end, rows) === end)
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

/** Start of the hour row that holds `time`. */
function hourRowStart(time: number, rows: ReadableRows): number {
  const hour = floorTo(time, HOUR)
  const second = hour + rows.splitOf(hour)
  return time >= second ? second : hour
}

/** First start of an hour row at or after `time`. */
function hourRowEnd(time: number, rows: ReadableRows): number {
  const start = hourRowStart(time, rows)
  if (start === time) return time
  const hour = floorTo(time, HOUR)
  const second = hour + rows.splitOf(hour)
  return start < second ? second : hour + HOUR
}
