import { DEFAULT_PAGE, idBefore, type Page, pageOf } from '../../http/index.ts'
import type { Store } from '../../store/index.ts'
import { withinScope } from '../scope.ts'
import { maintenanceRecord } from './record.ts'
import type { MaintenanceQuery, MaintenanceRecord } from './schemas.ts'

/**
 * A page of the maintenance, the last created first.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time.
 */
export async function listMaintenance(
  { read }: Pick<Store, 'read'>,
  { active_only = false, before, limit = DEFAULT_PAGE, ...scope }: MaintenanceQuery,
  now: number,
): Promise<Page<MaintenanceRecord>> {
  let query = read
    .selectFrom('maintenance')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  for (const condition of withinScope(scope)) query = query.where(condition)
  if (active_only) {
    query = query
      .where('is_active', '=', 1)
      .where(({ eb, or }) => or([eb('kind', '=', 'weekly'), eb('ends_at', '>', now)]))
  }
  if (before !== undefined) query = query.where('id', '<', idBefore(before, 'maintenance'))
  const rows = await query.execute()
  return pageOf(
    rows.map((row) => maintenanceRecord(row, now)),
    limit,
    ({ id }) => id,
  )
}
