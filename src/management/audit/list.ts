import { DEFAULT_PAGE, isIsoTime, type Page, pageOf } from '../../http/index.ts'
import { invalidRequest, isoTime } from '../../lib/index.ts'
import type { Store } from '../../store/index.ts'
import { type Change, withoutPersonalFields } from './change.ts'
import type { AuditQuery, AuditRecord } from './schemas.ts'

/**
 * A page of the audit log, newest first.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time.
 */
export async function listAudit(
  { read }: Pick<Store, 'read'>,
  { entity_id, before, limit = DEFAULT_PAGE }: AuditQuery,
  seesSecrets: boolean,
): Promise<Page<AuditRecord>> {
  let query = read
    .selectFrom('audit_log')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (entity_id !== undefined) query = query.where('entity_id', '=', entity_id)
  if (before !== undefined) {
    const { column, value } = positionOf(before)
    query = query.where(column, '<', value)
  }
  const rows = await query.execute()
  const records = rows.map(({ at, before: old, after, ...row }) => {
    const change: Change = { before: parsed(old), after: parsed(after) }
    return { ...row, at: isoTime(at), ...(seesSecrets ? change : withoutPersonalFields(change)) }
  })
  return pageOf(records, limit, ({ id }) => String(id))
}

function positionOf(before: string): { column: 'id' | 'at'; value: number } {
  if (/^\d{1,15}$/.test(before)) return { column: 'id', value: Number(before) }
  if (isIsoTime(before)) return { column: 'at', value: Date.parse(before) }
  throw invalidRequest('/before', 'must be the id of an entry or an ISO 8601 time')
}

// Our own writer made the text, so it is an object.
const parsed = (json: string | null): Change['before'] => (json === null ? null : JSON.parse(json))
