import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { LATENCY_COLUMNS, OUTCOMES, type Outcome, RESPONSE_COLUMNS, type RollupTable } from '../../rollups/index.ts'
import { totalOf } from '../../store/index.ts'
import { ratio } from '../score.ts'
import { answered, refused } from '../signals.ts'
import { isOneOf, type SumRow, type Sums, totals } from '../sums.ts'
import { meantTag, rowsMeant } from '../tag-identity.ts'
import { bad, latency } from '../tag-report.ts'
import { type Cells, cellsBy, largestFirst, needsEventTags, type Series, seriesOf } from './plan.ts'
import { readBuckets, type SeriesContext } from './read.ts'

const BAD_OUTCOMES = ['failure', 'timeout', 'exception'] as const satisfies Outcome[]
const EXECUTION_COLUMNS = [...OUTCOMES, 'executions'] as const
type ExecutionSums = Sums<(typeof EXECUTION_COLUMNS)[number]>

const EXECUTION_MEASURES = totals(EXECUTION_COLUMNS)
/** Rows by event and tag come from per-event payloads, where each execution has one of the four outcomes. */
const EVENT_TAG_MEASURES = {
  ...totals(OUTCOMES),
  executions: sql<number>`${sql.join(
    OUTCOMES.map((outcome) => totalOf(outcome)),
    sql` + `,
  )}`,
}

/** Number of tag executions, or of those that failed in any way. */
export async function executionSeries(context: SeriesContext): Promise<Series[]> {
  const { starts } = context.buckets
  const { metric, group_by } = context.query
  const cells = needsEventTags(context.query)
    ? await tagCells(context, 'event_tag_rollups', EVENT_TAG_MEASURES)
    : await tagCells(context, 'tag_rollups', EXECUTION_MEASURES)
  if (group_by === 'outcome') {
    const outcomes = metric === 'failures' ? BAD_OUTCOMES : OUTCOMES
    const all = cells.get(metric) ?? []
    return outcomes.map((outcome) => seriesOf(outcome, starts, all, EXECUTION_COLUMNS, (sums) => sums[outcome]))
  }
  const value = metric === 'failures' ? bad : (sums: ExecutionSums) => sums.executions
  if (group_by === undefined) return [seriesOf(metric, starts, cells.get(metric) ?? [], EXECUTION_COLUMNS, value)]
  return largestFirst(Array.from(cells, ([key, ofKey]) => seriesOf(key, starts, ofKey, EXECUTION_COLUMNS, value)))
}

const LATENCY_SUMS = [...LATENCY_COLUMNS, 'total_ms', 'timed'] as const
const LATENCY_MEASURES = totals(LATENCY_SUMS)

const timed = (sums: { timed: number }): number => sums.timed

/** The figure that each series shows. */
const FIGURES = { p50: 'p50_ms', p95: 'p95_ms', p99: 'p99_ms', avg: 'avg_ms' } as const

/** Execution times in ms: percentiles and mean over all tags, or the 95th percentile of each tag. */
export async function latencySeries(context: SeriesContext): Promise<Series[]> {
  const { starts } = context.buckets
  const { metric, group_by } = context.query
  const cells = await tagCells(context, 'tag_rollups', LATENCY_MEASURES)
  if (group_by === 'tag_key') {
    return largestFirst(
      Array.from(cells, ([key, ofTag]) =>
        seriesOf(key, starts, ofTag, LATENCY_SUMS, (sums) => latency(sums).p95_ms, timed),
      ),
    )
  }
  const all = cells.get(metric) ?? []
  return Object.entries(FIGURES).map(([key, figure]) =>
    seriesOf(key, starts, all, LATENCY_SUMS, (sums) => latency(sums)[figure], timed),
  )
}

const RESPONSE_MEASURES = totals(RESPONSE_COLUMNS)

/** Share of the answered executions that vendors refused (0–1), over all tags or by tag; or the share of each class. */
export async function responseSeries(context: SeriesContext): Promise<Series[]> {
  const { starts } = context.buckets
  const { metric, group_by } = context.query
  const cells = await tagCells(context, 'tag_signal_rollups', RESPONSE_MEASURES)
  const share = (key: string, ofKey: string, part: (sums: Sums<(typeof RESPONSE_COLUMNS)[number]>) => number) =>
    seriesOf(
      key,
      starts,
      cells.get(ofKey) ?? [],
      RESPONSE_COLUMNS,
      (sums) => ratio(part(sums), answered(sums)),
      answered,
    )
  if (group_by === 'field') return RESPONSE_COLUMNS.map((column) => share(column, metric, (sums) => sums[column]))
  if (group_by === undefined) return [share(metric, metric, refused)]
  const isAnswered = (key: string) => (cells.get(key) ?? []).some((sums) => sums !== undefined && answered(sums) > 0)
  return largestFirst([...cells.keys()].filter(isAnswered).map((key) => share(key, key, refused)))
}

type KeyColumn = 'container_id' | 'tag_key' | 'event_name'

/** Sums of tag rows per bucket, by the key of their series: the tag's, the event's, or the metric itself. Applies the query's filters. */
async function tagCells<M extends string>(
  context: SeriesContext,
  table: Extract<RollupTable, 'tag_rollups' | 'event_tag_rollups' | 'tag_signal_rollups'>,
  measures: Readonly<Record<M, RawBuilder<number>>>,
): Promise<Map<string, Cells<M>>> {
  const { query, identity, buckets } = context
  const columns = Object.keys(measures) as M[]
  const tellsTags = query.group_by === 'tag_key' || query.tag_key !== undefined
  const tellsEvents = query.group_by === 'event_name'
  const by: KeyColumn[] = [
    ...(tellsTags ? (['container_id', 'tag_key'] as const) : []),
    ...(tellsEvents ? (['event_name'] as const) : []),
  ]
  const rows = await readBuckets(context, { table, by, measures, where: filterOf(context) })
  const tagOf = (row: Partial<SumRow<KeyColumn, M>>) => identity.keyOf(row.container_id ?? '', row.tag_key ?? '')
  const keyOf = (row: Partial<SumRow<KeyColumn, M>>) =>
    tellsEvents ? (row.event_name ?? '') : query.group_by === 'tag_key' ? tagOf(row) : query.metric
  if (query.tag_key === undefined) return cellsBy(rows, buckets.starts, columns, keyOf)
  const tags = new Set(rows.map(tagOf))
  const meant = meantTag(identity, query.tag_key, (key) => tags.has(key))
  const ofTag = rows.filter((row) => tagOf(row) === meant)
  return cellsBy(ofTag, buckets.starts, columns, keyOf)
}

function filterOf({ query, identity }: SeriesContext): RawBuilder<SqlBool> | undefined {
  const ofTag = query.tag_key === undefined ? undefined : rowsMeant(identity, query.tag_key)
  const filters = [
    ...(ofTag === undefined ? [] : [ofTag]),
    ...(query.event_name === undefined ? [] : [isOneOf('event_name', [query.event_name])]),
  ]
  return filters.length === 0 ? undefined : sql<SqlBool>`${sql.join(filters, sql` and `)}`
}
