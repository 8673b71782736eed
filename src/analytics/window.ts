import { Temporal } from 'temporal-polyfill'
import { Type } from 'typebox'
import { IsoTime } from '../http/index.ts'
import { ceilTo, DAY, floorTo, HOUR, invalidRequest, isoTime, MINUTE } from '../lib/index.ts'
import {
  GRAIN,
  type Grain,
  hourRowsFrom,
  hourSplit,
  localDay,
  minuteRowsFrom,
  pairHoursFrom,
  type ReadableRows,
  type Retention,
  singleMinutesFrom,
  type TimeRange,
  widenRange,
} from '../rollups/index.ts'
import type { SiteRow } from '../store/index.ts'
import { BUCKET_NAMES, type OffsetSpan } from './buckets.ts'
import type { ReportContext } from './snapshot.ts'

/** The time of a report, and which rollup rows it can read there. */
export interface ReportWindow {
  /** What `event_rollups` and `tag_rollups` answer for: the requested range, widened to where rows start. */
  range: TimeRange
  /** What `event_tag_rollups` answer for: the whole UTC hours touched, and whole local days where hours are no longer kept. */
  hours: TimeRange
  /** The offsets of the site's zone in and around the window. */
  spans: readonly OffsetSpan[]
  minuteRowsFrom: number
  singleMinutesFrom: number
  pairHoursFrom: number
  rows: (coarsest: Grain) => ReadableRows
  hourRows: (coarsest: Grain) => ReadableRows
}

/** @throws AppError `invalid_request` for a window that cannot be answered */
export function reportWindow(context: ReportContext, site: SiteRow, query: RangeQuery): ReportWindow {
  return windowOf(context, site, parseRange(query, context.clock.now(), context.retention))
}

/**
 * The window of equal length just before `window`.
 *
 * @throws AppError `invalid_request` when counts of that time are gone
 */
export function previousWindow(context: ReportContext, site: SiteRow, window: ReportWindow): ReportWindow {
  return windowOf(context, site, previousRange(window.range, context.clock.now(), context.retention))
}

export function windowOf(context: ReportContext, site: SiteRow, requested: TimeRange): ReportWindow {
  const spans = offsetSpans(site.timezone, requested)
  const splitOf = hourSplits(site.timezone, spans)
  const now = context.clock.now()
  const kept = { minuteRowsFrom: minuteRowsFrom(now, context.retention), singleMinutesFrom: singleMinutesFrom(now) }
  const rows = (coarsest: Grain) => ({ finest: GRAIN.minute, coarsest, ...kept, splitOf })
  const wholeDays = {
    before: pairHoursFrom(now, site.timezone),
    of: (time: number) => localDay(site.timezone, time),
  }
  const hourRows = (coarsest: Grain) => ({ ...rows(coarsest), finest: GRAIN.hour, splitOf: () => 0, wholeDays })
  return {
    range: widenRange(requested, rows(GRAIN.day)),
    hours: widenRange(requested, hourRows(GRAIN.day)),
    spans,
    ...kept,
    pairHoursFrom: wholeDays.before,
    rows,
    hourRows,
  }
}

/** A window as requested: `from` and `to` (epoch ms), `from` alone (until now), or the last `hours`. */
export interface RangeQuery {
  from?: number
  to?: number
  hours?: number
}

const DEFAULT_HOURS = 24

/** The request's parameters for a window and a chart's buckets. */
export const RANGE_PARAMS = {
  from: Type.Optional(Type.Unsafe<string>({ ...IsoTime, description: 'Start of the window, ISO 8601' })),
  to: Type.Optional(
    Type.Unsafe<string>({ ...IsoTime, description: 'End of the window (exclusive), ISO 8601; now by default' }),
  ),
  hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: `Number of hours up to now, instead of from and to; ${DEFAULT_HOURS} by default`,
    }),
  ),
  bucket: Type.Optional(
    Type.Enum([...BUCKET_NAMES], {
      default: 'auto',
      description: '`auto` is the finest step that gives at most 400 points. Ignored by reports without a time axis',
    }),
  ),
}

interface RangeParams {
  from?: string | undefined
  to?: string | undefined
  hours?: number | undefined
}

/** Converts a request's window to epoch ms. */
export function rangeQuery({ from, to, hours }: RangeParams): RangeQuery {
  return {
    ...(from === undefined ? {} : { from: Date.parse(from) }),
    ...(to === undefined ? {} : { to: Date.parse(to) }),
    ...(hours === undefined ? {} : { hours }),
  }
}

/**
 * The requested window; `widenRange` gives the one that is answered. A window until now ends with the current minute, so that it
 * includes what was just counted.
 *
 * @throws AppError `invalid_request` saying what is allowed
 */
export function parseRange(query: RangeQuery, now: number, retention: Retention): TimeRange {
  const end = floorTo(now, MINUTE) + MINUTE
  const { from, to = end, hours } = query
  if (from === undefined) {
    if (query.to !== undefined) throw invalidRequest('/to', 'needs from')
    return lastHours(hours ?? DEFAULT_HOURS, end, retention)
  }
  if (hours !== undefined) throw invalidRequest('/hours', 'cannot be combined with from and to: use one of them')
  if (from >= end) throw invalidRequest('/from', 'must not be in the future')
  if (from >= to) throw invalidRequest('/from', 'must be before to')
  const earliest = hourRowsFrom(now, retention)
  if (from < earliest) {
    throw invalidRequest(
      '/from',
      `must be ${isoTime(earliest)} or later: counts are kept for ${retention.hourDays} days`,
    )
  }
  if (to > end && to - from > retention.hourDays * DAY) {
    throw invalidRequest('/to', `must be at most ${retention.hourDays} days after from`)
  }
  return { from, to }
}

/**
 * The window of equal length just before.
 *
 * @throws AppError `invalid_request` when counts of that time are gone
 */
export function previousRange({ from, to }: TimeRange, now: number, retention: Retention): TimeRange {
  const previous = { from: from - (to - from), to: from }
  const earliest = hourRowsFrom(now, retention)
  if (previous.from < earliest) {
    throw invalidRequest(
      '/compare',
      `needs counts since ${isoTime(previous.from)}, but they are kept since ${isoTime(earliest)}: choose a shorter window`,
    )
  }
  return previous
}

function lastHours(hours: number, end: number, retention: Retention): TimeRange {
  const most = retention.hourDays * 24
  if (!Number.isSafeInteger(hours) || hours < 1 || hours > most) {
    throw invalidRequest('/hours', `must be a whole number from 1 to ${most}`)
  }
  return { from: end - hours * HOUR, to: end }
}

/** Local days are up to 25 hours long, so the one that contains `from` starts within this time before it. */
const LEAD_MS = 2 * DAY

/**
 * The offsets of an IANA zone around `range`, oldest first and without gaps. They start early enough to find the start of the
 * local day that contains `range.from`.
 *
 * @throws RangeError when there is no such zone
 */
export function offsetSpans(timezone: string, range: TimeRange): OffsetSpan[] {
  const end = range.to + DAY
  const spans: OffsetSpan[] = []
  let local = Temporal.Instant.fromEpochMilliseconds(range.from - LEAD_MS).toZonedDateTimeISO(timezone)
  while (local.epochMilliseconds < end) {
    const next = local.getTimeZoneTransition('next')
    const to = Math.min(next?.epochMilliseconds ?? end, end)
    spans.push({ from: local.epochMilliseconds, to, offset: local.offsetNanoseconds / 1e6 })
    if (next === null) break
    local = next
  }
  return spans
}

/** `hourSplit` for all hours of the spans, computed once per span: a report over a year asks for 9,000 hours. */
export function hourSplits(timezone: string, spans: readonly OffsetSpan[]): (utcHour: number) => number {
  const splits = spans.map(({ from }) => ({ from, split: hourSplit(timezone, ceilTo(from, HOUR)) }))
  if (splits.every(({ split }) => split === 0)) return () => 0
  return (utcHour) => (splits.findLast(({ from }) => from <= utcHour) ?? splits[0])?.split ?? 0
}
