import type { Store } from '../../store/index.ts'
import { lastEventTimes } from './last-event.ts'
import { siteRecord } from './record.ts'
import type { SiteQuery, SiteRecord } from './schemas.ts'

/** Sites of one client or of all, oldest first. `active_only` keeps the active sites of active clients. */
export async function listSites(
  { read }: Pick<Store, 'read'>,
  { client_id, active_only = false }: SiteQuery,
): Promise<SiteRecord[]> {
  let query = read.selectFrom('sites').selectAll('sites').orderBy('sites.created_at').orderBy('sites.site_no')
  if (client_id !== undefined) query = query.where('sites.client_id', '=', client_id)
  if (active_only) {
    query = query
      .innerJoin('clients', 'clients.id', 'sites.client_id')
      .where('sites.is_active', '=', 1)
      .where('clients.is_active', '=', 1)
  }
  const rows = await query.execute()
  const lastEvents = await lastEventTimes(read, client_id)
  return rows.map((row) => siteRecord(row, lastEvents.get(row.site_no) ?? null))
}
