import type { ProbeRow, SiteRow, Store } from '../store/index.ts'

/** The sites of these probes that are active and of an active client, by id. */
export async function activeSites(store: Store, probes: readonly ProbeRow[]): Promise<Map<string, SiteRow>> {
  const ids = [...new Set(probes.map((probe) => probe.site_id))]
  const sites = await store.read
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .selectAll('sites')
    .where('sites.id', 'in', ids)
    .where('sites.is_active', '=', 1)
    .where('clients.is_active', '=', 1)
    .execute()
  return new Map(sites.map((site) => [site.id, site]))
}

export const siteOf = (store: Store, { site_id }: ProbeRow): Promise<SiteRow | undefined> =>
  store.read.selectFrom('sites').selectAll().where('id', '=', site_id).executeTakeFirst()

/** The probes that the node has claimed. */
export async function claimsOf(store: Store, nodeId: string): Promise<string[]> {
  const rows = await store.read.selectFrom('probes').select('id').where('claimed_by', '=', nodeId).execute()
  return rows.map(({ id }) => id)
}
