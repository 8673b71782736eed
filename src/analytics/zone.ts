import { Temporal } from 'temporal-polyfill'
import { ceilTo, DAY, HOUR } from '../lib/index.ts'
import { hourSplit, type TimeRange } from '../rollups/index.ts'

/** A stretch of time in which a zone keeps one offset from UTC. */
export interface OffsetSpan extends TimeRange {
  /** Local time minus UTC, ms. */
  offset: number
}

/** Local days are up to 25 hours long, so the one that holds `from` starts within this before it. */
const LEAD_MS = 2 * DAY

/**
 * The offsets of an IANA zone around `range`, oldest first and without gaps. Starts early enough to find the start of
 * the local day that holds `range.from`.
 *
 * @throws RangeError when there is no such zone.
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

/** `hourSplit` for all hours of the spans, asked of the zone once a span: a report over a year asks for 9,000 hours. */
export function hourSplits(timezone: string, spans: readonly OffsetSpan[]): (utcHour: number) => number {
  const splits = spans.map(({ from }) => ({ from, split: hourSplit(timezone, ceilTo(from, HOUR)) }))
  if (splits.every(({ split }) => split === 0)) return () => 0
  return (utcHour) => (splits.findLast(({ from }) => from <= utcHour) ?? splits[0])?.split ?? 0
}

/** Remainder that is never negative. */
export const modulo = (value: number, size: number): number => ((value % size) + size) % size
