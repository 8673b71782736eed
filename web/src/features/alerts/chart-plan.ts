import type { Cut, TimeseriesAnswer } from '../../api/analytics.ts'
import { compact, percent } from '../../lib/words.ts'
import type { TimeSeries } from '../../ui/chart/points.ts'
import { fieldName, milliseconds } from '../site/words.ts'

/** Which figures show the cause of an alert, and how to draw them. */
export interface ChartPlan {
  title: string
  cuts: readonly Cut[]
  /** The series to draw, from the answers in the order of the cuts. */
  draw: (answers: readonly TimeseriesAnswer[]) => TimeSeries[]
  kind: 'bars' | 'lines'
  format?: (value: number) => string
  /** What the figures cannot exceed. */
  most?: number
  /** What would have passed, in the unit of the figures; null without such a bound. */
  band: { low: number | null; high: number | null }
  expected: number | null
  /** The one event that the figures are about. */
  event_name?: string
}

/** The plan for a finding of a data probe; null for probes that ask the target instead. */
export function chartPlan(probeType: string, finding: DataFinding, bucketMinutes: number): ChartPlan | null {
  const { subject, band, expected } = finding
  const { tag_key = '', event_name } = subject
  const common = { band, expected }
  switch (probeType) {
    case 'tag_failure_rate':
      return {
        ...common,
        title: `Failure rate of ${tag_key}`,
        ...shareOf('Failure rate', { metric: 'failures', tag_key }, { metric: 'executions', tag_key }),
      }
    case 'vendor_status':
      return {
        ...common,
        title: `Share of refused executions of ${tag_key}`,
        cuts: [{ metric: 'responses', tag_key }],
        draw: ([answer]) => only(answer, 'responses', 'Refused', '--series-1'),
        kind: 'lines',
        format: percent,
        most: 1,
      }
    case 'tag_latency':
      return {
        ...common,
        title: `Execution time of ${tag_key}`,
        cuts: [{ metric: 'latency', tag_key }],
        draw: ([answer]) =>
          only(answer, 'p95', '95th percentile', '--series-1').concat(only(answer, 'p50', 'Median', '--series-other')),
        kind: 'lines',
        format: milliseconds,
      }
    case 'tag_missing':
      return {
        ...common,
        title: `Share of ${event_name ?? 'the'} events on which ${tag_key} ran, by the ${bucketMinutes > 60 ? 'day' : 'hour'}`,
        ...shareOf(
          'Share with the tag',
          { metric: 'executions', tag_key, ...named(event_name) },
          { metric: 'events', ...named(event_name) },
        ),
      }
    case 'user_data_quality':
    case 'ecommerce_quality':
      return { ...common, ...qualityPlan(probeType === 'user_data_quality' ? 'user_data' : 'ecommerce', subject.field) }
    case 'consent_signals':
      return consentPlan(common, subject.field, tag_key)
    case 'duplicates':
    case 'value_quality':
    case 'identifier_quality':
      return { ...common, ...signalPlan(subject.field ?? '', event_name) }
    case 'field_contract':
      return { ...common, ...ownFieldPlan(subject.field ?? '', event_name) }
    case 'data_volume':
    case 'data_freshness':
    case 'warehouse_events':
    case 'reconciliation':
      return {
        title: event_name === undefined ? 'Events' : `${event_name} events`,
        ...named(event_name),
        cuts: [{ metric: 'events', ...named(event_name) }],
        draw: ([answer]) => only(answer, 'events', event_name ?? 'Events', '--series-1'),
        kind: 'bars',
        format: (value) => compact(Math.round(value)),
        ...(probeType === 'data_volume' ? perBucket(finding, bucketMinutes) : { band: NO_BAND, expected: null }),
      }
    default:
      return null
  }
}

/** Counts by tag and event are hourly for nine weeks, then daily. A week less, because a chart begins up to a week before its alert. */
const PAIR_HOURS_MS = 8 * 7 * 24 * 60 * 60_000

/**
 * The time span of one judgement, minutes: shorter buckets would show noise.
 *
 * @param age since the alert began, ms
 */
export function judgedMinutes(probeType: string, finding: DataFinding | null, age: number): number {
  if (probeType === 'tag_missing') return age < PAIR_HOURS_MS ? 60 : 24 * 60
  const minutes = finding?.evidence.window_minutes
  return typeof minutes === 'number' ? minutes : 0
}

const NO_BAND = { low: null, high: null }

function qualityPlan(metric: 'user_data' | 'ecommerce', field: string | undefined) {
  const what = metric === 'user_data' ? 'user data' : 'e-commerce data'
  const token = '--series-1'
  if (field === undefined) {
    return {
      title: `Score of ${what}, 0 to 100`,
      cuts: [{ metric }],
      draw: ([answer]: readonly TimeseriesAnswer[]) => only(answer, metric, 'Score', token),
      kind: 'lines' as const,
      format: (value: number) => String(Math.round(value)),
      most: 100,
    }
  }
  return {
    title: `Share of events with ${fieldName(field)}`,
    cuts: [{ metric, group_by: 'field' as const }],
    draw: ([answer]: readonly TimeseriesAnswer[]) => only(answer, field, fieldName(field), token),
    kind: 'lines' as const,
    format: percent,
    most: 1,
  }
}

/** Faults are a share of the commerce events, identifiers one of all. */
const FAULTS: readonly string[] = [
  'value_zero',
  'value_invalid',
  'currency_invalid',
  'transaction_duplicate',
  'items_empty',
]

function signalPlan(field: string, event_name: string | undefined) {
  const metric = FAULTS.includes(field) ? ('validity' as const) : ('identifiers' as const)
  return {
    title: `Share of ${event_name ?? 'the'} events with ${fieldName(field)}`,
    ...named(event_name),
    cuts: [{ metric, group_by: 'field' as const, ...named(event_name) }],
    draw: ([answer]: readonly TimeseriesAnswer[]) => only(answer, field, fieldName(field), '--series-1'),
    kind: 'lines' as const,
    format: percent,
    most: 1,
  }
}

/** Parameters have names that people chose, which are shown unchanged. */
function ownFieldPlan(field: string, event_name: string | undefined) {
  return {
    title: `Share of ${event_name ?? 'the'} events with ${field}`,
    ...named(event_name),
    cuts: [{ metric: 'fields' as const, group_by: 'field' as const, keys: [field], ...named(event_name) }],
    draw: ([answer]: readonly TimeseriesAnswer[]) => only(answer, field, field, '--series-1'),
    kind: 'lines' as const,
    format: percent,
    most: 1,
  }
}

/** The share of events behind each figure of the probe. */
const CONSENT_SHARES: Readonly<Record<string, { key: string; name: string }>> = {
  update: { key: 'never_updated', name: 'Never updated' },
  ad_storage: { key: 'ad_storage_granted', name: 'Ads granted' },
  analytics_storage: { key: 'analytics_storage_granted', name: 'Analytics granted' },
  refusal: { key: 'ad_storage_denied', name: 'Ads denied' },
}

/** Executions of a tag without consent are not kept over time, so the chart shows the consent on events. */
function consentPlan(
  common: Pick<ChartPlan, 'band' | 'expected'>,
  field: string | undefined,
  tagKey: string,
): ChartPlan {
  const share = CONSENT_SHARES[field ?? (tagKey === '' ? '' : 'refusal')]
  const plan = { ...common, kind: 'lines' as const, format: percent, most: 1 }
  if (share === undefined) {
    return {
      ...plan,
      title: 'Share of events with a consent signal',
      cuts: [{ metric: 'consent' }],
      draw: ([answer]) => only(answer, 'consent', 'With a signal', '--series-1'),
    }
  }
  const { key, name } = share
  // No band: the probe judges only events with a consent signal, while the lines are shares of all events.
  return {
    ...plan,
    band: NO_BAND,
    expected: null,
    title: `Share of events: ${name.toLowerCase()}`,
    cuts: [{ metric: 'consent', group_by: 'field' }],
    draw: ([answer]) => only(answer, key, name, '--series-1'),
  }
}

/** Converts the finding from the length of its window to that of a bucket. */
function perBucket({ band, expected, evidence }: DataFinding, bucketMinutes: number) {
  const minutes = evidence.window_minutes
  if (typeof minutes !== 'number' || minutes <= 0) return { band: NO_BAND, expected: null }
  const scaled = (value: number | null) => (value === null ? null : (value * bucketMinutes) / minutes)
  return { band: { low: scaled(band.low), high: scaled(band.high) }, expected: scaled(expected) }
}

const named = (event_name: string | undefined) => (event_name === undefined ? {} : { event_name })

/** One series under a name for people. */
function only(answer: TimeseriesAnswer | undefined, key: string, name: string, token: string): TimeSeries[] {
  const found = answer?.series.find((series) => series.key === key)
  return found === undefined ? [] : [{ key: name, points: found.points, token }]
}

/** One figure as a share of another; a gap when the other is 0. */
export function shareOf(
  name: string,
  part: Cut,
  whole: Cut,
): Pick<ChartPlan, 'cuts' | 'draw' | 'kind' | 'format' | 'most'> {
  return {
    cuts: [part, whole],
    kind: 'lines',
    format: percent,
    most: 1,
    draw([parts, wholes]) {
      const of = new Map(parts?.series[0]?.points.map(({ t, value }) => [t, value]))
      // Old counts of tags by event are daily. Leave out days of which the other side has only a part.
      const [first, last] = [wholes?.from === parts?.from ? 0 : 1, wholes?.to === parts?.to ? undefined : -1]
      const points = (wholes?.series[0]?.points ?? []).slice(first, last)
      return [
        {
          key: name,
          token: '--series-1',
          points: points.map(({ t, value }) => ({ t, value: shareAt(of.get(t), value), base: value ?? 0 })),
        },
      ]
    },
  }
}

/** Null when nothing was counted or one of the two is unknown. */
const shareAt = (part: number | null | undefined, whole: number | null): number | null =>
  typeof part !== 'number' || !whole ? null : Math.min(1, part / whole)

/** The judgement of one subject, which a data probe writes into the details of its results. */
interface DataFinding {
  subject: { event_name?: string; tag_key?: string; field?: string }
  status: string
  measured: number | null
  expected: number | null
  band: { low: number | null; high: number | null }
  evidence: Readonly<Record<string, unknown>>
}

type Fields = Readonly<Record<string, unknown>>

/** The worst finding in an alert's details; null when its probe does not judge data. */
export const findingIn = (details: Fields): DataFinding | null => findingsIn(details)[0] ?? null

/** The findings in the details of an alert or a result, the worst first; none when its probe does not judge data. */
export function findingsIn({ findings }: Fields): DataFinding[] {
  return (Array.isArray(findings) ? (findings as unknown[]) : []).flatMap((each) => {
    const fields = objectIn(each)
    if (!('band' in fields)) return []
    const { subject, status, band } = fields
    return [
      {
        subject: textsIn(subject),
        status: typeof status === 'string' ? status : '',
        measured: numberIn(fields.measured),
        expected: numberIn(fields.expected),
        band: { low: numberIn(objectIn(band).low), high: numberIn(objectIn(band).high) },
        evidence: objectIn(fields.evidence),
      },
    ]
  })
}

const objectIn = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null)

const textsIn = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(objectIn(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
