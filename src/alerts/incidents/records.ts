import { type Static, Type } from 'typebox'
import { vendorName } from '../../analytics/index.ts'
import { IsoTime, Limit, model, NOT_BLANK, nullable, Uuid } from '../../http/index.ts'
import { isoTime, isoTimeOrNull } from '../../lib/index.ts'
import type { IncidentEventRow, IncidentNoteRow, IncidentRow } from '../../store/index.ts'
import { AlertRecord, by, SEVERITIES, STATES, severityOf, stateOf } from '../alert-record.ts'
import { Order } from '../last-ended.ts'
import { INCIDENT_EVENT_KINDS } from './case.ts'
import { CAUSE_KINDS } from './evidence.ts'
import { type Impact, lossInWords } from './impact.ts'
import { valueInWords } from './impact-value.ts'
import { CAUSES, causeOf } from './sign.ts'

const SCOPES = ['site', 'vendor'] as const
const Severity = Type.Enum([...SEVERITIES])
const State = Type.Enum([...STATES])
const Id = (description: string) => nullable(Type.String({ format: 'uuid', description }))

const LossRecord = {
  lost: Type.Number(),
  of: Type.Number({ description: 'Number that was expected' }),
  low: Type.Number({ description: 'Lower bound of `lost`, allowing for chance and the usual variation of the counts' }),
  high: Type.Number({ description: 'Upper bound of `lost`; if both bounds equal `lost`, the loss was counted' }),
}
const Loss = model('EstimatedLoss', LossRecord)
const NamedLoss = model('EstimatedLossOfEvent', { event_name: Type.String(), ...LossRecord })

const ValueRecord = Type.Object(
  {
    text: Type.String({ description: '`≈ €21k, estimated`' }),
    currency: Type.String({ description: 'ISO 4217' }),
    lost: Type.Number(),
    low: Type.Number(),
    high: Type.Number(),
    average_order_value: nullable(Type.Number({ description: 'Currency of the site; null for several sites' })),
  },
  {
    title: 'LostValue',
    description:
      'Value of the purchases in `summary`, at the average order value of the site. Null if the site has none, if the summary is about ' +
      'something else, or if executions of several tags were lost, which may belong to the same purchases',
  },
)

const ImpactRecord = Type.Object(
  {
    summary: nullable(Type.String({ description: '`267 of 425 purchases (63 %)`; null when no loss is certain' })),
    from: IsoTime,
    to: IsoTime,
    final: Type.Boolean({ description: 'Whether the incident is over and the count is final' }),
    sites: Type.Integer({ description: 'Number of sites that the figures cover' }),
    events: nullable(Loss),
    key_events: Type.Array(NamedLoss, { description: 'Loss of the events that matter most, see `KEY_EVENTS`' }),
    executions: nullable(Loss),
    key_executions: Type.Array(NamedLoss, { description: 'Loss of tag executions on those events' }),
    share: nullable(
      Type.Number({
        description:
          "Share of the site's traffic that was lost, 0–1: of its events, or of its tag executions if the events arrived",
      }),
    ),
    estimate: Type.String({ description: 'How the loss was determined' }),
    value: nullable(ValueRecord),
  },
  {
    title: 'Impact',
    description:
      'What the incident costs: events that were expected but did not arrive, and tag executions that failed or did not happen. ' +
      'Updated every few minutes; null while nothing is known, or if nothing is lost',
  },
)

export const IncidentRecord = model('Incident', {
  id: Uuid,
  scope: Type.Enum([...SCOPES], {
    description:
      '`site`: an incident of one site; `vendor`: the tags of one vendor fail on many sites, or half of all sites receive fewer events at once',
  }),
  client_id: Id('Null for `vendor`'),
  site_id: Id('Null for `vendor`'),
  cause: Type.Enum([...CAUSES], { description: 'The strongest known explanation' }),
  vendor: nullable(
    Type.String({
      description:
        'The vendor whose tags are affected: `Meta`; `Tagwarden` where half of all sites receive fewer events at once',
    }),
  ),
  title: Type.String({ description: 'What is wrong, in one line' }),
  severity: Severity,
  state: State,
  started_at: Type.String({ format: 'date-time', description: 'When its earliest sign began' }),
  opened_at: Type.String({ format: 'date-time', description: 'When the incident was opened' }),
  announced_at: nullable(
    Type.String({ format: 'date-time', description: 'When its first notification was written; null: there was none' }),
  ),
  acknowledged_at: nullable(IsoTime),
  acknowledged_by: nullable(Type.String()),
  resolved_at: nullable(IsoTime),
  lead_alert_id: Id('The alert that explains the others'),
  parent_id: Id('The incident that explains this one'),
  impact: nullable(ImpactRecord),
})
export type IncidentRecord = Static<typeof IncidentRecord>

const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const IncidentSummary = model('IncidentSummary', {
  ...IncidentRecord.properties,
  alert_count: Count('Number of its alerts, resolved or not, including those of the incidents that it explains'),
  site_count: Count('Number of sites that have one of these alerts'),
})
export type IncidentSummary = Static<typeof IncidentSummary>

const TimelineEntry = model('IncidentTimelineEntry', {
  at: IsoTime,
  kind: Type.Enum([...INCIDENT_EVENT_KINDS]),
  actor: nullable(Type.String({ description: 'Who did it; null: it happened automatically' })),
  text: Type.String(),
})

export const NoteRecord = model('IncidentNote', { id: Uuid, at: IsoTime, by: Type.String(), text: Type.String() })
export type NoteRecord = Static<typeof NoteRecord>

const Affected = model('AffectedAlert', {
  alert_id: Uuid,
  client_id: Uuid,
  site_id: Uuid,
  site_name: Type.String(),
  subject_label: nullable(Type.String({ description: 'The tag, event or field' })),
  tag: nullable(Type.String({ description: 'Vendor of the tag, for an alert about a tag' })),
  events: Type.Array(Type.String(), {
    description: 'Events that the alert is about; for a tag, those on which it is bad. Empty: all',
  }),
  vendor: nullable(Type.String()),
  started_at: IsoTime,
  resolved_at: nullable(IsoTime),
})

/** `Delivery` is passed in, because the schema of a delivery belongs to the room of notifications. */
export const incidentDetail = <D extends Parameters<typeof Type.Array>[0]>(delivery: D) =>
  Type.Object({
    ...IncidentSummary.properties,
    likely_cause: nullable(
      Type.String({ description: 'The best explanation; null when nothing but the alert itself is known' }),
    ),
    likely_cause_kind: nullable(
      Type.Enum([...CAUSE_KINDS], {
        description:
          '`alert`: the alert `lead_alert_id`; `vendor`: the incident `parent_id`; `change`: the change at `change_at`',
      }),
    ),
    evidence: Type.Array(Type.String(), {
      description: 'Evidence for the cause, strongest first, and why these alerts are one incident',
    }),
    change: nullable(Type.String({ description: 'What changed shortly before it began' })),
    change_at: nullable(
      Type.String({ format: 'date-time', description: 'When that change was published, or first seen' }),
    ),
    down_ms: Count('How long Tagwarden itself was down during the incident, in ms'),
    timeline: Type.Array(TimelineEntry, {
      description: 'Oldest first; if it is long, the first and the last 250 entries',
    }),
    timeline_left_out: Count('Number of entries left out between these'),
    alerts: Type.Array(AlertRecord, {
      description: 'Its alerts, oldest first, at most 500; for `vendor`, those of all sites',
    }),
    affected: Type.Array(Affected, {
      description: 'Sites and tags of these alerts and when each began; earliest first',
    }),
    parts: Type.Array(IncidentRecord, { description: 'The incidents that this one explains' }),
    notes: Type.Array(NoteRecord, { description: 'Oldest first' }),
    deliveries: Type.Array(delivery, {
      description: 'Messages about it, newest first, at most 1,000. `/api/deliveries` lists all of them, in pages',
    }),
  })

export const IncidentParams = Type.Object({ incident_id: Uuid })

export const IncidentQuery = Type.Object(
  {
    client_id: Type.Optional(Type.String({ ...Uuid, description: 'Only incidents that affect this client' })),
    site_id: Type.Optional(Type.String({ ...Uuid, description: 'Only incidents that affect this site' })),
    state: Type.Optional(Type.Enum([...STATES], { description: 'Only incidents in this state' })),
    severity: Type.Optional(Type.Enum([...SEVERITIES], { description: 'Only incidents of this severity' })),
    scope: Type.Optional(
      Type.Enum([...SCOPES], { description: '`site`: problems of one site; `vendor`: of a vendor on many sites' }),
    ),
    resolved: Type.Optional(Type.Boolean({ description: 'Only resolved incidents, or only unresolved ones' })),
    since: Type.Optional(
      Type.String({ format: 'date-time', description: 'Only incidents opened at or after this time' }),
    ),
    before: Type.Optional(
      Type.String({ description: 'Only incidents older than the one with this id, or than this ISO 8601 time' }),
    ),
    order: Type.Optional(Order),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
export type IncidentQuery = Static<typeof IncidentQuery>

export const AddNote = Type.Object(
  {
    text: Type.String({ ...NOT_BLANK, maxLength: 4_000 }),
    by,
  },
  { additionalProperties: false },
)
export type AddNote = Static<typeof AddNote>

export const incidentRecord = (row: IncidentRow): IncidentRecord => ({
  id: row.id,
  scope: row.scope === 'vendor' ? 'vendor' : 'site',
  client_id: row.client_id,
  site_id: row.site_id,
  cause: causeOf(row.cause),
  vendor: row.vendor === null ? null : vendorName(row.vendor),
  title: row.title,
  severity: severityOf(row),
  state: stateOf(row),
  started_at: isoTime(row.started_at),
  opened_at: isoTime(row.opened_at),
  announced_at: isoTimeOrNull(row.announced_at),
  acknowledged_at: isoTimeOrNull(row.acknowledged_at),
  acknowledged_by: row.acknowledged_by,
  resolved_at: isoTimeOrNull(row.resolved_at),
  lead_alert_id: row.lead_alert_id,
  parent_id: row.parent_id,
  impact: impactRecord(row.impact),
})

/** Reads a stored impact (JSON). */
export const impactIn = (text: string | null): Impact | null => (text === null ? null : (JSON.parse(text) as Impact))

function impactRecord(text: string | null): IncidentRecord['impact'] {
  const impact = impactIn(text)
  if (impact === null) return null
  const { from, to, key_events, key_executions, value, ...figures } = impact
  return {
    summary: lossInWords(impact),
    ...figures,
    from: isoTime(from),
    to: isoTime(to),
    key_events: [...key_events],
    key_executions: [...key_executions],
    value: value == null ? null : { text: valueInWords(value), ...value },
  }
}

export const incidentEntry = ({ at, kind, actor, text }: IncidentEventRow) => ({
  at: isoTime(at),
  kind: INCIDENT_EVENT_KINDS.find((known) => known === kind) ?? 'notified',
  actor,
  text,
})

export const noteRecord = ({ id, at, author, text }: IncidentNoteRow): NoteRecord => ({
  id,
  at: isoTime(at),
  by: author,
  text,
})
