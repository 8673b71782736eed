import { sql } from 'kysely'
import { Type } from 'typebox'
import { isIsoTime } from '../http/index.ts'
import { invalidRequest, isUuid } from '../lib/index.ts'
import { unindexed } from '../store/index.ts'

/** Query parameter of lists whose entries end. */
export const Order = Type.Enum(['opened', 'resolved'], {
  default: 'opened',
  description: '`resolved`: only resolved ones, the last one resolved first; `before` then is about when that was',
})
/** A place in a list ordered by ends: several may end in one moment. */
interface End {
  at: number
  id: string
}

/**
 * What `before` stands for in a list ordered by ends.
 *
 * @param what an entry is, for the message: `an alert`
 * @param find the entry of that id
 * @throws AppError `invalid_request` when it is neither a time nor the id of one that is resolved: an incident may open again
 */
export async function endBefore(
  before: string,
  what: string,
  find: (id: string) => Promise<{ resolved_at: number | null } | undefined>,
): Promise<End> {
  if (isIsoTime(before)) return { at: Date.parse(before), id: '' }
  const id = before.toLowerCase()
  const at = isUuid(id) ? ((await find(id))?.resolved_at ?? null) : null
  if (at !== null) return { at, id }
  throw invalidRequest('/before', `must be the id of ${what} that is resolved, or an ISO 8601 time`)
}

/** Whether a row comes after that place. Compared as a pair, which both engines look up in one index. */
export const endedBefore = ({ at, id }: End) => sql<boolean>`(resolved_at, id) < (${at}, ${id})`

/** Whether a list asks for what lasts, and for nothing else. */
export const asksForLasting = ({ resolved, state }: { resolved?: boolean; state?: string }): boolean =>
  resolved === false || (state !== undefined && state !== 'resolved')

/** The column of a row's client in conditions. Few rows last, and they have indexes of their own; a client may have a hundred thousand. */
export const clientColumn = (lasts: boolean) => (lasts ? unindexed('client_id') : sql.ref<string>('client_id'))
