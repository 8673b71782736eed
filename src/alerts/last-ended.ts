import { sql } from 'kysely'
import { Type } from 'typebox'
import { isIsoTime, type Visible } from '../http/index.ts'
import { invalidRequest, isUuid } from '../lib/index.ts'
import { unindexed } from '../store/index.ts'

/** Query parameter of lists whose entries can be resolved. */
export const Order = Type.Enum(['opened', 'resolved'], {
  default: 'opened',
  description:
    '`resolved`: only resolved ones, most recently resolved first; `before` then refers to the time of resolution',
})
/** A position in a list ordered by end; the id breaks ties between entries that ended in the same millisecond. */
interface End {
  at: number
  id: string
}

/**
 * Returns the position that `before` names in a list ordered by end.
 *
 * @param what an entry is, for the message: `an alert`
 * @param visible the clients whose entries the caller may see: the answer must not tell when another's has ended
 * @param find reads the entry with that id
 * @throws AppError `invalid_request` when it is neither a time nor the id of a resolved entry (an incident may have reopened)
 */
export async function endBefore(
  before: string,
  what: string,
  visible: Visible,
  find: (id: string) => Promise<{ client_id: string | null; resolved_at: number | null } | undefined>,
): Promise<End> {
  if (isIsoTime(before)) return { at: Date.parse(before), id: '' }
  const id = before.toLowerCase()
  const found = isUuid(id) ? await find(id) : undefined
  const isVisible = visible === null || visible.includes(found?.client_id ?? '')
  if (found !== undefined && found.resolved_at !== null && isVisible) return { at: found.resolved_at, id }
  throw invalidRequest('/before', `must be the id of ${what} that is resolved, or an ISO 8601 time`)
}

/** The condition for rows after that position. It compares pairs, because both engines then use one index for it. */
export const endedBefore = ({ at, id }: End) => sql<boolean>`(resolved_at, id) < (${at}, ${id})`

/** Returns whether a query asks only for unresolved entries. */
export const asksForLasting = ({ resolved, state }: { resolved?: boolean; state?: string }): boolean =>
  resolved === false || (state !== undefined && state !== 'resolved')

/**
 * Returns `client_id` for a condition. Unresolved rows are few and have their own indexes, so there the client's index is disabled:
 * a client may have 100,000 rows.
 */
export const clientColumn = (lasts: boolean) => (lasts ? unindexed('client_id') : sql.ref<string>('client_id'))
