import {
  type ChannelSettings,
  openIncidents,
  recentAlerts,
  summariesOf,
  type UnresolvedAlert,
  unreachableClients,
  unresolvedAlerts,
} from '../alerts/index.ts'
import { type CriticalAlert, KeptSummaries, type SiteSummary } from '../analytics/index.ts'
import type { Visible } from '../http/index.ts'
import { isoTime, isoTimeOrNull, maskedQuery } from '../lib/index.ts'
import { lastEventTimes, monthUsages } from '../management/index.ts'
import type { ProbeState, ProbeStates } from '../probes/index.ts'
import type { ClientRow, SiteRow, Store } from '../store/index.ts'
import { type OverviewContent, OverviewText, type SiteContent } from './overview-text.ts'
import type { Overview } from './schemas.ts'
import { Sparklines } from './sparklines.ts'
import { STATUSES, type Status, siteStatus, worstStatus } from './status.ts'

export interface OverviewOptions {
  store: Store
  probes: Pick<ProbeStates, 'read'>
  /** Where messages go besides the clients' addresses. */
  channelSettings: ChannelSettings
}

export interface OverviewAnswer {
  /** Hash of the content without its time; the same on every node that has the same sums. */
  hash: string
  /** Returns the answer as JSON, an `Overview`. */
  json: () => string
}

/**
 * Makes the overview, for dashboards that request it over and over. The most expensive parts, sums of 24 hours and the states of
 * thousands of probes, are read again only where they have changed. Whether they have is read every time, so states and alerts are
 * never out of date, and sums only where many sites change at once, see `KeptSummaries`.
 */
export class Overviews {
  readonly #options: OverviewOptions
  readonly #sparklines: Sparklines
  readonly #summaries: KeptSummaries

  constructor(options: OverviewOptions) {
    this.#options = options
    this.#sparklines = new Sparklines(options.store)
    this.#summaries = new KeptSummaries(options.store)
  }

  /**
   * Returns the active clients that the caller may see, with their active sites, oldest first.
   *
   * @param now epoch ms
   */
  async answer(visible: Visible, now: number): Promise<OverviewAnswer> {
    const text = new OverviewText(await this.#read(visible, now))
    return { hash: text.hash, json: () => text.json(isoTime(now)) }
  }

  async #read(visible: Visible, now: number): Promise<OverviewContent> {
    const { store, channelSettings } = this.#options
    const [clients, sites, seen, probes, alerts, incidents, recent, usages] = await Promise.all([
      activeClients(store, visible),
      activeSites(store, visible),
      lastEventTimes(store.read),
      this.#options.probes.read(),
      unresolvedAlerts(store.read),
      openIncidents(store.read, visible),
      recentAlerts(store, visible, RECENT_ALERTS),
      monthUsages(store.read, now),
    ])
    const alertsBySite = Map.groupBy(alerts, (alert) => alert.siteId)
    const [summaries, hours] = await Promise.all([
      this.#summaries.of(sites, criticalOf(alertsBySite), now),
      this.#sparklines.of(
        sites.map((site) => site.site_no),
        now,
      ),
    ])
    const sitesByClient = Map.groupBy(sites, (site) => site.client_id)
    const states = clients.map((client) =>
      clientContent(
        client,
        (sitesByClient.get(client.id) ?? []).map((site) =>
          siteContent(
            site,
            { ...(summaries.get(site.site_no) ?? NO_SUMMARY), sparkline: hours.get(site.site_no) ?? [] },
            seen.get(site.site_no) ?? null,
            probes.get(site.id) ?? NO_PROBES,
            alertsBySite.get(site.id) ?? [],
            now,
          ),
        ),
      ),
    )
    const watched = clients.filter(({ id }) => sitesByClient.has(id))
    return {
      totals: { ...totalsOf(states), open_incidents: incidents.filter(({ state }) => state === 'open').length },
      incidents: await summariesOf(store.read, incidents.slice(0, INCIDENTS_MOST), visible),
      incidents_left_out: Math.max(0, incidents.length - INCIDENTS_MOST),
      clients: states,
      clients_without_channel: await unreachableClients(store.read, watched, channelSettings),
      clients_near_quota: nearQuota(usages.filter(({ id }) => visible === null || visible.includes(id))),
      recent_alerts: recent,
    }
  }
}

const NO_PROBES: readonly ProbeState[] = []

/**
 * Returns the critical alert of each site that has one; the first of several, as on the wall.
 *
 * @param alerts the worst first, then the oldest
 */
function criticalOf(alerts: ReadonlyMap<string, readonly UnresolvedAlert[]>): Map<string, CriticalAlert> {
  const critical = new Map<string, CriticalAlert>()
  for (const [siteId, [worst]] of alerts) if (worst?.severity === 'critical') critical.set(siteId, worst)
  return critical
}

const RECENT_ALERTS = 20
const INCIDENTS_MOST = 20

/** Returns clients near their quota, those that are already refused first. */
function nearQuota(usages: Awaited<ReturnType<typeof monthUsages>>): Overview['clients_near_quota'] {
  const near = usages.flatMap(({ level, ...usage }) => (level === 'ok' ? [] : [{ ...usage, level }]))
  return near.toSorted((a, b) => Number(b.level === 'exceeded') - Number(a.level === 'exceeded'))
}

const NO_SUMMARY: SiteSummary = { events_24h: 0, score: null, score_cap: null }

type Client = Pick<ClientRow, 'id' | 'name' | 'chat_webhook' | 'email'>
type Site = Pick<SiteRow, 'site_no' | 'id' | 'client_id' | 'name' | 'url' | 'timezone'>

const activeClients = (store: Store, visible: Visible): Promise<Client[]> =>
  store.read
    .selectFrom('clients')
    .select(['id', 'name', 'chat_webhook', 'email'])
    .where('is_active', '=', 1)
    .$if(visible !== null, (all) => all.where('id', 'in', [...(visible ?? [])]))
    .orderBy('created_at')
    .orderBy('id')
    .execute()

const activeSites = (store: Store, visible: Visible): Promise<Site[]> =>
  store.read
    .selectFrom('sites')
    .innerJoin('clients', 'clients.id', 'sites.client_id')
    .select(['sites.site_no', 'sites.id', 'sites.client_id', 'sites.name', 'sites.url', 'sites.timezone'])
    .where('sites.is_active', '=', 1)
    .where('clients.is_active', '=', 1)
    .$if(visible !== null, (all) => all.where('sites.client_id', 'in', [...(visible ?? [])]))
    .orderBy('sites.created_at')
    .orderBy('sites.site_no')
    .execute()

function siteContent(
  site: Site,
  figures: SiteSummary & { sparkline: readonly number[] },
  lastEventAt: number | null,
  probes: readonly ProbeState[],
  alerts: readonly UnresolvedAlert[],
  now: number,
): SiteContent {
  const [worst] = alerts
  return {
    id: site.id,
    name: site.name,
    // Viewers see this too.
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
    probes,
  }
}

function clientContent(client: Client, sites: SiteContent[]): OverviewContent['clients'][number] {
  return {
    id: client.id,
    name: client.name,
    status: worstStatus(sites.map((site) => site.status)),
    open_alerts: sites.reduce((sum, site) => sum + site.open_alerts, 0),
    sites,
  }
}

function totalsOf(clients: OverviewContent['clients']): Omit<Overview['totals'], 'open_incidents'> {
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
