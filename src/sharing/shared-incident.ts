import { type Static, Type } from 'typebox'
import { AlertRecord, type IncidentDetail, IncidentSummary, readIncident } from '../alerts/index.ts'
import { errorResponses, type HttpApp, IsoTime, nullable, Uuid } from '../http/index.ts'
import { type Clock, isoTime, notFound } from '../lib/index.ts'
import { clientOfStatusLink, readStatusLooks, StatusLooks, statusLooks } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import { KeptPages } from './site-health.ts'
import { StatusToken } from './status-page.ts'

const { title, cause, severity, state, started_at, opened_at, acknowledged_at, resolved_at } =
  IncidentSummary.properties
const SharedAlert = Type.Object({
  title: AlertRecord.properties.title,
  severity: AlertRecord.properties.severity,
  state: AlertRecord.properties.state,
  started_at: AlertRecord.properties.started_at,
  opened_at: AlertRecord.properties.opened_at,
  resolved_at: AlertRecord.properties.resolved_at,
})

/** Kinds of timeline entries for people without a key: what happened, but not who did it or whom it reached. */
const SHARED_KINDS = [
  'opened',
  'joined',
  'explained',
  'belongs',
  'escalated',
  'acknowledged',
  'unacknowledged',
  'resolved',
  'reopened',
] as const

/** Ids are left out as on the status page, and so are names and words of people. */
export const SharedIncident = Type.Object(
  {
    generated_at: IsoTime,
    name: Type.String({ description: "The client's" }),
    looks: StatusLooks,
    title,
    cause,
    severity,
    state,
    started_at,
    opened_at,
    acknowledged_at,
    resolved_at,
    loss: nullable(
      Type.String({
        description: 'What has been lost so far, or in total once it is over: `267 of 425 purchases (63 %)`',
      }),
    ),
    evidence: Type.Array(Type.String(), {
      description: 'Evidence for its cause, strongest first, and why its alerts are one incident',
    }),
    sites: Type.Array(Type.Object({ name: Type.String(), alerts: Type.Array(SharedAlert) }), {
      description: 'What is affected, earliest first',
    }),
    timeline: Type.Array(
      Type.Object({ at: IsoTime, kind: Type.Enum([...SHARED_KINDS]), text: nullable(Type.String()) }),
      {
        description: 'Oldest first',
      },
    ),
  },
  { title: 'SharedIncident', description: 'Read an incident without a key' },
)
export type SharedIncident = Static<typeof SharedIncident>

/** Why a check cannot run is about this installation, and does not concern people with the link. */
const OWN_TITLE = 'One of our checks cannot run'

/** Returns the part of an incident that people without a key may see. */
export function sharedIncident(incident: IncidentDetail): Omit<SharedIncident, 'generated_at' | 'name' | 'looks'> {
  const { alerts, affected, evidence, timeline, lead_alert_id } = incident
  const checks = new Set(alerts.flatMap(({ id, subject }) => (subject === 'check' ? id : [])))
  const isOwn = incident.cause === 'own' || checks.has(lead_alert_id ?? '')
  // Evidence and timeline quote the titles of alerts.
  const maySay = !isOwn && checks.size === 0
  const names = new Map(affected.map(({ site_id, site_name }) => [site_id, site_name]))
  const bySite = Map.groupBy(
    alerts.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at)),
    (alert) => alert.site_id,
  )
  return {
    title: isOwn ? OWN_TITLE : incident.title,
    cause: incident.cause,
    severity: incident.severity,
    state: incident.state,
    started_at: incident.started_at,
    opened_at: incident.opened_at,
    acknowledged_at: incident.acknowledged_at,
    resolved_at: incident.resolved_at,
    loss: incident.impact?.summary ?? null,
    evidence: maySay ? evidence : [],
    sites: Array.from(bySite, ([siteId, own]) => ({
      name: names.get(siteId) ?? '',
      alerts: own.map((alert) => ({
        title: checks.has(alert.id) ? OWN_TITLE : alert.title,
        severity: alert.severity,
        state: alert.state,
        started_at: alert.started_at,
        opened_at: alert.opened_at,
        resolved_at: alert.resolved_at,
      })),
    })),
    timeline: timeline.flatMap(({ at, kind, text }) => {
      const shared = SHARED_KINDS.find((known) => known === kind)
      if (shared === undefined) return []
      return [{ at, kind: shared, text: maySay && !WORDS_OF_PEOPLE.includes(shared) ? text : null }]
    }),
  }
}

/** Kinds whose text is someone's comment or name. */
const WORDS_OF_PEOPLE: readonly string[] = ['acknowledged', 'unacknowledged', 'resolved']

const Params = Type.Object({ token: StatusToken, incident_id: Uuid })

/** Adds the public route of shared incidents: the token of the client's status page is the key. */
export function sharedIncidentRoutes(app: HttpApp, { store, clock }: { store: Store; clock: Clock }): void {
  const pages = new KeptPages((id) => async (now) => {
    const incident = await readIncident(store, id, false)
    return {
      generated_at: isoTime(now),
      looks: statusLooks(await readStatusLooks(store.read, incident.client_id ?? '')),
      ...sharedIncident(incident),
    }
  })
  app.get(
    '/api/status/:token/incidents/:incident_id',
    {
      config: { access: 'public' },
      schema: {
        tags: ['Sharing'],
        summary: "An incident of a client's site",
        description:
          'What `/status/{token}/incidents/{incident_id}` shows; requires no other key. Up to 5 s old. Incidents of other clients, of paused sites and ' +
          'of vendors are answered as if they had never existed.',
        security: [],
        params: Params,
        response: { 200: SharedIncident, ...errorResponses(404) },
      },
    },
    async (request) => {
      const { token, incident_id: id } = request.params
      // Looked up each time, so that a revoked link stops working at once.
      const client = await clientOfStatusLink(store.read, token)
      const own = await store.read
        .selectFrom('incidents')
        .innerJoin('sites', 'sites.id', 'incidents.site_id')
        .select('incidents.id')
        .where('incidents.id', '=', id)
        .where('incidents.client_id', '=', client.id)
        .where('sites.is_active', '=', 1)
        .executeTakeFirst()
      if (own === undefined) throw notFound('Incident')
      return { name: client.name, ...(await pages.of(own.id, clock.now())) }
    },
  )
}
