import { DEFAULT_PAGE, idBefore, type Page, pageOf } from '../../http/index.ts'
import { notFound } from '../../lib/index.ts'
import type { ProbeRow, Store } from '../../store/index.ts'
import { resultRecord } from './record.ts'
import type { ProbeQuery, ResultQuery, ResultRecord } from './schemas.ts'

type Reader = Pick<Store, 'read'>

/** Probes of one site or of all, oldest first. `active_only` keeps the active ones of active sites of active clients. */
export async function listProbes({ read }: Reader, { site_id, active_only = false }: ProbeQuery): Promise<ProbeRow[]> {
  let query = read.selectFrom('probes').selectAll('probes').orderBy('probes.created_at').orderBy('probes.id')
  if (site_id !== undefined) query = query.where('probes.site_id', '=', site_id)
  if (active_only) {
    query = query
      .innerJoin('sites', 'sites.id', 'probes.site_id')
      .innerJoin('clients', 'clients.id', 'sites.client_id')
      .where('probes.is_active', '=', 1)
      .where('sites.is_active', '=', 1)
      .where('clients.is_active', '=', 1)
  }
  return query.execute()
}

/** @throws AppError `not_found`. */
export async function getProbe({ read }: Reader, id: string): Promise<ProbeRow> {
  const row = await read.selectFrom('probes').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('Probe')
  return row
}

/**
 * A page of a probe's results, newest first.
 *
 * @throws AppError `not_found`, or `invalid_request` when `before` is neither an id nor a time.
 */
export async function listResults(
  store: Reader,
  id: string,
  { before, limit = DEFAULT_PAGE }: ResultQuery,
): Promise<Page<ResultRecord>> {
  await getProbe(store, id)
  let query = store.read
    .selectFrom('probe_results')
    .selectAll()
    .where('probe_id', '=', id)
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (before !== undefined) query = query.where('id', '<', idBefore(before, 'a result'))
  const rows = await query.execute()
  return pageOf(rows.map(resultRecord), limit, (result) => result.id)
}
