import { type Static, Type } from 'typebox'
import { AlertRecord } from '../alerts/index.ts'
import { IsoTime, nullable } from '../http/index.ts'
import { SiteState, Status } from './schemas.ts'

const { severity, state, started_at, opened_at } = AlertRecord.properties

const SharedSite = Type.Object({
  name: Type.String(),
  status: Status,
  reason: SiteState.properties.reason,
  since: nullable(
    Type.String({ format: 'date-time', description: 'Since when it has this status, if an alert says so' }),
  ),
  last_event_at: nullable(IsoTime),
  sparkline: SiteState.properties.sparkline,
  alerts: Type.Array(Type.Object({ title: Type.String(), severity, state, started_at, opened_at }), {
    description: 'Unresolved ones, acknowledged or not, the worst first',
  }),
})

/** Ids are left out on purpose: with one of a site its badge could still be seen when the link is revoked. */
export const StatusPage = Type.Object(
  {
    generated_at: IsoTime,
    name: Type.String({ description: "The client's" }),
    status: Status,
    sites: Type.Array(SharedSite, { description: 'The active ones, worst first' }),
  },
  { description: 'How a client and its sites stand' },
)
export type StatusPage = Static<typeof StatusPage>
export type SharedSite = Static<typeof SharedSite>
