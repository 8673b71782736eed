import { isDeepStrictEqual } from 'node:util'
import { DAY, HOUR, isoTime, isoTimeOrNull } from '../../../src/lib/index.ts'
import type { ApiClient } from '../../../testkit/api.ts'
import type { Story } from './story.ts'
import {
  type Alert,
  activeSites,
  allPages,
  alone,
  byId,
  type Incident,
  idsOf,
  lasts,
  type Mute,
  openIncidents,
  type Site,
  type Status,
  siteStatus,
  type Truth,
  worstOf,
} from './truth.ts'

/** Three hours of what is estimated, and the step in which that is seen. */
const LATE_MS = 4 * HOUR

export type Say = (what: string, got: unknown, expected: unknown) => void

/** Collects what two views say of one thing, where it is not the same. */
export function sayer(into: string[]): Say {
  return (what, got, expected) => {
    if (isDeepStrictEqual(got, expected)) return
    into.push(`${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(expected)}`)
  }
}

interface OverviewSite extends Pick<Site, 'id' | 'name' | 'last_event_at'> {
  status: Status
  open_alerts: number
  worst_alert: { id: string } | null
  events_24h: number
  score: number | null
  score_cap: { alert_id: string } | null
  probes: { id: string; status: Status }[]
}
export interface Overview {
  totals: Record<string, number>
  incidents: Incident[]
  incidents_left_out: number
  clients: { id: string; name: string; status: Status; open_alerts: number; sites: OverviewSite[] }[]
  recent_alerts: Alert[]
}

/** The lists against what the story itself knows. */
export function compareModel(say: Say, story: Story, { clients, sites, probes, alerts }: Truth): void {
  const ofClient = ({ id, name, is_active }: (typeof clients)[number]) => [id, name, is_active]
  say(
    'clients',
    clients.map(ofClient),
    story.clients.map(({ id, name, isActive }) => [id, name, isActive]),
  )
  say(
    'sites',
    sites.map(({ id, name, is_active, last_event_at }) => [id, name, is_active, last_event_at]),
    story.sites.map(({ id, name, isActive, lastEventAt }) => [id, name, isActive, isoTimeOrNull(lastEventAt)]),
  )
  const pushes = probes.filter(({ probe_type }) => probe_type === 'push')
  say(
    'push probes',
    pushes.map(({ id, is_active }) => `${id} ${is_active}`).toSorted(),
    story.pushes.map(({ id, isActive }) => `${id} ${isActive}`).toSorted(),
  )
  // What is switched off, or gone, has no alert; of the rest there is one at most for each subject, but for resolved ones.
  const active = new Set(idsOf(activeSites({ clients, sites } as Truth)))
  const watched = new Set(idsOf(probes.filter(({ is_active, site_id }) => is_active && active.has(site_id))))
  say('alerts of what is paused', alerts.filter((one) => lasts(one) && !watched.has(one.probe_id)).map(idOf), [])
  for (const { id, last_status } of pushes) {
    const own = alerts.filter((one) => lasts(one) && one.probe_id === id)
    // What is ok may have one while it flaps; what is bad may have none when someone resolved it.
    say(`alerts of push probe ${id}, which says ${last_status}`, own.length <= 1, true)
  }
}

const idOf = ({ id }: { id: string }) => id

/** Each entry of the lists alone, and the lists by their filters. */
export async function compareLists(say: Say, as: ApiClient, truth: Truth, now: number): Promise<void> {
  const { alerts, incidents, clients, sites } = truth
  const filters: [string, (one: Alert | Incident) => boolean][] = [
    ['resolved=false', lasts],
    ['resolved=true', (one) => !lasts(one)],
    ['state=acknowledged', ({ state }) => state === 'acknowledged'],
    ['severity=critical', ({ severity }) => severity === 'critical'],
    ...clients.map(({ id }): (typeof filters)[number] => [`client_id=${id}`, ({ client_id }) => client_id === id]),
    ...sites.map(({ id }): (typeof filters)[number] => [`site_id=${id}`, ({ site_id }) => site_id === id]),
    ...sites.map(({ id }): (typeof filters)[number] => [
      `site_id=${id}&resolved=false`,
      (one) => one.site_id === id && lasts(one),
    ]),
  ]
  for (const [what, list] of [
    ['alerts', alerts],
    ['incidents', incidents],
  ] as const) {
    for (const [query, isMeant] of filters) {
      const found = await allPages<Alert | Incident>(as, `/api/${what}?${query}&limit=20`)
      say(`${what}?${query}`, found, list.filter(isMeant))
    }
    const ended = await allPages<Alert | Incident>(as, `/api/${what}?order=resolved&limit=3`)
    const expected = list.filter((one) => !lasts(one)).toSorted(byEnd)
    say(`${what} by their ends`, idsOf(ended), idsOf(expected))
  }
  for (const incident of incidents) {
    const { alerts: own, ...detail } = await as.ask<Incident & { alerts: Alert[] }>(
      'GET',
      `/api/incidents/${incident.id}`,
    )
    say(`incident ${incident.id} alone`, pick(detail, incident), incident)
    const of = new Set([incident.id, ...idsOf(incidents.filter(({ parent_id }) => parent_id === incident.id))])
    const expected = alerts.filter(({ incident_id }) => of.has(incident_id ?? ''))
    say(`alerts of incident ${incident.title}`, own.toSorted(byIdOf), expected.toSorted(byIdOf))
    say(`alert_count of ${incident.title}`, incident.alert_count, expected.length)
    say(`site_count of ${incident.title}`, incident.site_count, new Set(expected.map(({ site_id }) => site_id)).size)
    const lasting = expected.filter(({ incident_id, ...one }) => incident_id === incident.id && lasts(one))
    // A symptom that is found, or lasts, a while after its cause stays with it.
    const isLate = now - Date.parse(incident.resolved_at ?? '') < LATE_MS
    if (incident.scope === 'site' && !isLate) say(`${incident.title} lasts`, lasts(incident), lasting.length > 0)
  }
  for (const alert of alerts.filter(lasts)) {
    say(`alert ${alert.title} alone`, pick(await as.ask<Alert>('GET', `/api/alerts/${alert.id}`), alert), alert)
  }
}

const byIdOf = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
const byEnd = (a: Alert | Incident, b: Alert | Incident) =>
  Date.parse(b.resolved_at ?? '') - Date.parse(a.resolved_at ?? '') || (a.id < b.id ? 1 : -1)
const pick = (from: object, like: object) =>
  Object.fromEntries(Object.keys(like).map((name) => [name, (from as Record<string, unknown>)[name]]))

/** The overview, and what assistants are told of the same sites. */
export async function compareOverview(say: Say, as: ApiClient, story: Story, truth: Truth): Promise<Overview> {
  const overview = await as.ask<Overview>('GET', '/api/dashboard/overview')
  const active = activeSites(truth)
  const clients = truth.clients.filter(({ is_active }) => is_active)
  const lasting = truth.alerts.filter((one) => lasts(one) && active.some(({ id }) => id === one.site_id))
  say('clients of the overview', idsOf(overview.clients), idsOf(clients))
  const shown = overview.clients.flatMap(({ sites }) => sites)
  say('sites of the overview', byId(shown), byId(active))
  for (const site of active) {
    const own = lasting.filter(({ site_id }) => site_id === site.id)
    const one = shown.find(({ id }) => id === site.id)
    const worst = own.toSorted(byIdOf).toSorted((a, b) => worseFirst(a) - worseFirst(b))[0]
    const probes = truth.probes.filter(({ site_id, is_active }) => site_id === site.id && is_active)
    say(
      `overview of ${site.name}`,
      { ...one, probes: one?.probes.map(({ id, status }) => `${id} ${status}`).toSorted() },
      {
        ...one,
        status: siteStatus(truth, site),
        open_alerts: own.length,
        worst_alert: worst === undefined ? null : pick(worst, one?.worst_alert ?? {}),
        last_event_at: site.last_event_at,
        events_24h: eventsOf(story, site.id),
        probes: probes.map(({ id, judged, last_status }) => `${id} ${judged ? last_status : 'unknown'}`).toSorted(),
      },
    )
    const critical = own.find(({ severity }) => severity === 'critical')
    const report = await as.ask<Report>('GET', `/api/monitoring/sites/${site.id}/overview?hours=24`)
    say(`events of ${site.name}`, report.total_events, one?.events_24h)
    say(`score of ${site.name}`, report.score.overall, one?.score)
    say(`cap of ${site.name}`, report.score.cap, one?.score_cap)
    if (critical === undefined) say(`cap of ${site.name} without a critical alert`, report.score.cap, null)
    else if ((one?.score ?? 0) > 49) say(`score of ${site.name} with a critical alert`, one?.score, 49)
  }
  const statuses = active.map((site) => siteStatus(truth, site))
  for (const { id, status, open_alerts } of overview.clients) {
    const own = active.filter(({ client_id }) => client_id === id)
    say(`status of client ${id}`, status, worstOf(own.map((site) => siteStatus(truth, site))))
    say(`alerts of client ${id}`, open_alerts, lasting.filter(({ client_id }) => client_id === id).length)
  }
  const open = openIncidents(truth)
  say('totals of the overview', overview.totals, {
    clients: clients.length,
    sites: active.length,
    ...Object.fromEntries(
      ['ok', 'warning', 'critical', 'error', 'unknown'].map((status) => [
        status,
        statuses.filter((one) => one === status).length,
      ]),
    ),
    waiting: active.filter((site) => site.last_event_at === null && siteStatus(truth, site) === 'unknown').length,
    open_alerts: lasting.length,
    open_incidents: open.filter(({ state }) => state === 'open').length,
  })
  say('incidents of the overview', overview.incidents.toSorted(byIdOf), open.toSorted(byIdOf))
  say(
    'last alerts of the overview',
    overview.recent_alerts,
    truth.alerts.filter(({ site_id }) => active.some(({ id }) => id === site_id)).slice(0, 20),
  )
  return overview
}

interface Report {
  total_events: number
  score: { overall: number | null; cap: unknown }
}

const worseFirst = ({ severity }: Alert) => (severity === 'critical' ? 0 : 1)

function eventsOf({ sites, clock }: Story, id: string): number {
  const since = clock.now() - DAY
  const sent = sites.find((site) => site.id === id)?.sent ?? []
  return sent.reduce((sum, { at, events }) => sum + (at > since ? events : 0), 0)
}

interface Today {
  sites: number
  overnight: { since: string; opened: number; resolved: number; open: number; incidents: Incident[] }
  muted: { id: string }[]
}

/** The morning, of all clients and of each. */
export async function compareToday(say: Say, as: ApiClient, { clock }: Story, truth: Truth): Promise<void> {
  const active = activeSites(truth)
  const all = await as.ask<Today>('GET', '/api/today?timezone=UTC')
  const since = new Date(clock.now() - DAY).setUTCHours(18, 0, 0, 0)
  say('evening of today', all.overnight.since, isoTime(since))
  for (const client of [null, ...truth.clients]) {
    const query = client === null ? '' : `&client_id=${client.id}`
    const today = client === null ? all : await as.ask<Today>('GET', `/api/today?timezone=UTC${query}`)
    const what = `today of ${client?.name ?? 'all'}`
    const isTheirs = ({ client_id }: { client_id: string | null }) => client === null || client_id === client.id
    const sites = active.filter(isTheirs)
    say(`sites of ${what}`, today.sites, sites.length)
    const open = openIncidents({ ...truth, incidents: truth.incidents.filter(isTheirs) })
    const over = truth.incidents.filter(
      (one) =>
        isTheirs(one) &&
        Date.parse(one.resolved_at ?? '') >= since &&
        (one.scope === 'vendor' || sites.some(({ id }) => id === one.site_id)),
    )
    const ended = alone(over, [...open, ...over])
    const opened = [...open, ...ended].filter(({ opened_at }) => Date.parse(opened_at) >= since)
    const { incidents, ...counts } = today.overnight
    say(`counts of ${what}`, pick(counts, { open: 0, opened: 0, resolved: 0 }), {
      open: open.length,
      opened: opened.length,
      resolved: ended.length,
    })
    say(`incidents of ${what}`, incidents.toSorted(byIdOf), [...open, ...ended].toSorted(byIdOf))
    say(`mutes of ${what}`, byId(today.muted), byId(mutesNow(truth, client?.id ?? null)))
  }
}

/** Silences and maintenance in effect, of clients, sites and probes that are active. */
function mutesNow(
  { silences, maintenance, clients, sites, probes, incidents }: Truth,
  clientId: string | null,
): Mute[] {
  const active = new Set(idsOf(activeSites({ clients, sites } as Truth)))
  const now = [...silences.filter(({ state }) => state === 'active'), ...maintenance.filter((one) => one.is_under_way)]
  return now.filter((mute) => {
    const site =
      mute.site_id ??
      probes.find(({ id }) => id === mute.probe_id)?.site_id ??
      incidents.find(({ id }) => id === mute.incident_id)?.site_id ??
      null
    if (site !== null) {
      const client = sites.find(({ id }) => id === site)?.client_id
      return active.has(site) && (clientId === null || clientId === client)
    }
    const isActive = sites.some(({ id, client_id }) => client_id === mute.client_id && active.has(id))
    return isActive && (clientId === null || clientId === mute.client_id)
  })
}

/** What Prometheus, badges and searches say of each site. */
export async function compareOthers(say: Say, story: Story, truth: Truth, overview: Overview): Promise<void> {
  const { admin } = story
  const active = activeSites(truth)
  const metrics = (await admin.call('GET', '/metrics')).text
  const lines = metrics.split('\n').filter((line) => /^tagwarden_site_(open_alerts|events_24h)\{/.test(line))
  const shown = overview.clients.flatMap(({ sites }) => sites)
  const expected = active.flatMap(({ id, name }) => {
    const labels = `site_id="${id}",site="${name}"`
    const own = truth.alerts.filter((one) => lasts(one) && one.site_id === id)
    const site = shown.find((one) => one.id === id)
    return [
      `tagwarden_site_events_24h{${labels}} ${site?.events_24h ?? 0}`,
      ...(['warning', 'critical'] as const).map(
        (severity) =>
          `tagwarden_site_open_alerts{${labels},severity="${severity}"} ${own.filter((one) => one.severity === severity).length}`,
      ),
    ]
  })
  say('metrics', lines.toSorted(), expected.toSorted())
  const found = await admin.ask<{ results: { kind: string; id: string }[] }>('GET', '/api/search?q=ba&limit=50')
  const holds = ({ title }: { title: string }) => title.toLowerCase().includes('ba')
  const isActive = ({ site_id }: { site_id: string | null }) => active.some(({ id }) => id === site_id)
  for (const [kind, list] of [
    ['incident', truth.incidents.filter((one) => one.scope === 'vendor' || isActive(one))],
    ['alert', truth.alerts.filter(isActive)],
  ] as const) {
    const ids = found.results.filter((one) => one.kind === kind)
    say(
      `${kind}s found`,
      byId(ids),
      byId((list as readonly (Alert | Incident)[]).filter((one) => lasts(one) && holds(one))),
    )
  }
  for (const site of truth.sites) {
    const path = `/api/monitoring/sites/${site.id}`
    const query = `metric=events&hours=24&bucket=1h`
    const json = await admin.ask<Series>('GET', `${path}/timeseries?${query}`)
    const csv = (await admin.call('GET', `${path}/export.csv?${query}`)).text.trim().split('\n').slice(1)
    say(
      `CSV of ${site.name}`,
      csv.map((line) => line.trim()),
      json.series.flatMap(({ key, points }) => points.map(({ t, value }) => `${t},${key},${value ?? ''}`)),
    )
  }
}

interface Series {
  series: { key: string; points: { t: string; value: number | null }[] }[]
}
