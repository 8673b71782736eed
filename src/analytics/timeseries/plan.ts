import { type Static, Type } from 'typebox'
import { invalidRequest } from '../../lib/index.ts'
import { type BucketName, bucketIndex } from '../buckets.ts'
import { addSums, type Sums, zeroSums } from '../sums.ts'
import { RANGE_PARAMS, type RangeQuery, rangeQuery } from '../window.ts'

export const METRICS = [
  'events',
  'executions',
  'failures',
  'latency',
  'user_data',
  'ecommerce',
  'consent',
  'identifiers',
  'validity',
  'responses',
  'fields',
  'score',
] as const
export type Metric = (typeof METRICS)[number]

export const GROUPS = ['event_name', 'tag_key', 'outcome', 'field'] as const
type Group = (typeof GROUPS)[number]

type Filter = 'event_name' | 'tag_key'

export interface TimeseriesQuery extends RangeQuery {
  metric: Metric
  bucket?: BucketName
  group_by?: Group
  event_name?: string
  tag_key?: string
  /** Only these of the grouping's series. */
  keys?: readonly string[]
}

/** As many series as a chart has room for, and more. */
const KEYS_MAX = 100

export const TimeseriesParams = Type.Object(
  {
    metric: Type.Enum([...METRICS], { description: 'What is counted; `value` of the answer says in which unit' }),
    ...RANGE_PARAMS,
    group_by: Type.Optional(
      Type.Enum([...GROUPS], {
        description:
          'One series each: `event_name` with events, executions, failures; `tag_key` with executions, failures, latency ' +
          '(then p95), responses; `outcome` with executions, failures; `field` with user_data, ecommerce, consent, identifiers, ' +
          'validity, responses, fields',
      }),
    ),
    event_name: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Only this event; for the metrics events, executions, failures, consent, identifiers, validity and fields',
      }),
    ),
    tag_key: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Only this tag; for the metrics executions, failures, latency and responses',
      }),
    ),
    keys: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: KEYS_MAX,
        description:
          'With group_by: only the series with these keys; repeat the parameter for several. Keys that do not exist are left out',
      }),
    ),
  },
  { additionalProperties: false },
)

type TimeseriesParams = Static<typeof TimeseriesParams>

/** Converts the request's parameters. */
export function timeseriesQuery({ from, to, hours, ...rest }: TimeseriesParams): TimeseriesQuery {
  return { ...rest, ...rangeQuery({ from, to, hours }) }
}

/** The groupings and filters of each metric. */
const ALLOWED: Readonly<Record<Metric, { groups: readonly Group[]; filters: readonly Filter[] }>> = {
  events: { groups: ['event_name'], filters: ['event_name'] },
  executions: { groups: ['event_name', 'tag_key', 'outcome'], filters: ['event_name', 'tag_key'] },
  failures: { groups: ['event_name', 'tag_key', 'outcome'], filters: ['event_name', 'tag_key'] },
  latency: { groups: ['tag_key'], filters: ['tag_key'] },
  user_data: { groups: ['field'], filters: [] },
  ecommerce: { groups: ['field'], filters: [] },
  consent: { groups: ['field'], filters: ['event_name'] },
  identifiers: { groups: ['field'], filters: ['event_name'] },
  validity: { groups: ['field'], filters: ['event_name'] },
  responses: { groups: ['field', 'tag_key'], filters: ['tag_key'] },
  fields: { groups: ['field'], filters: ['event_name'] },
  score: { groups: [], filters: [] },
}

/** @throws AppError `invalid_request` when the metric has no such grouping or filter, naming those it has */
export function requireAnswerable(query: TimeseriesQuery): void {
  const { metric, group_by } = query
  const { groups, filters } = ALLOWED[metric]
  if (group_by !== undefined && !groups.includes(group_by)) {
    throw invalidRequest(
      '/group_by',
      `${group_by} is not available for ${metric}: ${allowedText('can be grouped by', groups)}`,
    )
  }
  if (query.keys !== undefined && group_by === undefined) {
    throw invalidRequest('/keys', 'selects series of a grouping: add group_by')
  }
  for (const filter of ['event_name', 'tag_key'] as const) {
    if (query[filter] !== undefined && !filters.includes(filter)) {
      throw invalidRequest(`/${filter}`, `does not apply to ${metric}: ${allowedText('can be filtered by', filters)}`)
    }
  }
}

/** Whether the query needs `event_tag_rollups`, which are kept per hour and come from per-event payloads only. */
export const needsEventTags = (query: TimeseriesQuery): boolean =>
  (query.metric === 'executions' || query.metric === 'failures') &&
  (query.group_by === 'event_name' || query.event_name !== undefined)

const allowedText = (can: string, names: readonly string[]): string =>
  `it ${can} ${names.length === 0 ? 'nothing' : names.join(' or ')}`

export interface Point {
  /** Start of the bucket, epoch ms. */
  t: number
  value: number | null
  /** Events or executions that a rate or percentile is computed from. Readers ignore values with few. */
  base?: number
}

export interface Series {
  key: string
  points: Point[]
}

/** A key's sums per bucket; undefined where there are none. */
export type Cells<C extends string> = (Sums<C> | undefined)[]

/** Adds up rows by key and bucket. */
export function cellsBy<C extends string, R extends Sums<C> & { at: number }>(
  rows: readonly R[],
  starts: readonly number[],
  columns: readonly C[],
  keyOf: (row: R) => string,
): Map<string, Cells<C>> {
  const byKey = new Map<string, Cells<C>>()
  for (const row of rows) {
    const key = keyOf(row)
    const cells = byKey.get(key) ?? []
    byKey.set(key, cells)
    const index = bucketIndex(starts, row.at)
    const sums = cells[index] ?? zeroSums(columns)
    addSums(sums, row, columns)
    cells[index] = sums
  }
  return byKey
}

/** A point for every bucket, also where nothing was counted. */
export function seriesOf<C extends string>(
  key: string,
  starts: readonly number[],
  cells: Cells<C>,
  columns: readonly C[],
  value: (sums: Sums<C>) => number | null,
  base?: (sums: Sums<C>) => number,
): Series {
  const none = zeroSums(columns)
  return {
    key,
    points: starts.map((t, index) => {
      const sums = cells[index] ?? none
      return { t, value: value(sums), ...(base !== undefined && { base: base(sums) }) }
    }),
  }
}

/** Sorts the series with the largest sum first, as a legend lists them. */
export function largestFirst(series: readonly Series[]): Series[] {
  const sums = new Map(series.map((one) => [one, one.points.reduce((sum, point) => sum + (point.value ?? 0), 0)]))
  return series.toSorted((a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0) || (a.key < b.key ? -1 : 1))
}
