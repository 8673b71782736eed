import { DAY, floorTo, HOUR, invalidRequest, isoTime, MINUTE } from '../lib/index.ts'
import {
  GRAIN,
  type Grain,
  hourRowsFrom,
  minuteRowsFrom,
  type ReadableRows,
  type Retention,
  type TimeRange,
  widenRange,
} from '../rollups/index.ts'
import type { SiteRow } from '../store/index.ts'
import { hourSplits, type OffsetSpan, offsetSpans } from './buckets.ts'
import type { ReportContext } from './snapshot.ts'

/** The time a report is about, and what of the rollups can be read there. */
export interface ReportWindow {
  /** What is answered for from `event_rollups` and `tag_rollups`: what was asked for, widened to where rows start. */
  range: TimeRange
  /** What is answered for from `event_tag_rollups`: the whole UTC hours that were touched. */
  hours: TimeRange
  /** The site's zone in and around the window. */
  spans: readonly OffsetSpan[]
  minuteRowsFrom: number
  rows: (coarsest: Grain) => ReadableRows
  hourRows: (coarsest: Grain) => ReadableRows
}

/** @throws AppError `invalid_request` for a window that cannot be answered. */
export function reportWindow(context: ReportContext, site: SiteRow, query: RangeQuery): ReportWindow {
  return windowOf(context, site, parseRange(query, context.clock.now(), context.retention))
}

/**
 * The window of equal length just before `window`.
 *
 * @throws AppError `invalid_request` when counts of that time are gone.
 */
export function previousWindow(context: ReportContext, site: SiteRow, window: ReportWindow): ReportWindow {
  return windowOf(context, site, previousRange(window.range, context.clock.now(), context.retention))
}

function windowOf(context: ReportContext, site: SiteRow, requested: TimeRange): ReportWindow {
  const spans = offsetSpans(site.timezone, requested)
  const splitOf = hourSplits(site.timezone, spans)
  const rowsFrom = minuteRowsFrom(context.clock.now(), context.retention)
  const rows = (coarsest: Grain) => ({ finest: GRAIN.minute, coarsest, minuteRowsFrom: rowsFrom, splitOf })
  const hourRows = (coarsest: Grain) => ({ ...rows(coarsest), finest: GRAIN.hour, splitOf: () => 0 })
  return {
    range: widenRange(requested, rows(GRAIN.day)),
    hours: widenRange(requested, hourRows(GRAIN.day)),
    spans,
    minuteRowsFrom: rowsFrom,
    rows,
    hourRows,
  }
}

/** How a caller names a window: `from` and `to` (epoch ms), `from` alone (until now), or the last `hours`. */
export interface RangeQuery {
  from?: number
  to?: number
  hours?: number
}

export const DEFAULT_HOURS = 24

/**
 * The window a caller asked for; see `widenRange` for the one that is answered. A window up to now ends with the current
 * minute, so that what was just counted is in it.
 *
 * @throws AppError `invalid_request` saying what is allowed.
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
 * @throws AppError `invalid_request` when counts of that time are gone.
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
