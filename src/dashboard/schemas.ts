import { type Static, Type } from 'typebox'
import { AlertRecord, IncidentSummary } from '../alerts/index.ts'
import { ScoreCap } from '../analytics/index.ts'
import { IsoTime, model, nullable, Uuid } from '../http/index.ts'
import { UnjudgedReasonSchema } from '../probes/index.ts'
import { Status } from './status.ts'

const Count = Type.Integer({ minimum: 0 })

const ProbeState = model('ProbeState', {
  id: Uuid,
  probe_type: Type.String(),
  name: Type.String(),
  status: Status,
  judged: Type.Boolean({ description: 'False: no result yet, or a result that says nothing about the target' }),
  reason: UnjudgedReasonSchema,
  message: nullable(Type.String()),
  response_time_ms: nullable(Type.Number()),
  last_result_at: nullable(IsoTime),
})

const { id, severity, state, title, started_at, opened_at } = AlertRecord.properties
const WorstAlert = Type.Object({ id, severity, state, title, started_at, opened_at })

export const SiteState = model('SiteState', {
  id: Uuid,
  name: Type.String(),
  url: Type.String(),
  timezone: Type.String({ description: 'IANA name' }),
  status: Status,
  reason: UnjudgedReasonSchema,
  open_alerts: Type.Integer({ minimum: 0, description: 'Unresolved incidents, acknowledged or not' }),
  worst_alert: nullable(WorstAlert),
  last_event_at: nullable(IsoTime),
  events_24h: Count,
  sparkline: Type.Array(Count, {
    description:
      'Events in each of the last 24 UTC hours, oldest first; the last is the current hour, up to a minute behind',
  }),
  score: nullable(Type.Number({ description: '0–100 over the last 24 hours; null with too few events' })),
  score_cap: nullable(ScoreCap),
  probes: Type.Array(ProbeState),
})

const ClientState = model('ClientState', {
  id: Uuid,
  name: Type.String(),
  status: Status,
  open_alerts: Count,
  sites: Type.Array(SiteState),
})

export const Overview = Type.Object(
  {
    generated_at: IsoTime,
    totals: Type.Object({
      clients: Count,
      sites: Count,
      ok: Count,
      warning: Count,
      critical: Count,
      error: Count,
      unknown: Count,
      waiting: Type.Integer({ minimum: 0, description: 'Number of unknown sites that have never sent an event' }),
      open_alerts: Count,
      open_incidents: Type.Integer({
        minimum: 0,
        description: 'Number of incidents neither acknowledged nor resolved, without those that another one explains',
      }),
    }),
    incidents: Type.Array(IncidentSummary, {
      description:
        'Unresolved incidents of these sites and of vendors, without those that another one explains: at most 20, most urgent first',
    }),
    incidents_left_out: Type.Integer({ minimum: 0, description: 'Number of further ones' }),
    clients: Type.Array(ClientState),
    clients_without_channel: Type.Array(Type.Object({ id: Uuid, name: Type.String() }), {
      description: 'Active clients that have a site without working notifications: no channel, or all channels off',
    }),
    clients_near_quota: Type.Array(
      Type.Object({
        id: Uuid,
        name: Type.String(),
        events: Type.Integer({ minimum: 0, description: 'In the UTC month' }),
        limit: Count,
        level: Type.Enum(['warning', 'exceeded'], {
          description:
            '`warning`: 80 % are used; `exceeded`: all are, and every request is refused until the month ends',
        }),
      }),
      { description: 'Active clients whose quota is used up or nearly used up; used-up ones first' },
    ),
    recent_alerts: Type.Array(AlertRecord, { description: 'The latest 20 of these sites, newest first' }),
  },
  { title: 'Overview', description: 'Active clients with their active sites' },
)

export type Overview = Static<typeof Overview>
export type ClientState = Static<typeof ClientState>
export type SiteState = Static<typeof SiteState>
