import { DEFAULT_PAGE, idBefore, type Page, pageOf } from '../../http/index.ts'
import { firstIdAt } from '../../lib/index.ts'
import type { Store } from '../../store/index.ts'
import { alertRecord } from './record.ts'
import type { AlertQuery, AlertRecord } from './schemas.ts'

/**
 * A page of alerts, newest first.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time
 */
export async function listAlerts({ read }: Pick<Store, 'read'>, query: AlertQuery): Promise<Page<AlertRecord>> {
  const { client_id, site_id, probe_id, state, severity, resolved, since, before, limit = DEFAULT_PAGE } = query
  let rows = read
    .selectFrom('alerts')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (client_id !== undefined) rows = rows.where('client_id', '=', client_id)
  if (site_id !== undefined) rows = rows.where('site_id', '=', site_id)
  if (probe_id !== undefined) rows = rows.where('probe_id', '=', probe_id)
  if (state !== undefined) rows = rows.where('state', '=', state)
  if (severity !== undefined) rows = rows.where('severity', '=', severity)
  if (resolved !== undefined) rows = rows.where('state', resolved ? '=' : '<>', 'resolved')
  // Ids begin with the time an alert was opened.
  if (since !== undefined) rows = rows.where('id', '>=', firstIdAt(Math.max(0, Date.parse(since))))
  if (before !== undefined) rows = rows.where('id', '<', idBefore(before, 'an alert'))
  return pageOf((await rows.execute()).map(alertRecord), limit, ({ id }) => id)
}

/** The last alerts of active sites of active clients, newest first: what is switched off is no news. */
export async function recentAlerts({ read }: Pick<Store, 'read'>, limit: number): Promise<AlertRecord[]> {
  const rows = await read
    .selectFrom('alerts')
    .selectAll()
    .where('site_id', 'in', (db) =>
      db
        .selectFrom('sites')
        .innerJoin('clients', 'clients.id', 'sites.client_id')
        .select('sites.id')
        .where('sites.is_active', '=', 1)
        .where('clients.is_active', '=', 1),
    )
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(alertRecord)
}
