import { DEFAULT_PAGE, idBefore, type Page, pageOf } from '../../http/index.ts'
import type { Store } from '../../store/index.ts'
import { withinScope } from '../scope.ts'
import { silenceRecord } from './record.ts'
import type { SilenceQuery, SilenceRecord } from './schemas.ts'

/**
 * A page of the silences, the last created first.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time.
 */
export async function listSilences(
  { read }: Pick<Store, 'read'>,
  { active_only = false, before, limit = DEFAULT_PAGE, ...scope }: SilenceQuery,
  now: number,
): Promise<Page<SilenceRecord>> {
  let query = read
    .selectFrom('silences')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  for (const condition of withinScope(scope)) query = query.where(condition)
  if (active_only) query = query.where('starts_at', '<=', now).where('ends_at', '>', now)
  if (before !== undefined) query = query.where('id', '<', idBefore(before, 'a silence'))
  const rows = await query.execute()
  return pageOf(
    rows.map((row) => silenceRecord(row, now)),
    limit,
    ({ id }) => id,
  )
}
