import { type Static, Type } from 'typebox'
import { IsoTime, Limit, model, nullable, Uuid } from '../http/index.ts'
import { isoTime, isoTimeOrNull } from '../lib/index.ts'
import { ONE_LINE } from '../management/index.ts'
import { FEEDBACK_VERDICTS } from '../probes/index.ts'
import type { AlertEventRow, AlertRow } from '../store/index.ts'
import { Order } from './last-ended.ts'
import { EVENT_KINDS, subjectOf } from './machine/types.ts'

export const SEVERITIES = ['warning', 'critical'] as const
export const STATES = ['open', 'acknowledged', 'resolved'] as const
const RESOLUTIONS = ['recovered', 'gone', 'manual', 'probe_removed', 'replaced'] as const

// The columns are text, so a value is narrowed to what we write into them.

export const severityOf = ({ severity }: Pick<AlertRow, 'severity'>): (typeof SEVERITIES)[number] =>
  severity === 'critical' ? 'critical' : 'warning'

export const stateOf = ({ state }: Pick<AlertRow, 'state'>): (typeof STATES)[number] =>
  STATES.find((known) => known === state) ?? 'open'

export const resolutionOf = ({ resolution }: Pick<AlertRow, 'resolution'>): (typeof RESOLUTIONS)[number] | null =>
  RESOLUTIONS.find((known) => known === resolution) ?? null

const Severity = Type.Enum([...SEVERITIES])
const State = Type.Enum([...STATES])
const nullableTime = (description: string) => nullable(Type.String({ format: 'date-time', description }))

export const AlertRecord = model('Alert', {
  id: Uuid,
  client_id: Uuid,
  site_id: Uuid,
  probe_id: Uuid,
  probe_type: Type.String(),
  subject: Type.Enum(['target', 'check'], {
    description: '`target`: what the probe watches is bad; `check`: the probe cannot run',
  }),
  subject_key: Type.String({
    description:
      'With `probe_id`, identifies what the alert is about: one tag, event or field if the probe judges each separately. Used by silences',
  }),
  subject_label: nullable(Type.String({ description: 'Name of that tag, event or field for people: `Meta CAPI`' })),
  severity: Severity,
  state: State,
  title: Type.String({ description: 'What is wrong, in one line' }),
  message: Type.String({ description: 'Message of the last bad result' }),
  started_at: Type.String({
    format: 'date-time',
    description: 'When the problem began: start of the first bad bucket, or the first bad result',
  }),
  opened_at: Type.String({ format: 'date-time', description: 'When the alert was opened' }),
  last_seen_at: Type.String({ format: 'date-time', description: 'When the last bad result was found' }),
  acknowledged_at: nullable(IsoTime),
  acknowledged_by: nullable(Type.String()),
  resolved_at: nullable(IsoTime),
  resolution: nullable(Type.Enum([...RESOLUTIONS])),
  occurrences: Type.Integer({ description: 'Bad results' }),
  suppressed_by: nullable(
    Type.String({
      description:
        'Why no notification was sent: `silence:ID`, `maintenance:ID`, the `incident:ID` that another alert notifies about (`alert:ID` in ' +
        'earlier versions), `no_channel`, or `quota` (the message about the used-up quota covers it)',
    }),
  ),
  is_flapping: Type.Boolean({
    description: 'Flapping: it changes so often that notifications are paused until it is steady',
  }),
  first_notified_at: nullableTime('When a notification about it was first delivered; null: no one was notified'),
  incident_id: nullable(Type.String({ format: 'uuid', description: 'The incident that it is part of' })),
})
export type AlertRecord = Static<typeof AlertRecord>

const TimelineEntry = model('AlertTimelineEntry', {
  at: IsoTime,
  kind: Type.Enum([...EVENT_KINDS]),
  actor: nullable(Type.String({ description: 'Who did it; null: it happened automatically' })),
  text: Type.String(),
})

const Feedback = Type.Enum([...FEEDBACK_VERDICTS], {
  description:
    '`not_a_problem`: its time counts as usual, and it takes more for the next alert; `real`: its time does not count as usual',
})

export const FeedbackRecord = model('Feedback', { verdict: Feedback, by: Type.String(), at: IsoTime })
export type FeedbackRecord = Static<typeof FeedbackRecord>

/** `Delivery` is passed in, because the schema of a delivery belongs to the room of notifications. */
export const alertDetail = <D extends Parameters<typeof Type.Array>[0]>(delivery: D) =>
  Type.Object({
    ...AlertRecord.properties,
    since: Type.String({ format: 'date-time', description: 'Same as `started_at`' }),
    facts: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
      description: 'The measured and the usual figure, and the event or tag',
    }),
    change: nullable(Type.String({ description: 'What changed shortly before: `12 min after web container 41 → 42`' })),
    details: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Details of the last bad result',
    }),
    down_ms: Type.Integer({ minimum: 0, description: 'How long Tagwarden itself was down during the alert' }),
    timeline: Type.Array(TimelineEntry, {
      description: 'Oldest first; if it is long, the first and the last 250 entries',
    }),
    timeline_left_out: Type.Integer({ minimum: 0, description: 'Number of entries left out between these' }),
    takes_feedback: Type.Boolean({ description: 'Whether the probe learns from feedback about this alert' }),
    feedback: nullable(FeedbackRecord),
    deliveries: Type.Array(delivery, {
      description: 'Messages about it, newest first, at most 1,000. `/api/deliveries` lists all of them, in pages',
    }),
  })

export const AlertParams = Type.Object({ alert_id: Uuid })

export const AlertQuery = Type.Object(
  {
    client_id: Type.Optional(Type.String({ ...Uuid, description: 'Only alerts of this client' })),
    site_id: Type.Optional(Type.String({ ...Uuid, description: 'Only alerts of this site' })),
    probe_id: Type.Optional(Type.String({ ...Uuid, description: 'Only alerts of this probe' })),
    state: Type.Optional(Type.Enum([...STATES], { description: 'Only alerts in this state' })),
    severity: Type.Optional(Type.Enum([...SEVERITIES], { description: 'Only alerts of this severity' })),
    resolved: Type.Optional(Type.Boolean({ description: 'Only resolved alerts, or only unresolved ones' })),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'Only alerts opened at or after this time' })),
    before: Type.Optional(
      Type.String({ description: 'Only alerts older than the one with this id, or than this ISO 8601 time' }),
    ),
    order: Type.Optional(Order),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
export type AlertQuery = Static<typeof AlertQuery>

export const by = Type.Optional(
  Type.String({
    ...ONE_LINE,
    maxLength: 200,
    description:
      "Who does it; the caller by default. If it is not the caller's own name, their account or API token stands beside it: `Ada (token Bot)`",
  }),
)
const comment = Type.Optional(nullable(Type.String({ maxLength: 1_000, description: 'Text for the timeline' })))
export const Handling = Type.Object({ by, comment }, { title: 'Handling', additionalProperties: false })
export type Handling = Static<typeof Handling>

export const GiveFeedback = Type.Object({ verdict: Feedback, by }, { additionalProperties: false })
export type GiveFeedback = Static<typeof GiveFeedback>

export const alertRecord = (row: AlertRow): AlertRecord => ({
  id: row.id,
  client_id: row.client_id,
  site_id: row.site_id,
  probe_id: row.probe_id,
  probe_type: row.probe_type,
  subject: subjectOf(row),
  subject_key: row.subject,
  subject_label: row.subject_label,
  severity: severityOf(row),
  state: stateOf(row),
  title: row.title,
  message: row.message,
  started_at: isoTime(row.started_at),
  opened_at: isoTime(row.opened_at),
  last_seen_at: isoTime(row.last_seen_at),
  acknowledged_at: isoTimeOrNull(row.acknowledged_at),
  acknowledged_by: row.acknowledged_by,
  resolved_at: isoTimeOrNull(row.resolved_at),
  resolution: resolutionOf(row),
  occurrences: row.occurrences,
  suppressed_by: row.suppressed_by,
  is_flapping: row.is_flapping === 1,
  first_notified_at: isoTimeOrNull(row.first_notified_at),
  incident_id: row.incident_id,
})

export const timelineEntry = ({ at, kind, actor, text }: AlertEventRow) => ({
  at: isoTime(at),
  kind: EVENT_KINDS.find((known) => known === kind) ?? 'notified',
  actor,
  text,
})
