import type { Say } from './compare.ts'
import { isFrom, type Story, textOf } from './story.ts'
import {
  type Alert,
  activeSites,
  alone,
  type Incident,
  idsOf,
  lasts,
  type Site,
  type Status,
  siteStatus,
  type Truth,
  worstOf,
} from './truth.ts'

interface PageSite {
  name: string
  status: Status
  since: string | null
  maintenance_until: string | null
  last_event_at: string | null
  uptime: number | null
  days: { day: string; status: string; uptime: number | null }[]
  alerts: Pick<Alert, 'title' | 'severity' | 'state' | 'started_at' | 'opened_at'>[]
}
type PageIncident = Pick<Incident, 'id' | 'title' | 'severity' | 'started_at' | 'opened_at' | 'resolved_at'> & {
  site: string
  timezone: string
}
export interface Page {
  name: string
  status: Status
  sites: PageSite[]
  incidents: (PageIncident & { back_at: string | null })[]
  maintenance: { site: string | null; starts_at: string; ends_at: string }[]
}

interface Uptime {
  generated_at: string
  uptime: number | null
  days: ({ day: string; status: string; uptime: number | null; is_final: boolean } & Record<string, unknown>)[]
}

const OWN = 'One of our checks cannot run'

/** The status page, its feed, its incidents, the badges of its sites, and how long each was well. */
export async function compareShared(say: Say, story: Story, truth: Truth, finals: Map<string, unknown>) {
  const { admin, acme, page: token } = story
  await compareBadges(say, story, truth)
  const answer = await admin.call('GET', `/api/status/${token}`)
  const html = await admin.call('GET', `/status/${token}`)
  say('the page as a document', html.status, 200)
  const feed = await admin.call('GET', `/api/status/${token}/feed.atom`)
  say('the feed', feed.status, answer.status)
  say('the page', answer.status, acme.isActive ? 200 : 404)
  if (answer.status !== 200) return null
  const page = answer.json<Page>()
  const sites = activeSites(truth).filter(({ client_id }) => client_id === acme.id)
  say('sites of the page', page.sites.map(({ name }) => name).toSorted(), sites.map(({ name }) => name).toSorted())
  for (const site of sites) {
    const shown = page.sites.find(({ name }) => name === site.name)
    if (shown !== undefined) compareSite(say, truth, site, shown)
    await compareUptime(say, story, site, shown, finals)
  }
  const [shownStatus] = [worstOf(page.sites.map(({ status }) => status))]
  say('status of the page', page.status, shownStatus)
  const known = await shownIncidents(story, truth, sites)
  say(
    'incidents of the page',
    page.incidents.map(({ back_at: _, ...one }) => one),
    alone(known, known).map((one) => pageIncident(one, sites)),
  )
  compareFeed(say, page, feed.text)
  for (const { id, title, started_at: began, resolved_at: ended, back_at } of page.incidents) {
    if (back_at !== null) say(`that ${title} is open again`, [ended, back_at > began], [null, true])
    const incident = truth.incidents.find((one) => one.id === id)
    const shared = await admin.call('GET', `/api/status/${token}/incidents/${id}`)
    const { state, severity, started_at, resolved_at } = shared.json<Incident>()
    say(
      `shared incident ${title}`,
      [state, severity, started_at, resolved_at],
      [incident?.state, incident?.severity, incident?.started_at, incident?.resolved_at],
    )
  }
  return page
}

/** What began in planned work or a silence is shown when someone was notified of it, or there was no one to notify. */
async function shownIncidents({ admin }: Story, { incidents, alerts }: Truth, sites: readonly Site[]) {
  const heldBack = new Set<string>()
  for (const { id, suppressed_by } of alerts) {
    if (!/^(maintenance|silence|incident):/.test(suppressed_by ?? '')) continue
    const { timeline } = await admin.ask<{ timeline: { kind: string }[] }>('GET', `/api/alerts/${id}`)
    if (!timeline.some(({ kind }) => kind === 'unreachable')) heldBack.add(id)
  }
  return incidents.filter(({ id, site_id, cause, lead_alert_id, announced_at }) => {
    // What another alert of it speaks for may have been silenced before.
    const isHeld = (alert: Alert) =>
      heldBack.has(alert.id) &&
      (!alert.suppressed_by?.startsWith('incident:') || alert.suppressed_by === `incident:${id}`)
    const own = alerts.filter(({ incident_id }) => incident_id === id)
    if (!sites.some((site) => site.id === site_id) || cause === 'own') return false
    if (alerts.find((one) => one.id === lead_alert_id)?.subject === 'check') return false
    return announced_at !== null || own.some((one) => !isHeld(one))
  })
}

const pageIncident = (incident: Incident, sites: readonly Site[]): PageIncident => ({
  id: incident.id,
  site: sites.find(({ id }) => id === incident.site_id)?.name ?? '',
  timezone: sites.find(({ id }) => id === incident.site_id)?.timezone ?? '',
  title: incident.title,
  severity: incident.severity,
  started_at: incident.started_at,
  opened_at: incident.opened_at,
  resolved_at: incident.resolved_at,
})

function compareSite(say: Say, truth: Truth, site: Site, shown: PageSite): void {
  const work = truth.maintenance.find(
    ({ site_id, client_id, is_under_way }) =>
      is_under_way === true && (site_id === site.id || (client_id === site.client_id && site_id === null)),
  )
  say(`work on ${site.name}`, shown.maintenance_until !== null, work !== undefined)
  say(`last event of ${site.name}`, shown.last_event_at, site.last_event_at)
  if (work !== undefined) return
  say(`status of ${site.name} on the page`, shown.status, siteStatus(truth, site))
  const alerts = truth.alerts.filter((one) => lasts(one) && one.site_id === site.id)
  const words = ({ title, severity, state, started_at, opened_at }: PageSite['alerts'][number]) =>
    [title, severity, state, started_at, opened_at].join(' ')
  say(
    `alerts of ${site.name} on the page`,
    shown.alerts.map(words).toSorted(),
    alerts.map((one) => words({ ...one, title: one.subject === 'check' ? OWN : one.title })).toSorted(),
  )
  const explaining = alerts.filter(
    ({ subject, severity }) =>
      subject === (shown.status === 'error' ? 'check' : 'target') &&
      (shown.status !== 'critical' || severity === 'critical'),
  )
  if (['critical', 'warning'].includes(shown.status))
    say(
      `since when ${site.name} is ${shown.status}`,
      shown.since,
      explaining.map((one) => one.started_at).toSorted()[0] ?? null,
    )
}

async function compareBadges(say: Say, { admin, page: token }: Story, truth: Truth): Promise<void> {
  const active = new Set(idsOf(activeSites(truth)))
  const answer = await admin.call('GET', `/api/status/${token}`)
  const shown = answer.status === 200 ? answer.json<Page>().sites : []
  for (const { id, name } of truth.sites) {
    const badge = await admin.call('GET', `/badge/${id}.svg`)
    say(`badge of ${name}`, badge.status, active.has(id) ? 200 : 404)
    const site = shown.find((one) => one.name === name)
    if (site === undefined) continue
    const title = /<title>(.*)<\/title>/.exec(badge.text)?.[1] ?? ''
    const at = (time: string | null) => `${time?.slice(0, 16).replace('T', ' ')} UTC`
    const since = site.since === null ? '' : ` since ${at(site.since)}`
    const work = site.maintenance_until === null ? '' : `, under maintenance until ${at(site.maintenance_until)}`
    say(`badge of ${name}`, title, `${name}: ${site.status}${since}${work}`)
  }
}

function compareFeed(say: Say, { incidents }: Page, feed: string): void {
  const entries = feed.split('<entry>').slice(1)
  const read = (entry: string, name: string) => new RegExp(`<${name}[^>]*>([^<]*)</${name}>`).exec(entry)?.[1]
  say(
    'entries of the feed',
    entries.map((entry) => [read(entry, 'id'), read(entry, 'title'), read(entry, 'published')]),
    incidents.map(({ id, site, title, opened_at, resolved_at }) => [
      `urn:uuid:${id}`,
      `${resolved_at === null ? '' : 'Resolved: '}${site}: ${title}`.replaceAll('&', '&amp;'),
      opened_at,
    ]),
  )
}

async function compareUptime(
  say: Say,
  { admin }: Story,
  site: Site,
  shown: PageSite | undefined,
  finals: Map<string, unknown>,
) {
  const uptime = await admin.ask<Uptime>('GET', `/api/sites/${site.id}/uptime`)
  const short = ({ day, status, uptime: share }: PageSite['days'][number]) => ({ day, status, uptime: share })
  say(`days of ${site.name} on the page`, shown?.days.map(short), uptime.days.map(short))
  say(`uptime of ${site.name} on the page`, shown?.uptime, uptime.uptime)
  for (const { is_final, ...day } of uptime.days) {
    const key = `${site.id} ${day.day}`
    if (!is_final) continue
    if (finals.has(key)) say(`${day.day} of ${site.name}, which was written down`, day, finals.get(key))
    finals.set(key, day)
  }
}

/** What someone who reads every e-mail of the page believes to last. */
export class Subscriber {
  readonly said: string[] = []
  readonly #open = new Map<string, number>()

  read({ mails }: Story): void {
    for (const mail of mails.splice(0).filter((one) => isFrom(one, 'reader@'))) {
      for (const [line, word = '', what = ''] of textOf(mail).matchAll(
        /(■ Open since|■ Open again since|✓ Resolved at) [^\n]*?(Acme \d): .*/g,
      )) {
        this.#open.set(what, (this.#open.get(what) ?? 0) + (word.startsWith('✓') ? -1 : 1))
        this.said.push(line)
      }
    }
  }

  /** Of the sites that the page shows; one of which a part was explained by another is left out, as its e-mails wait for the end of that. */
  compare(say: Say, { incidents }: Page, truth: Truth, sites: readonly Site[]): void {
    for (const { id, name } of sites) {
      if (truth.incidents.some(({ site_id, parent_id }) => site_id === id && parent_id !== null)) continue
      const lasting = incidents.filter(({ site, resolved_at }) => site === name && resolved_at === null)
      say(`what a subscriber believes to last on ${name}`, this.#open.get(name) ?? 0, lasting.length)
    }
  }
}
