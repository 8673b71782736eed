import { firstIdAt } from '../lib/index.ts'
import type { DeployMarkerTable, SiteRow } from '../store/index.ts'
import type { ReportContext } from './snapshot.ts'
import { parseRange, type RangeQuery } from './window.ts'

/** More would be a bar and no marks. */
export const MARKERS = 200

/** What was deployed, and when (epoch ms). */
export type Marker = Pick<DeployMarkerTable, 'at' | 'source' | 'from_version' | 'to_version'>

/**
 * The changes of versions that probes saw in a window, oldest first; of more than 200 the latest.
 *
 * @throws AppError `invalid_request` for a window that cannot be answered.
 */
export async function markers(context: ReportContext, site: SiteRow, query: RangeQuery): Promise<Marker[]> {
  const { from, to } = parseRange(query, context.clock.now(), context.retention)
  const latest = await context.store.read
    .selectFrom('deploy_markers')
    .select(['at', 'source', 'from_version', 'to_version'])
    .where('site_id', '=', site.id)
    // Ids begin with the time of the change, and the key is of site and id.
    .where('id', '>=', firstIdAt(from))
    .where('id', '<', firstIdAt(to))
    .orderBy('id', 'desc')
    .limit(MARKERS)
    .execute()
  return latest.reverse()
}
