import { type UnresolvedAlert, unresolvedAlerts } from '../alerts/index.ts'
import { Kept, SECOND } from '../lib/index.ts'
import { lastEventTimes } from '../management/index.ts'
import { activeProbes } from '../probes/index.ts'
import type { Store } from '../store/index.ts'
import { type SiteStatus, siteStatus } from './status.ts'

/** Nobody without a key makes us read more often, ms. */
export const STANDINGS_FRESH_MS = 5 * SECOND

/** How one site stands. */
export interface SiteStanding extends SiteStatus {
  id: string
  siteNo: number
  clientId: string
  name: string
  /** Epoch ms, null when none ever came. */
  lastEventAt: number | null
  /** Its unresolved alerts, the worst first. */
  alerts: readonly UnresolvedAlert[]
}

/** How the active sites of active clients stand, by site id: up to 5 s old, for those who may ask without a key. */
export type Standings = Kept<ReadonlyMap<string, SiteStanding>>

export const standingsOf = (store: Pick<Store, 'read'>): Standings =>
  new Kept(STANDINGS_FRESH_MS, async (now) => {
    const [sites, probes, alerts, seen] = await Promise.all([
      store.read
        .selectFrom('sites')
        .innerJoin('clients', 'clients.id', 'sites.client_id')
        .select(['sites.id', 'sites.site_no', 'sites.client_id', 'sites.name'])
        .where('sites.is_active', '=', 1)
        .where('clients.is_active', '=', 1)
        .execute(),
      activeProbes(store.read),
      unresolvedAlerts(store.read),
      lastEventTimes(store.read),
    ])
    const probesBySite = Map.groupBy(probes, ({ siteId }) => siteId)
    const alertsBySite = Map.groupBy(alerts, ({ siteId }) => siteId)
    return new Map(
      sites.map(({ id, site_no, client_id, name }) => [
        id,
        {
          id,
          siteNo: site_no,
          clientId: client_id,
          name,
          ...siteStatus(probesBySite.get(id) ?? [], seen.get(site_no) ?? null, now),
          lastEventAt: seen.get(site_no) ?? null,
          alerts: alertsBySite.get(id) ?? [],
        },
      ]),
    )
  })
