import { median, robustSpread } from '../../detection/index.ts'
import { apart, counted, duration, HOUR, isoTime, isoTimeOrNull, number, percent } from '../../lib/index.ts'
import { type LocalDay, timeAfter } from './settings.ts'

export interface Part {
  status: 'ok' | 'warning' | 'critical' | 'error'
  message: string
  details: Readonly<Record<string, unknown>>
}

/** A past day and its table. */
export interface DayTable {
  day: LocalDay
  table: string
  /** Null when the table does not exist. */
  rows: number | null
}

/** From this time after a day's end, its table counts as missing, not late. */
const MISSING_AFTER_MS = 36 * HOUR

/**
 * Judges whether a table that does not exist should.
 *
 * @param deadline local time on the next day, e.g. `14:00`
 */
export function judgeMissing({ day, table }: DayTable, timezone: string, deadline: string, now: number): Part {
  const dueAt = timeAfter(timezone, day.end, deadline)
  const age = duration(now - day.end)
  const details = { table, rows: null, day: day.date, due_at: isoTime(dueAt), missing_since: isoTime(day.end) }
  if (now < dueAt) {
    return { status: 'ok', message: `${table} is not due before ${deadline} (${timezone})`, details }
  }
  const isLong = now - day.end >= MISSING_AFTER_MS
  const message = isLong
    ? `${table} is missing ${age} after the end of its day`
    : `${table} is late: it was due at ${deadline} (${timezone}), and its day ended ${age} ago`
  const reason = isLong ? 'table_missing' : 'table_late'
  return { status: isLong ? 'critical' : 'warning', message, details: { ...details, reason } }
}

interface RowRules {
  warning_ratio: number
  critical_ratio: number
  min_expected_rows: number
}

/** Fewer weeks say too little about what is usual. */
const MIN_WEEKS = 2

/** @param history known row counts of the same weekday in earlier weeks; null for a holiday, which has no usual count */
export function judgeRows(
  { day, table, rows }: DayTable & { rows: number },
  history: readonly number[] | null,
  rules: RowRules,
): Part {
  const usual = history !== null && history.length >= MIN_WEEKS ? median(history) : null
  const ratio = usual === null || usual === 0 ? null : rows / usual
  const details = {
    table,
    day: day.date,
    rows,
    expected_rows: usual,
    ratio,
    weeks_known: history?.length ?? 0,
    is_special_day: history === null,
    warning_below: usual === null ? null : usual * rules.warning_ratio,
    critical_below: usual === null ? null : usual * rules.critical_ratio,
  }
  if (rows === 0) return { status: 'critical', message: `${table} is empty`, details: { ...details, reason: 'empty' } }
  const has = `${table} has ${counted(rows, 'row')}`
  if (history === null) {
    const message = `${has}, not compared: the day is a public holiday or marked as special`
    return { status: 'ok', message, details: { ...details, judged: false } }
  }
  if (usual === null || ratio === null || usual < rules.min_expected_rows) {
    return { status: 'ok', message: has, details: { ...details, judged: false } }
  }
  const bound = ratio < rules.critical_ratio ? rules.critical_ratio : rules.warning_ratio
  const message = `${has}, ${apart(ratio, bound, percent)[0]} of the ${number(usual)} that are usual on a ${day.weekday}`
  if (ratio < rules.critical_ratio) return { status: 'critical', message, details: { ...details, reason: 'few_rows' } }
  if (ratio < rules.warning_ratio) return { status: 'warning', message, details: { ...details, reason: 'few_rows' } }
  return { status: 'ok', message, details }
}

interface ActiveHours {
  /** When rows last arrived; null when there is no table today. */
  freshAt: number | null
  /** Start and end of today's active hours, epoch ms. */
  activeFrom: number
  activeTo: number
}

interface Intraday extends ActiveHours {
  table: string
  /** Whether the last days had such a table: without one, nothing is streamed, so silence is usual. */
  isUsual: boolean
}

const WARNING_MS = 2 * HOUR
const CRITICAL_MS = 6 * HOUR

/** Counts silence only from the active hours on: at night, nothing is missing. */
const silenceOf = ({ freshAt, activeFrom }: ActiveHours, now: number): number =>
  now - Math.max(freshAt ?? activeFrom, activeFrom)

export function judgeIntraday(stream: Intraday, now: number): Part | null {
  const { table, freshAt, isUsual, activeFrom, activeTo } = stream
  if (freshAt === null && !isUsual) return null
  const details = {
    table,
    exists: freshAt !== null,
    last_change: isoTimeOrNull(freshAt),
    active_from: isoTime(activeFrom),
    active_to: isoTime(activeTo),
  }
  const silence = silenceOf(stream, now)
  if (now >= activeTo || silence < WARNING_MS) {
    const message =
      freshAt === null ? `There is no ${table} yet` : `${table} last changed ${duration(now - freshAt)} ago`
    return { status: 'ok', message, details }
  }
  const message =
    freshAt === null
      ? `Nothing is streamed today: there is no ${table}, ${duration(silence)} into the active hours`
      : `${table} has not changed for ${duration(now - freshAt)}`
  return {
    status: silence >= CRITICAL_MS ? 'critical' : 'warning',
    message,
    details: { ...details, reason: 'stream_stopped', silent_ms: silence },
  }
}

interface Known {
  /** Rows of like days; null on a holiday. */
  ofDay: readonly number[] | null
  /** Rows in the warehouse per event counted here, of the days before. */
  ratios: readonly number[]
  /** Events counted here during the silence. */
  ours: number
}

/** How many rows would usually have come during the silence: the larger of what like days and our own counts say. */
export function expectedRows(stream: ActiveHours, now: number, { ofDay, ratios, ours }: Known): number {
  const share = silenceOf(stream, now) / (stream.activeTo - stream.activeFrom)
  const byDay = ofDay === null || ofDay.length === 0 ? 0 : median(ofDay) * share
  const byCounts = ratios.length === 0 ? 0 : ours * median(ratios)
  return Math.round(Math.max(byDay, byCounts))
}

/** Does not judge a silence in which few rows are expected: rows come by visits, and hours without one are usual then. */
export function withExpected(part: Part, expected: number, least: number): Part {
  const details: Part['details'] = { ...part.details, expected_rows: expected }
  if (expected >= least) return { ...part, details }
  const { reason: _, ...facts } = details
  const message = `${part.message}; not judged, as ${counted(expected, 'row')} would be usual in that time, fewer than ${number(least)}`
  return { status: 'ok', message, details: { ...facts, judged: false } }
}

/** Rows in the warehouse per event counted here, by day (`20261119`). */
type Ratios = Readonly<Record<string, number>>

/** The usual ratio depends on consent, filters and batches of the site, so it takes two weeks to know it. */
const MIN_DAYS = 14
const KEPT_DAYS = 28

/** With fewer events, the day's ratio is mostly chance. */
const MIN_EVENTS = 100

/** A ratio within this distance of the usual one is fine, however even the days were. */
const LEAST_MARGIN = 0.15
const SPREADS = 3

/** Adds the ratio of one more day and keeps the latest four weeks. */
export function withRatio(ratios: Ratios, suffix: string, warehouse: number, ours: number): Ratios {
  if (ours < MIN_EVENTS) return ratios
  const days = Object.entries({ ...ratios, [suffix]: warehouse / ours }).sort(([a], [b]) => a.localeCompare(b))
  return Object.fromEntries(days.slice(-KEPT_DAYS))
}

/** @param ratios of all known days; the day's own does not count as usual */
export function reconcile(suffix: string, warehouse: number, ours: number, ratios: Ratios): Part {
  const others = Object.entries(ratios).flatMap(([day, ratio]) => (day === suffix ? [] : [ratio]))
  const ratio = ours < MIN_EVENTS ? null : warehouse / ours
  const band = others.length < MIN_DAYS ? null : bandOf(others)
  const details = { day: suffix, warehouse, ours, ratio, band, days_known: others.length, days_needed: MIN_DAYS }
  if (ratio === null || band === null || (ratio >= band.low && ratio <= band.high)) {
    return { status: 'ok', message: '', details }
  }
  const [shown] = apart(ratio, ratio < band.low ? band.low : band.high, percent)
  const message = `The warehouse has ${counted(warehouse, 'row')} of the day for ${number(ours)} events counted here, ${shown}, where ${percent(band.low)} to ${percent(band.high)} is usual`
  return { status: 'warning', message, details: { ...details, reason: 'counts_differ' } }
}

function bandOf(ratios: readonly number[]): { low: number; high: number } {
  const middle = median(ratios)
  const margin = Math.max(SPREADS * robustSpread(ratios, middle), LEAST_MARGIN * middle)
  return { low: Math.max(0, middle - margin), high: middle + margin }
}
