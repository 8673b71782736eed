import type { ApiClient } from '../../../testkit/api.ts'

export type Status = 'critical' | 'error' | 'warning' | 'ok' | 'unknown'

export interface Alert {
  id: string
  client_id: string
  site_id: string
  probe_id: string
  subject: string
  severity: 'warning' | 'critical'
  state: string
  title: string
  started_at: string
  opened_at: string
  resolved_at: string | null
  suppressed_by: string | null
  incident_id: string | null
}
export interface Incident {
  id: string
  scope: string
  client_id: string | null
  site_id: string | null
  cause: string
  title: string
  severity: string
  state: string
  started_at: string
  opened_at: string
  announced_at: string | null
  resolved_at: string | null
  lead_alert_id: string | null
  parent_id: string | null
  alert_count: number
  site_count: number
}
export interface Probe {
  id: string
  site_id: string
  name: string
  probe_type: string
  is_active: boolean
  judged: boolean
  last_status: string | null
  last_message: string | null
}
export interface Site {
  id: string
  client_id: string
  name: string
  timezone: string
  is_active: boolean
  last_event_at: string | null
}
export interface Client {
  id: string
  name: string
  is_active: boolean
}
export interface Mute {
  id: string
  client_id: string | null
  site_id: string | null
  probe_id: string | null
  incident_id?: string | null
  is_under_way?: boolean
  state?: string
  next_occurrence?: { starts_at: string; ends_at: string } | null
}

/** The lists of everything, each read to its end in pages of a few: what all other views are compared with. */
export interface Truth {
  clients: Client[]
  sites: Site[]
  probes: Probe[]
  alerts: Alert[]
  incidents: Incident[]
  silences: Mute[]
  maintenance: Mute[]
}

export async function readTruth(as: ApiClient): Promise<Truth> {
  return {
    clients: await as.ask('GET', '/api/clients'),
    sites: await as.ask('GET', '/api/sites'),
    probes: await as.ask('GET', '/api/probes'),
    alerts: await allPages(as, '/api/alerts?limit=7'),
    incidents: await allPages(as, '/api/incidents?limit=5'),
    silences: await allPages(as, '/api/silences?active_only=true&limit=2'),
    maintenance: await allPages(as, '/api/maintenance?active_only=true&limit=2'),
  }
}

/** What the pages of a list hold together, as its links lead from one to the next. */
export async function allPages<T>(as: ApiClient, first: string): Promise<T[]> {
  const entries: T[] = []
  for (let path: string | undefined = first; path !== undefined; ) {
    const answer = await as.call('GET', path)
    if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}: ${answer.text}`)
    entries.push(...answer.json<T[]>())
    path = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]?.replace(/^https?:\/\/[^/]+/, '')
  }
  return entries
}

/** What someone with a role in one client only may see of it. */
export function narrowed(truth: Truth, clientId: string): Truth {
  const sites = truth.sites.filter(({ client_id }) => client_id === clientId)
  const isTheirs = ({ site_id }: { site_id: string | null }) => sites.some(({ id }) => id === site_id)
  const incidents = truth.incidents.filter(({ client_id }) => client_id === clientId)
  const probes = truth.probes.filter(isTheirs)
  const muteIsTheirs = (mute: Mute) =>
    mute.client_id === clientId ||
    isTheirs(mute) ||
    probes.some(({ id }) => id === mute.probe_id) ||
    incidents.some(({ id }) => id === mute.incident_id)
  return {
    clients: truth.clients.filter(({ id }) => id === clientId),
    sites,
    probes,
    alerts: truth.alerts.filter(({ client_id }) => client_id === clientId),
    incidents,
    silences: truth.silences.filter(muteIsTheirs),
    maintenance: truth.maintenance.filter(muteIsTheirs),
  }
}

const STATUSES: readonly Status[] = ['critical', 'error', 'warning', 'ok']
export const worstOf = (parts: readonly (string | null)[]): Status =>
  STATUSES.find((status) => parts.includes(status)) ?? 'unknown'

export const lasts = ({ state }: { state: string }) => state !== 'resolved'
export const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id)
export const byId = (list: readonly { id: string }[]) => idsOf(list).toSorted()

/** Sites that are active, as their clients are. */
export const activeSites = ({ clients, sites }: Truth): Site[] =>
  sites.filter(({ is_active, client_id }) => is_active && clients.some((one) => one.id === client_id && one.is_active))

/** The worst that its active probes found; the events of a story are never older than a day. */
export function siteStatus({ probes }: Truth, { id, last_event_at }: Site): Status {
  const ofSite = probes.filter(({ site_id, is_active, judged }) => site_id === id && is_active && judged)
  const status = worstOf(ofSite.map(({ last_status }) => last_status))
  return status === 'ok' && last_event_at === null ? 'unknown' : status
}

/** Those that none of the others explains, as long as that one lasts. */
export const alone = <I extends Pick<Incident, 'parent_id' | 'resolved_at'>>(
  some: readonly I[],
  known: readonly Incident[],
): I[] =>
  some.filter(({ parent_id, resolved_at }) => {
    const parent = known.find(({ id }) => id === parent_id)
    return parent === undefined || (resolved_at === null && parent.resolved_at !== null)
  })

/** What lasts, as people look at it: of active sites and of vendors, without what another one explains. */
export function openIncidents(truth: Truth): Incident[] {
  const active = new Set(idsOf(activeSites(truth)))
  const lasting = truth.incidents.filter(
    (incident) => lasts(incident) && (incident.scope === 'vendor' || active.has(incident.site_id ?? '')),
  )
  return alone(lasting, lasting)
}
