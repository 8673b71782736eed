import { type Static, Type } from 'typebox'
import { IncidentSummary, MutedNow } from '../alerts/index.ts'
import { IsoTime, nullable, Uuid } from '../http/index.ts'
import { CHANGE_KINDS } from './candidates.ts'

const Count = Type.Integer({ minimum: 0 })
const window = { from: IsoTime, to: IsoTime }
const Window = Type.Object(window)

export const TodayQuery = Type.Object(
  {
    client_id: Type.Optional(
      Type.String({ ...Uuid, description: 'Only of this client; of all active ones without it' }),
    ),
    timezone: Type.Optional(
      Type.String({
        format: 'time-zone',
        description: 'Whose evening it was: IANA name; by default that of the oldest of the sites',
      }),
    ),
  },
  { additionalProperties: false },
)
export type TodayQuery = Static<typeof TodayQuery>

const ChangeRecord = Type.Object({
  site_id: Uuid,
  kind: Type.Enum([...CHANGE_KINDS], {
    description:
      '`events`: all events of the site; `event`: those of one name; `tag_runs`: how often a tag ran; `tag_failures`: which share of that failed, 0–1',
  }),
  name: nullable(Type.String({ description: 'The event or the tag; null of the whole site' })),
  now: Type.Number(),
  before: Type.Number({ description: 'In the same hours a week before' }),
  expected: Type.Number({
    description: 'What to expect from that: for an event or a tag, scaled by how much the rest of the site changed',
  }),
  usual: Type.Number({ description: 'One standard deviation of its usual difference from week to week' }),
  deviations: Type.Number({ description: 'The difference in these; below 0: there is less' }),
  chance: Type.Number({ description: 'Probability of such a difference by chance, 0–1' }),
  runs: nullable(Type.Number({ description: 'Of `tag_failures`: executions it is the share of' })),
  summary: Type.String({ description: '`purchase: 640, a week before 1,290 (−50 %, usually ±8 %)`' }),
})
export type ChangeRecord = Static<typeof ChangeRecord>

const VersionRecord = Type.Object({
  site_id: Uuid,
  at: IsoTime,
  source: Type.String({ description: '`web container`, `server container`' }),
  from_version: nullable(Type.String()),
  to_version: Type.String(),
})
export type VersionRecord = Static<typeof VersionRecord>

export const Today = Type.Object({
  generated_at: IsoTime,
  timezone: Type.String({ description: 'Of `overnight.since`' }),
  sites: Type.Integer({ minimum: 0, description: 'Active sites that this is about' }),
  overnight: Type.Object({
    since: Type.String({ format: 'date-time', description: '18:00 of the day before' }),
    down_seconds: Type.Integer({
      minimum: 0,
      description: 'How long this service was down since then: what broke meanwhile and works again is in no incident',
    }),
    opened: Count,
    resolved: Count,
    open: Type.Integer({ minimum: 0, description: 'That are unresolved, acknowledged or not, whenever they opened' }),
    incidents: Type.Array(IncidentSummary, {
      description: 'At most 50: those that last first, and each kind the latest or most urgent first',
    }),
  }),
  changes: Type.Object({
    ...window,
    before: Window,
    compared: Type.Integer({ minimum: 0, description: 'Sites with counts in both windows' }),
    complete: Type.Boolean({
      description: 'False: there was no time for all sites; the next call continues from there',
    }),
    hours_left_out: Type.Integer({
      minimum: 0,
      description:
        'Hours that are not compared, as this service was down for a minute or more in them or a week before',
    }),
    entries: Type.Array(ChangeRecord, {
      description: 'At most 20, the least likely first. One of twenty is expected to be chance',
    }),
  }),
  versions: Type.Array(VersionRecord, { description: 'Published since `changes.from`, the latest first; at most 50' }),
  quotas: Type.Array(
    Type.Object({
      client_id: Uuid,
      name: Type.String(),
      events: Type.Integer({ minimum: 0, description: 'Of the UTC month' }),
      limit: Count,
      level: Type.Enum(['warning', 'exceeded']),
      resets_at: IsoTime,
    }),
    { description: 'Clients that have used up 80 % of their events or all of them; these first' },
  ),
  muted: Type.Array(MutedNow, { description: 'Silences and maintenance in effect, what ends last first' }),
})
export type Today = Static<typeof Today>
