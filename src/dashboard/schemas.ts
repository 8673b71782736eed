import { type Static, Type } from 'typebox'
import { IsoTime, nullable, Uuid } from '../http/index.ts'
import { STATUSES } from './status.ts'

const Status = Type.Enum([...STATUSES], { description: 'The worst of the parts; `unknown` before a first result' })
const Count = Type.Integer({ minimum: 0 })

const ProbeState = Type.Object({
  id: Uuid,
  probe_type: Type.String(),
  name: Type.String(),
  status: Status,
  message: nullable(Type.String()),
  response_time_ms: nullable(Type.Number()),
  last_result_at: nullable(IsoTime),
})

const SiteState = Type.Object({
  id: Uuid,
  name: Type.String(),
  url: Type.String(),
  status: Status,
  open_alerts: Count,
  last_event_at: nullable(IsoTime),
  events_24h: Count,
  score: nullable(Type.Number({ description: '0–100 over the last 24 hours; null with too few events' })),
  probes: Type.Array(ProbeState),
})

const ClientState = Type.Object({
  id: Uuid,
  name: Type.String(),
  status: Status,
  open_alerts: Count,
  sites: Type.Array(SiteState),
})

const AlertState = Type.Object({
  id: Uuid,
  site_id: Uuid,
  severity: Type.String(),
  state: Type.String(),
  title: Type.String(),
  opened_at: IsoTime,
  resolved_at: nullable(IsoTime),
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
      open_alerts: Count,
    }),
    clients: Type.Array(ClientState),
    recent_alerts: Type.Array(AlertState, { description: 'The last 20, newest first' }),
  },
  { description: 'Active clients with their active sites' },
)

export type Overview = Static<typeof Overview>
export type ClientState = Static<typeof ClientState>
export type SiteState = Static<typeof SiteState>
