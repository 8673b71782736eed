import { type Static, Type } from 'typebox'
import { IncidentSummary, MutedNow } from '../alerts/index.ts'
import { IsoTime, model, nullable, Uuid } from '../http/index.ts'
import { CHANGE_KINDS } from './candidates.ts'

const Count = Type.Integer({ minimum: 0 })
const window = { from: IsoTime, to: IsoTime }
const Window = Type.Object(window)

export const TodayQuery = Type.Object(
  {
    client_id: Type.Optional(Type.String({ ...Uuid, description: 'Only this client; all active clients by default' })),
    timezone: Type.Optional(
      Type.String({
        format: 'time-zone',
        description: 'Time zone that the evening is in, as an IANA name; that of the oldest site by default',
      }),
    ),
  },
  { additionalProperties: false },
)
export type TodayQuery = Static<typeof TodayQuery>

const ChangeRecord = model('Change', {
  site_id: Uuid,
  kind: Type.Enum([...CHANGE_KINDS], {
    description:
      '`events`: all events of the site; `event`: those of one name; `tag_runs`: how often a tag ran; `tag_failures`: the share of these runs that failed, 0–1',
  }),
  name: nullable(Type.String({ description: 'The event or the tag; null for the whole site' })),
  now: Type.Number(),
  before: Type.Number({ description: 'The figure of the same hours a week before' }),
  expected: Type.Number({
    description:
      'The figure expected now, from `before` and, for an event or a tag, from how much the rest of the site changed',
  }),
  usual: Type.Number({ description: 'One standard deviation of the usual difference from week to week' }),
  deviations: Type.Number({ description: 'The difference in standard deviations; negative: less than expected' }),
  chance: Type.Number({ description: 'Probability of such a difference by chance, 0–1' }),
  runs: nullable(Type.Number({ description: 'For `tag_failures`: the executions that the share is based on' })),
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

export const Today = model('Today', {
  generated_at: IsoTime,
  timezone: Type.String({ description: 'Of `overnight.since`' }),
  sites: Type.Integer({ minimum: 0, description: 'Active sites that were considered' }),
  overnight: Type.Object({
    since: Type.String({ format: 'date-time', description: 'Start: 18:00 of the day before' }),
    down_seconds: Type.Integer({
      minimum: 0,
      description: 'How long this service was down since then: what broke and recovered in that time is in no incident',
    }),
    opened: Count,
    resolved: Count,
    open: Type.Integer({
      minimum: 0,
      description: 'All unresolved incidents, acknowledged or not, whenever they opened',
    }),
    incidents: Type.Array(IncidentSummary, {
      description: 'At most 50: unresolved ones first, each group with the latest or most urgent first',
    }),
  }),
  changes: Type.Object({
    ...window,
    before: Window,
    compared: Type.Integer({
      minimum: 0,
      description: 'Sites that have counts in both windows and were not paused in them',
    }),
    complete: Type.Boolean({
      description: 'False: there was not enough time for all sites; the next call continues where this one stopped',
    }),
    hours_left_out: Type.Integer({
      minimum: 0,
      description:
        'Hours that are not compared because this service was down for a minute or more, in that hour or a week before',
    }),
    entries: Type.Array(ChangeRecord, {
      description: 'At most 20, the least likely first. About one in twenty is expected to be due to chance',
    }),
  }),
  versions: Type.Array(VersionRecord, {
    description: 'Versions published since `changes.from`, latest first; at most 50',
  }),
  quotas: Type.Array(
    Type.Object({
      client_id: Uuid,
      name: Type.String(),
      events: Type.Integer({ minimum: 0, description: 'Events in the UTC month' }),
      limit: Count,
      level: Type.Enum(['warning', 'exceeded']),
      resets_at: IsoTime,
    }),
    { description: 'Clients that have used at least 80 % of their events; those that have used all of them first' },
  ),
  muted: Type.Array(MutedNow, { description: 'Silences and maintenance in effect, those that end last first' }),
})
export type Today = Static<typeof Today>
