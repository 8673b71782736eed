import { median } from '../../../detection/index.ts'
import { duration, HOUR, isoTime, number, percent } from '../../../lib/index.ts'
import { type LocalDay, timeAfter } from './days.ts'
import type { Part } from './part.ts'

/** A day that is over, and its table. */
export interface DayTable {
  day: LocalDay
  table: string
  /** Null when there is no table. */
  rows: number | null
}

/** Later than this after a day's end, its table is not late but missing. */
const MISSING_AFTER_MS = 36 * HOUR

/**
 * Whether a table that is not there should be.
 *
 * @param deadline in the zone, on the next day, e.g. `14:00`
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

export interface RowRules {
  warning_ratio: number
  critical_ratio: number
  min_expected_rows: number
}

/** Fewer weeks say little about what is usual. */
const MIN_WEEKS = 2

/** @param history rows of the same weekday in the weeks before, as far as they are known */
export function judgeRows(
  { day, table, rows }: DayTable & { rows: number },
  history: readonly number[],
  rules: RowRules,
): Part {
  const usual = history.length >= MIN_WEEKS ? median(history) : null
  const ratio = usual === null || usual === 0 ? null : rows / usual
  const details = {
    table,
    day: day.date,
    rows,
    expected_rows: usual,
    ratio,
    weeks_known: history.length,
    warning_below: usual === null ? null : usual * rules.warning_ratio,
    critical_below: usual === null ? null : usual * rules.critical_ratio,
  }
  if (rows === 0) return { status: 'critical', message: `${table} is empty`, details: { ...details, reason: 'empty' } }
  const has = `${table} has ${number(rows)} ${rows === 1 ? 'row' : 'rows'}`
  if (usual === null || ratio === null || usual < rules.min_expected_rows) {
    return { status: 'ok', message: has, details: { ...details, judged: false } }
  }
  const message = `${has}, ${percent(ratio)} of the ${number(usual)} that are usual on a ${day.weekday}`
  if (ratio < rules.critical_ratio) return { status: 'critical', message, details: { ...details, reason: 'few_rows' } }
  if (ratio < rules.warning_ratio) return { status: 'warning', message, details: { ...details, reason: 'few_rows' } }
  return { status: 'ok', message, details }
}
