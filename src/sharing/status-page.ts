import { type Static, Type } from 'typebox'
import { AlertRecord, type Planned, type UnresolvedAlert } from '../alerts/index.ts'
import { SiteState, Sparklines, STATUSES, Status, worstStatus } from '../dashboard/index.ts'
import { errorResponses, etagOf, type HttpApp, IsoTime, matchesEtag, model, nullable } from '../http/index.ts'
import { type Clock, isoTime, isoTimeOrNull, Kept, MINUTE, notFound } from '../lib/index.ts'
import { clientOfStatusLink, readStatusLooks, StatusLooks, statusLooks } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import { DAY_STATUSES, dayStatus, firstDayOf, readSiteDays, totalTimes, uptimeOf } from '../uptime/index.ts'
import { maintenanceAhead, PastIncident, PlannedMaintenance, pastIncidents } from './history.ts'
import { KeptPages, type SiteHealth, type SiteHealthCache } from './site-health.ts'

/** Days are computed from thousands of results, so for callers without a key they are read at most this often, ms. */
const FRESH_MS = 5 * MINUTE

const share = nullable(
  Type.Number({ minimum: 0, maximum: 1, description: 'Share of the judged time without a critical problem' }),
)

/** The last 90 days of a site for anyone with the link: no counts. */
const SharedHistory = {
  uptime: share,
  first_day: nullable(
    Type.String({
      format: 'date',
      description: 'The first of the days on which the site was there; earlier ones are `unknown`',
    }),
  ),
  days: Type.Array(
    Type.Object({
      day: Type.String({ format: 'date', description: "Calendar day of the site's time zone" }),
      status: Type.Enum([...DAY_STATUSES]),
      uptime: share,
    }),
    { description: 'The last 90 days, oldest first; today up to now' },
  ),
}

interface SiteHistory {
  uptime: number | null
  first_day: string | null
  days: { day: string; status: (typeof DAY_STATUSES)[number]; uptime: number | null }[]
}

const NO_HISTORY: SiteHistory = { uptime: null, first_day: null, days: [] }

/** By site id. */
type Histories = Kept<ReadonlyMap<string, SiteHistory>>

/**
 * Caches the history of sites.
 *
 * @param sitesOf reads the sites
 */
const histories = (
  { read }: Pick<Store, 'read'>,
  sitesOf: (now: number) => Promise<readonly SiteHealth[]>,
): Histories =>
  new Kept(FRESH_MS, async (now) => {
    const sites = (await sitesOf(now)).map((site) => ({ ...site, client_id: site.clientId }))
    const days = await readSiteDays(read, sites, now)
    return new Map(
      sites.map(({ id, created_at }) => {
        const ofSite = days.get(id) ?? []
        const shown = ofSite.map(({ day, times }) => ({ day, status: dayStatus(times), uptime: uptimeOf(times) }))
        return [id, { uptime: uptimeOf(totalTimes(ofSite)), first_day: firstDayOf(ofSite, created_at), days: shown }]
      }),
    )
  })

const { severity, state, started_at, opened_at } = AlertRecord.properties

const SharedSite = model('SharedSite', {
  name: Type.String(),
  status: Status,
  reason: SiteState.properties.reason,
  since: nullable(
    Type.String({ format: 'date-time', description: 'Since when it has this status, if known from an alert' }),
  ),
  maintenance_until: nullable(
    Type.String({
      format: 'date-time',
      description: 'When the current maintenance ends; meanwhile the status is `unknown` if maintenance hides it',
    }),
  ),
  last_event_at: nullable(IsoTime),
  sparkline: SiteState.properties.sparkline,
  ...SharedHistory,
  alerts: Type.Array(Type.Object({ title: Type.String(), severity, state, started_at, opened_at }), {
    description: 'Unresolved incidents, acknowledged or not, worst first',
  }),
})

/** Ids are left out on purpose: with a site's id its badge could still be seen after the link was revoked. */
export const StatusPage = Type.Object(
  {
    generated_at: IsoTime,
    name: Type.String({ description: "The client's" }),
    looks: StatusLooks,
    status: Status,
    sites: Type.Array(SharedSite, { description: 'Active sites, worst first' }),
    incidents: Type.Array(PastIncident, {
      description:
        'Incidents of the last 90 days, newest first, at most 100: all unresolved ones, and the newest of the others',
    }),
    has_older_incidents: Type.Boolean({ description: 'Whether there were more incidents in these 90 days' }),
    maintenance: Type.Array(PlannedMaintenance, {
      description: 'Maintenance in progress or planned for the next two weeks, nearest first',
    }),
    takes_subscribers: Type.Boolean({
      description: 'Whether people can subscribe to e-mail about incidents and maintenance',
    }),
  },
  { title: 'StatusPage', description: 'Status of a client and its sites' },
)
export type StatusPage = Static<typeof StatusPage>
export type SharedSite = Static<typeof SharedSite>

type Content = Omit<StatusPage, 'name' | 'takes_subscribers'>

/** Caches what clients' status pages show. */
export const statusPages = (store: Store, siteHealth: SiteHealthCache) =>
  new KeptPages<Content>((clientId) => {
    // One per page, because it caches the sites requested last.
    const sparklines = new Sparklines(store)
    const sitesOf = async (now: number) =>
      [...(await siteHealth.get(now)).values()].filter((site) => site.clientId === clientId)
    const days = histories(store, sitesOf)
    return async (now) => {
      const all = await sitesOf(now)
      const planned = await maintenanceAhead(store.read, clientId, all, now)
      const sites = all.map((site) => duringWork(site, planned, now))
      const siteNos = sites.map(({ siteNo }) => siteNo)
      const hours = await sparklines.of(siteNos, now)
      const history = await days.get(now)
      return {
        generated_at: isoTime(now),
        looks: statusLooks(await readStatusLooks(store.read, clientId)),
        status: worstStatus(sites.map(({ status }) => status)),
        ...(await pastIncidents(store.read, clientId, sites, now)),
        maintenance: planned.map(({ siteId, ...work }) => ({
          site: sites.find(({ id }) => id === siteId)?.name ?? null,
          starts_at: isoTime(work.startsAt),
          ends_at: isoTime(work.endsAt),
        })),
        sites: sites.toSorted(byTrouble).map((site) => sharedSite(site, history.get(site.id), hours.get(site.siteNo))),
      }
    }
  })

export type StatusPages = ReturnType<typeof statusPages>

const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

interface SharedHealth extends SiteHealth {
  /** Epoch ms; null when there is no maintenance. */
  workEndsAt: number | null
}

/** Returns a site for people who know of the maintenance: problems that began in it are hidden, earlier ones are not. */
export function duringWork(site: SiteHealth, planned: readonly Planned[], now: number): SharedHealth {
  const ofSite = planned.filter(({ siteId }) => siteId === null || siteId === site.id)
  const current = ofSite.filter(({ startsAt }) => startsAt <= now)
  if (current.length === 0) return { ...site, workEndsAt: null }
  const beganWork = Math.min(...current.map(({ startsAt }) => startsAt))
  // Windows that follow without a gap are one to people who wait for its end.
  const workEndsAt = ofSite
    .toSorted((a, b) => a.startsAt - b.startsAt)
    .reduce((end, next) => (next.startsAt <= end ? Math.max(end, next.endsAt) : end), now)
  const alerts = site.alerts.filter(({ openedAt }) => openedAt < beganWork)
  const atMost = STATUSES.slice(STATUSES.indexOf(site.status))
  const status = atMost.find((one) => beganAt(one, alerts) !== null) ?? (site.status === 'ok' ? 'ok' : 'unknown')
  return { ...site, alerts, workEndsAt, status, reason: alerts.length === 0 ? null : site.reason }
}

const byTrouble = (a: SiteHealth, b: SiteHealth): number =>
  STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status) || names.compare(a.name, b.name)

const sharedSite = (
  { name, status, reason, alerts, lastEventAt, workEndsAt }: SharedHealth,
  history: SiteHistory = NO_HISTORY,
  sparkline: readonly number[] = [],
): SharedSite => ({
  name,
  status,
  reason,
  since: isoTimeOrNull(beganAt(status, alerts)),
  maintenance_until: isoTimeOrNull(workEndsAt),
  last_event_at: isoTimeOrNull(lastEventAt),
  sparkline: [...sparkline],
  ...history,
  alerts: alerts.map(sharedAlert),
})

const sharedAlert = ({
  subject,
  title,
  severity,
  state,
  startedAt,
  openedAt,
}: UnresolvedAlert): SharedSite['alerts'][number] => ({
  // Why a check cannot run is about this installation, and does not concern people with the link.
  title: subject === 'check' ? 'One of our checks cannot run' : title,
  severity,
  state,
  started_at: isoTime(startedAt),
  opened_at: isoTime(openedAt),
})

/** Returns when the oldest problem began that gives the site its status (epoch ms); null when no alert is about it. */
export function beganAt(status: Status, alerts: readonly UnresolvedAlert[]): number | null {
  const explaining = alerts.filter(({ subject, severity }) => {
    if (status === 'error') return subject === 'check'
    if (status === 'critical') return subject === 'target' && severity === 'critical'
    return status === 'warning' && subject === 'target'
  })
  return explaining.length === 0 ? null : Math.min(...explaining.map(({ startedAt }) => startedAt))
}

export const StatusToken = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'The last part of the link' })

interface Options {
  store: Store
  pages: StatusPages
  clock: Clock
  isEmailOn: boolean
}

/** Adds the public route of status pages: the token is the key. */
export function statusPageRoutes(app: HttpApp, { store, pages, clock, isEmailOn }: Options): void {
  app.get(
    '/api/status/:token',
    {
      config: { access: 'public' },
      schema: {
        tags: ['Sharing'],
        summary: "Read a client's status page",
        description:
          'What `/status/{token}` shows; requires no other key. Up to 5 s old. A revoked link, and the link of a paused ' +
          'client, are answered as if they had never existed.',
        security: [],
        params: Type.Object({ token: StatusToken }),
        response: { 200: StatusPage, ...errorResponses(404) },
      },
    },
    async (request) => {
      // Looked up each time, so that a revoked link stops working at once.
      const { id, name } = await clientOfStatusLink(store.read, request.params.token)
      return { name, takes_subscribers: isEmailOn, ...(await pages.of(id, clock.now())) }
    },
  )
}

const picture = { schema: Type.Unsafe<Buffer>({ type: 'string', format: 'binary' }) }

/**
 * Adds the public route of logos: the status page's token is the key. Strangers may have made the picture, so browsers must never
 * treat it as anything else.
 */
export function logoRoutes(app: HttpApp, { store }: { store: Store }): void {
  app.get(
    '/api/status/:token/logo',
    {
      config: { access: 'public' },
      schema: {
        tags: ['Sharing'],
        summary: "Read the logo on a client's status page",
        description: 'Requires no other key. Supports `If-None-Match`.',
        security: [],
        params: Type.Object({ token: StatusToken }),
        response: {
          200: { description: 'A picture: PNG, JPEG or WebP', content: { 'image/*': picture } },
          304: Type.Null({ description: 'Unchanged since the answer with this `ETag`' }),
          ...errorResponses(404),
        },
      },
    },
    async (request, reply) => {
      const { id } = await clientOfStatusLink(store.read, request.params.token)
      const looks = await readStatusLooks(store.read, id)
      if (looks === undefined || looks.logo === null || looks.logo_type === null) throw notFound('Logo')
      const etag = etagOf(looks.logo)
      reply.headers({
        etag,
        'cache-control': 'private, max-age=300',
        // When opened directly, it is a document of our origin. `nosniff` is set on all answers.
        'content-security-policy': "default-src 'none'; sandbox",
      })
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(null)
      return reply.type(looks.logo_type).send(Buffer.from(looks.logo, 'base64'))
    },
  )
}
