import { AppError, type ErrorDetail } from '../../lib/index.ts'
import type { ClientRow } from '../../store/index.ts'
import type { UpdateClient } from './schemas.ts'

const OVERRIDES = ['requests_per_second', 'events_per_month'] as const

/**
 * The row after `input` was applied to it. Own limits belong to the plan `enterprise`: they cannot be set on another, and
 * go when the plan changes to another.
 *
 * @throws AppError `invalid_request` naming the limits that the plan does not allow.
 */
export function applyToClient(row: ClientRow, input: UpdateClient): ClientRow {
  const { name, is_active, notify_resolved, notify_escalated, ...others } = input
  const after: ClientRow = {
    ...row,
    ...others,
    name: name === undefined ? row.name : name.trim(),
    is_active: is_active === undefined ? row.is_active : Number(is_active),
    notify_resolved: notify_resolved === undefined ? row.notify_resolved : Number(notify_resolved),
    notify_escalated: notify_escalated === undefined ? row.notify_escalated : Number(notify_escalated),
  }
  if (after.plan === 'enterprise') return after
  const refused = OVERRIDES.filter((field) => typeof input[field] === 'number')
  if (refused.length > 0) throw onlyWithEnterprise(refused)
  return { ...after, requests_per_second: null, events_per_month: null }
}

function onlyWithEnterprise(fields: readonly string[]): AppError {
  const details: ErrorDetail[] = fields.map((field) => ({
    path: `/${field}`,
    message: 'can only be set with plan enterprise',
  }))
  return new AppError('invalid_request', details.map(({ path, message }) => `${path} ${message}`).join('; '), details)
}
