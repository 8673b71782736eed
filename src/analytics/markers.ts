import { firstIdAt } from '../lib/index.ts'
import type { DeployMarkerTable, SiteRow } from '../store/index.ts'
import type { ReportContext } from './snapshot.ts'
import { parseRange, type RangeQuery } from './window.ts'

/** Most markers: more would fill the chart. */
const MARKERS = 200

/** A deployment; `at` is epoch ms. */
export type Marker = Pick<DeployMarkerTable, 'at' | 'source' | 'from_version' | 'to_version'>

/**
 * Version changes that probes saw in a window, oldest first; the latest 200 of more.
 *
 * @throws AppError `invalid_request` for a window that cannot be answered
 */
export async function markers(context: ReportContext, site: SiteRow, query: RangeQuery): Promise<Marker[]> {
  const { from, to } = parseRange(query, context.clock.now(), context.retention)
  const latest = await context.store.read
    .selectFrom('deploy_markers')
    .select(['at', 'source', 'from_version', 'to_version'])
    .where('site_id', '=', site.id)
    // By id, which begins with the time of the change: the primary key is site and id.
    .where('id', '>=', firstIdAt(from))
    .where('id', '<', firstIdAt(to))
    .orderBy('id', 'desc')
    .limit(MARKERS)
    .execute()
  return latest.reverse()
}
