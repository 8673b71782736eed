import {
  type ChannelSettings,
  openIncidents,
  recentAlerts,
  summariesOf,
  type UnresolvedAlert,
  unreachableClients,
  unresolvedAlerts,
} from '../alerts/index.ts'
import { type SiteSummary, siteSummaries } from '../analytics/index.ts'
import type { Visible } from '../http/index.ts'
import { isoTime, isoTimeOrNull, maskedQuery } from '../lib/index.ts'
import { lastEventTimes, monthUsages } from '../management/index.ts'
import { activeProbes, type ProbeState } from '../probes/index.ts'
import type { ClientRow, SiteRow, Store } from '../store/index.ts'
import type { ClientState, Overview, SiteState } from './schemas.ts'
import type { Sparklines } from './sparklines.ts'
import { probeStatus, STATUSES, type Status, siteStatus, worstStatus } from './status.ts'

/** Active clients that the caller may see, with their active sites, oldest first. */
export async function overview(
  store: Store,
  sparklines: Sparklines,
  channelSettings: ChannelSettings,
  visible: Visible,
  now: number,
): Promise<Overview> {
  const [clients, sites, seen, probes, alerts, incidents, recent, usages] = await Promise.all([
    store.read
      .selectFrom('clients')
      .selectAll()
      .where('is_active', '=', 1)
      .$if(visible !== null, (all) => all.where('id', 'in', [...(visible ?? [])]))
      .orderBy('created_at')
      .orderBy('id')
      .execute(),
    activeSites(store, visible),
    lastEventTimes(store.read),
    activeProbes(store.read),
    unresolvedAlerts(store.read),
    openIncidents(store.read, visible),
    recentAlerts(store, visible, RECENT_ALERTS),
    monthUsages(store.read, now),
  ])
  const siteNos = sites.map((site) => site.site_no)
  const [summaries, hours] = await Promise.all([siteSummaries(store, sites, now), sparklines.of(siteNos, now)])
  const probesBySite = Map.groupBy(probes, (probe) => probe.siteId)
  const alertsBySite = Map.groupBy(alerts, (alert) => alert.siteId)
  const sitesByClient = Map.groupBy(sites, (site) => site.client_id)
  const states = clients.map((client) =>
    clientState(
      client,
      (sitesByClient.get(client.id) ?? []).map((site) =>
        siteState(
          site,
          { ...(summaries.get(site.site_no) ?? NO_SUMMARY), sparkline: hours.get(site.site_no) ?? [] },
          seen.get(site.site_no) ?? null,
          probesBySite.get(site.id) ?? [],
          alertsBySite.get(site.id) ?? [],
          now,
        ),
      ),
    ),
  )
  const watched = clients.filter(({ id }) => sitesByClient.has(id))
  return {
    generated_at: isoTime(now),
    totals: { ...totalsOf(states), open_incidents: incidents.filter(({ state }) => state === 'open').length },
    incidents: await summariesOf(store.read, incidents.slice(0, INCIDENTS_MOST)),
    clients: states,
    clients_without_channel: await unreachableClients(store.read, watched, channelSettings),
    clients_near_quota: nearQuota(usages.filter(({ id }) => visible === null || visible.includes(id))),
    recent_alerts: recent,
  }
}

const RECENT_ALERTS = 20
const INCIDENTS_MOST = 20

/** Who is refused comes before who will be. */
function nearQuota(usages: Awaited<ReturnType<typeof monthUsages>>): Overview['clients_near_quota'] {
  const near = usages.flatMap(({ level, ...usage }) => (level === 'ok' ? [] : [{ ...usage, level }]))
  return near.toSorted((a, b) => Number(b.level === 'exceeded') - Number(a.level === 'exceeded'))
}

const NO_SUMMARY: SiteSummary = { events_24h: 0, score: null, score_cap: null }

const activeSites = (store: Store, visible: Visible): Promise<SiteRow[]> =>
  store.read
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .selectAll('sites')
    .where('sites.is_active', '=', 1)
    .where('clients.is_active', '=', 1)
    .$if(visible !== null, (all) => all.where('sites.client_id', 'in', [...(visible ?? [])]))
    .orderBy('sites.created_at')
    .orderBy('sites.site_no')
    .execute()

function siteState(
  site: SiteRow,
  figures: SiteSummary & { sparkline: readonly number[] },
  lastEventAt: number | null,
  probes: readonly ProbeState[],
  alerts: readonly UnresolvedAlert[],
  now: number,
): SiteState {
  const [worst] = alerts
  return {
    id: site.id,
    name: site.name,
    // Viewers see this, too.
    url: maskedQuery(site.url),
    timezone: site.timezone,
    ...siteStatus(probes, lastEventAt, now),
    open_alerts: alerts.length,
    worst_alert:
      worst === undefined
        ? null
        : {
            id: worst.id,
            severity: worst.severity,
            state: worst.state,
            title: worst.title,
            started_at: isoTime(worst.startedAt),
            opened_at: isoTime(worst.openedAt),
          },
    last_event_at: isoTimeOrNull(lastEventAt),
    events_24h: figures.events_24h,
    sparkline: [...figures.sparkline],
    score: figures.score,
    score_cap: figures.score_cap,
    probes: probes.map(probeState),
  }
}

const probeState = (probe: ProbeState): SiteState['probes'][number] => ({
  id: probe.id,
  probe_type: probe.probeType,
  name: probe.name,
  status: probeStatus(probe),
  judged: probe.status !== null && probe.reason === null,
  reason: probe.reason,
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

function totalsOf(clients: readonly ClientState[]): Omit<Overview['totals'], 'open_incidents'> {
  const sites = clients.flatMap((client) => client.sites)
  const byStatus = Object.fromEntries(
    STATUSES.map((status) => [status, sites.filter((site) => site.status === status).length]),
  ) as Record<Status, number>
  return {
    clients: clients.length,
    sites: sites.length,
    ...byStatus,
    waiting: sites.filter((site) => site.status === 'unknown' && site.last_event_at === null).length,
    open_alerts: sites.reduce((sum, site) => sum + site.open_alerts, 0),
  }
}
