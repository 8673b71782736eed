import { GRAIN, type Grain, minuteRowsFrom, type ReadableRows, type TimeRange, widenRange } from '../rollups/index.ts'
import type { SiteRow } from '../store/index.ts'
import { parseRange, previousRange, type RangeQuery } from './range.ts'
import type { ReportContext } from './snapshot.ts'
import { hourSplits, type OffsetSpan, offsetSpans } from './zone.ts'

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

function windowOf(context: ReportContext, site: SiteRow, asked: TimeRange): ReportWindow {
  const spans = offsetSpans(site.timezone, asked)
  const splitOf = hourSplits(site.timezone, spans)
  const rowsFrom = minuteRowsFrom(context.clock.now(), context.retention)
  const rows = (coarsest: Grain) => ({ finest: GRAIN.minute, coarsest, minuteRowsFrom: rowsFrom, splitOf })
  const hourRows = (coarsest: Grain) => ({ ...rows(coarsest), finest: GRAIN.hour, splitOf: () => 0 })
  return {
    range: widenRange(asked, rows(GRAIN.day)),
    hours: widenRange(asked, hourRows(GRAIN.day)),
    spans,
    minuteRowsFrom: rowsFrom,
    rows,
    hourRows,
  }
}
