import { type Static, Type } from 'typebox'
import { IsoTime, model, nullable, Uuid } from '../http/index.ts'
import { isoTime, isoTimeOrNull } from '../lib/index.ts'
import type { TimeRange } from '../rollups/index.ts'
import type { Marker } from './markers.ts'
import type { Matrix } from './matrix.ts'
import type { Overview, WindowReport } from './overview.ts'
import type { OwnFields } from './own-fields.ts'
import type { Recent } from './recent.ts'
import { Presence, signals } from './signal-answers.ts'
import type { TagDetail } from './tag-report.ts'
import type { Timeseries } from './timeseries/index.ts'
import { METRICS } from './timeseries/plan.ts'

const Count = Type.Integer()
const Milliseconds = nullable(Type.Number({ description: 'ms' }))
const Rate = nullable(Type.Number({ description: '0–1; null when nothing was counted' }))
const Points = nullable(Type.Number({ description: '0–100; null without data' }))

const window = { from: IsoTime, to: IsoTime }
const outcomes = { success: Count, failure: Count, timeout: Count, exception: Count }

const latency = { avg_ms: Milliseconds, p50_ms: Milliseconds, p95_ms: Milliseconds, p99_ms: Milliseconds }

const tag = {
  tag_key: Type.String(),
  tag_id: nullable(Type.String()),
  tag_name: nullable(Type.String()),
  vendor: nullable(
    Type.String({
      description: 'The vendor of the tag: the one that was set for it, or else the one derived from its name',
    }),
  ),
  vendor_by_hand: Type.Boolean({ description: 'Whether the vendor was set for the tag' }),
  executions: Count,
  ...outcomes,
  success_rate: Rate,
  ...latency,
}

const FieldInput = model('ScoreInput', {
  present: Count,
  total: Count,
  rate: Rate,
  target: Type.Number(),
  weight: Type.Number(),
})

export const ScoreCap = Type.Object(
  { max: Type.Number(), reason: Type.String({ description: "The alert's title" }), alert_id: Uuid },
  { title: 'ScoreCap', description: 'A critical alert of the site is open, which limits the score' },
)

const score = {
  overall: Points,
  delivery: Points,
  user_data: Points,
  ecommerce: Points,
  band: nullable(Type.Enum(['excellent', 'good', 'warning', 'critical'])),
  insufficient_data: Type.Boolean({ description: 'Fewer than 20 events, or nothing to judge' }),
  cap: nullable(ScoreCap),
  inputs: model('ScoreInputs', {
    events: Count,
    uncapped: Points,
    delivery: Type.Object({
      success: Count,
      executions: Count,
      rate: Rate,
      worst_tag: nullable(
        Type.Object(
          { tag_key: Type.String(), success: Count, executions: Count, rate: Rate },
          {
            description:
              'The tag with the lowest success rate, among those that ran at least 20 times and 1 % as often as the busiest',
          },
        ),
      ),
      weight: Type.Number(),
    }),
    user_data: Type.Object({ email: FieldInput, phone: FieldInput, address: FieldInput, weight: Type.Number() }),
    ecommerce: Type.Object({
      value: FieldInput,
      currency: FieldInput,
      transaction_id: FieldInput,
      items: FieldInput,
      weight: Type.Number(),
    }),
  }),
}

const Score = model('Score', {
  ...score,
  recent: nullable(
    Type.Object(
      { ...window, ...score },
      { description: 'The last hour of the window; null when the window is not longer' },
    ),
  ),
})

const windowReport = {
  ...window,
  total_events: Count,
  events: Type.Array(model('EventTotal', { event_name: Type.String(), total: Count })),
  tags: Type.Array(model('TagExecutions', tag)),
  latency: Type.Object(latency, { title: 'Latency', description: 'Execution time over all tags' }),
  user_data: model('UserDataSignals', {
    total: Count,
    email: Presence,
    phone: Presence,
    address: Presence,
    first_name: Presence,
    last_name: Presence,
    city: Presence,
    country: Presence,
  }),
  ecommerce: model('EcommerceSignals', {
    total: Count,
    value: Presence,
    currency: Presence,
    transaction_id: Presence,
    items: Presence,
  }),
  ...signals,
  score: Score,
  rejections: Type.Record(Type.String(), Count, { description: 'Requests refused, by reason' }),
  skewed: Type.Integer({ description: "Events whose sender's clock was wrong" }),
  warnings: Type.Array(
    model('DataWarning', {
      code: Type.Enum([
        'events_over_cap',
        'tags_over_cap',
        'containers_over_cap',
        'tag_ids_over_cap',
        'user_data_over_total',
        'ecommerce_over_total',
        'clock_skew',
        'quota_near',
        'quota_used_up',
        'key_revoked',
      ]),
      message: Type.String(),
    }),
  ),
}

const seen = {
  containers: Type.Array(
    model('ContainerSeen', {
      container_id: Type.String(),
      last_seen: IsoTime,
      clients: Type.Array(Type.Object({ name: Type.String(), last_seen: IsoTime }), {
        description: 'Clients of the container that claimed events, if the tag reports them; most recent first',
      }),
    }),
  ),
  last_seen: nullable(IsoTime),
}

export const OverviewAnswer = model('SiteOverview', {
  site_id: Uuid,
  ...windowReport,
  ...seen,
  previous: Type.Optional(Type.Object({ ...windowReport, ...seen })),
})

export const TimeseriesAnswer = model('Timeseries', {
  site_id: Uuid,
  metric: Type.Enum([...METRICS]),
  ...window,
  bucket_seconds: Type.Integer({ description: 'Nominal length: a local day has 23 or 25 hours when clocks change' }),
  series: Type.Array(
    Type.Object({
      key: Type.String({ description: 'Event name, tag key, outcome or field; else the metric or p50, p95, p99, avg' }),
      points: Type.Array(
        Type.Object({
          t: IsoTime,
          value: nullable(
            Type.Number({
              description:
                'Counts of events, executions and failures; ms of latency; scores from 0 to 100 (also user_data and ecommerce); else, and by field, shares from 0 to 1',
            }),
          ),
          base: Type.Optional(
            Type.Integer({ description: 'Events or executions that the rate, percentile or score is based on' }),
          ),
        }),
      ),
    }),
  ),
})

export const TagAnswer = model('TagFigures', {
  site_id: Uuid,
  ...window,
  ...tag,
  events: Type.Array(Type.Object({ event_name: Type.String(), executions: Count, ...outcomes })),
  events_window: Type.Object(window, {
    description: 'The whole UTC hours that `events` covers; whole local days when older than nine weeks',
  }),
})

export const MatrixAnswer = model('TagMatrix', {
  site_id: Uuid,
  ...window,
  events: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  cells: Type.Array(Type.Object({ event_name: Type.String(), tag_key: Type.String(), executions: Count, bad: Count })),
})

export const FieldsAnswer = model('ParameterFigures', {
  site_id: Uuid,
  ...window,
  fields: Type.Array(
    Type.Object({
      event_name: nullable(Type.String({ description: 'Null: from batches, which do not report the event' })),
      field: Type.String(),
      ...Presence.properties,
    }),
    { description: 'By event, those with the most reports of parameters first' },
  ),
})

export const RecentAnswer = model('RecentRequests', {
  accepted: Type.Array(
    Type.Object({ accepted_at: IsoTime }, { additionalProperties: true, description: 'The payload as stored' }),
  ),
  rejections: Type.Array(Type.Object({ at: IsoTime, reason: Type.String(), path: Type.String() })),
})

export const MarkersAnswer = Type.Array(
  Type.Object({
    at: IsoTime,
    source: Type.String({ description: 'What changed: `web container`' }),
    from_version: nullable(Type.String()),
    to_version: Type.String(),
  }),
  { description: 'Oldest first' },
)

export type OverviewAnswer = Static<typeof OverviewAnswer>
export type TimeseriesAnswer = Static<typeof TimeseriesAnswer>
export type TagAnswer = Static<typeof TagAnswer>
export type MatrixAnswer = Static<typeof MatrixAnswer>
export type FieldsAnswer = Static<typeof FieldsAnswer>
export type RecentAnswer = Static<typeof RecentAnswer>
export type MarkersAnswer = Static<typeof MarkersAnswer>

const isoRange = ({ from, to }: TimeRange) => ({ from: isoTime(from), to: isoTime(to) })

export function overviewAnswer({ previous, ...report }: Overview) {
  const answer = { site_id: report.site_id, ...reportAnswer(report) }
  return previous === undefined ? answer : { ...answer, previous: reportAnswer(previous) }
}

const reportAnswer = (report: WindowReport) => ({
  ...report,
  ...isoRange(report),
  score: {
    ...report.score,
    recent: report.score.recent === null ? null : { ...report.score.recent, ...isoRange(report.score.recent) },
  },
  containers: report.containers.map(({ container_id, last_seen, clients }) => ({
    container_id,
    last_seen: isoTime(last_seen),
    clients: clients.map((client) => ({ ...client, last_seen: isoTime(client.last_seen) })),
  })),
  last_seen: isoTimeOrNull(report.last_seen),
})

export const timeseriesAnswer = (report: Timeseries) => ({
  ...report,
  ...isoRange(report),
  series: report.series.map(({ key, points }) => ({
    key,
    points: points.map((point) => ({ ...point, t: isoTime(point.t) })),
  })),
})

export const tagAnswer = (report: TagDetail) => ({
  ...report,
  ...isoRange(report),
  events_window: isoRange(report.events_window),
})

export const matrixAnswer = (report: Matrix) => ({ ...report, ...isoRange(report) })

export const fieldsAnswer = (report: OwnFields) => ({ ...report, ...isoRange(report) })

export const recentAnswer = ({ accepted, rejections }: Recent) => ({
  accepted: accepted.map(({ accepted_at, payload }) => ({ ...payload, accepted_at: isoTime(accepted_at) })),
  rejections: rejections.map((rejection) => ({ ...rejection, at: isoTime(rejection.at) })),
})

export const markersAnswer = (found: readonly Marker[]) =>
  found.map((marker) => ({ ...marker, at: isoTime(marker.at) }))
