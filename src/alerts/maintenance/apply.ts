import { AppError, DAY, invalidRequest } from '../../lib/index.ts'
import type { MaintenanceRow } from '../../store/index.ts'
import type { UpdateMaintenance } from './schemas.ts'

/** A year, and the day that a leap year adds. */
const MOST_DAYS = 366

const FIELDS = {
  once: ['starts_at', 'ends_at'],
  weekly: ['weekdays', 'start', 'duration_minutes', 'timezone'],
} as const

/**
 * The row, or row to be, after `input` was applied to it.
 *
 * @throws AppError `invalid_request` naming the fields that its kind lacks or does not have, or an end that cannot be.
 */
export function applyToMaintenance(row: MaintenanceRow, input: UpdateMaintenance): MaintenanceRow {
  const { title, is_active, starts_at, ends_at, weekdays, ...others } = input
  const isOnce = row.kind === 'once'
  const foreign = FIELDS[isOnce ? 'weekly' : 'once'].filter((field) => input[field] !== undefined)
  if (foreign.length > 0) {
    throw refused(foreign, `is a field of ${isOnce ? 'weekly maintenance' : 'maintenance that is once'}`)
  }
  const after: MaintenanceRow = {
    ...row,
    ...others,
    title: title === undefined ? row.title : title.trim(),
    is_active: is_active === undefined ? row.is_active : Number(is_active),
    starts_at: starts_at === undefined ? row.starts_at : Date.parse(starts_at),
    ends_at: ends_at === undefined ? row.ends_at : Date.parse(ends_at),
    weekdays: weekdays === undefined ? row.weekdays : JSON.stringify([...new Set(weekdays)].sort()),
  }
  const missing = FIELDS[isOnce ? 'once' : 'weekly'].filter((field) => after[field] === null)
  if (missing.length > 0) throw refused(missing, `is required for kind ${row.kind}`)
  if (after.starts_at !== null && after.ends_at !== null) requireOrder(after.starts_at, after.ends_at)
  return after
}

function requireOrder(startsAt: number, endsAt: number): void {
  if (endsAt <= startsAt) throw invalidRequest('/ends_at', 'must be after starts_at')
  if (endsAt > startsAt + MOST_DAYS * DAY) {
    throw invalidRequest('/ends_at', `must be at most ${MOST_DAYS} days after starts_at`)
  }
}

function refused(fields: readonly string[], message: string): AppError {
  const details = fields.map((field) => ({ path: `/${field}`, message }))
  return new AppError('invalid_request', details.map(({ path }) => `${path} ${message}`).join('; '), details)
}
