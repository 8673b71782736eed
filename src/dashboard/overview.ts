import { type SiteSummary, siteSummaries } from '../analytics/index.ts'
import { isoTime, isoTimeOrNull } from '../lib/index.ts'
import { lastEventTimes } from '../management/index.ts'
import { activeProbes, type ProbeState } from '../probes/index.ts'
import type { ClientRow, SiteRow, Store } from '../store/index.ts'
import type { ClientState, Overview, SiteState } from './schemas.ts'
import { STATUSES, type Status, worstStatus } from './status.ts'

/** Active clients with their active sites, oldest first. */
export async function overview(store: Store, now: number): Promise<Overview> {
  const [clients, sites, seen, probes] = await Promise.all([
    store.read
      .selectFrom('clients')
      .selectAll()
      .where('is_active', '=', 1)
      .orderBy('created_at')
      .orderBy('id')
      .execute(),
    activeSites(store),
    lastEventTimes(store.read),
    activeProbes(store.read),
  ])
  const summaries = await siteSummaries(store, sites, now)
  const probesBySite = Map.groupBy(probes, (probe) => probe.siteId)
  const sitesByClient = Map.groupBy(sites, (site) => site.client_id)
  const states = clients.map((client) =>
    clientState(
      client,
      (sitesByClient.get(client.id) ?? []).map((site) =>
        siteState(site, summaries.get(site.site_no), seen.get(site.site_no) ?? null, probesBySite.get(site.id) ?? []),
      ),
    ),
  )
  return { generated_at: isoTime(now), totals: totalsOf(states), clients: states, recent_alerts: [] }
}

const activeSites = (store: Store): Promise<SiteRow[]> =>
  store.read
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .selectAll('sites')
    .where('sites.is_active', '=', 1)
    .where('clients.is_active', '=', 1)
    .orderBy('sites.created_at')
    .orderBy('sites.site_no')
    .execute()

function siteState(
  site: SiteRow,
  summary: SiteSummary | undefined,
  lastEventAt: number | null,
  probes: readonly ProbeState[],
): SiteState {
  const states = probes.map(probeState)
  return {
    id: site.id,
    name: site.name,
    url: site.url,
    status: worstStatus(states.map((probe) => probe.status)),
    open_alerts: 0,
    last_event_at: isoTimeOrNull(lastEventAt),
    events_24h: summary?.events_24h ?? 0,
    score: summary?.score ?? null,
    probes: states,
  }
}

const probeState = (probe: ProbeState): SiteState['probes'][number] => ({
  id: probe.id,
  probe_type: probe.probeType,
  name: probe.name,
  status: probe.status ?? 'unknown',
  message: probe.message,
  response_time_ms: probe.responseTimeMs,
  last_result_at: isoTimeOrNull(probe.lastResultAt),
})

function clientState(client: ClientRow, sites: SiteState[]): ClientState {
  return {
    id: client.id,
    name: client.name,
    status: worstStatus(sites.map((site) => site.status)),
    open_alerts: sites.reduce((sum, site) => sum + site.open_alerts, 0),
    sites,
  }
}

function totalsOf(clients: readonly ClientState[]): Overview['totals'] {
  const sites = clients.flatMap((client) => client.sites)
  const byStatus = Object.fromEntries(
    STATUSES.map((status) => [status, sites.filter((site) => site.status === status).length]),
  ) as Record<Status, number>
  return {
    clients: clients.length,
    sites: sites.length,
    ...byStatus,
    open_alerts: sites.reduce((sum, site) => sum + site.open_alerts, 0),
  }
}
