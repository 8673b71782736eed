import { NO_EVENT } from '../../rollups/index.ts'
import { type EventCounts, totalOf } from '../../store/index.ts'
import { bucketIndex } from '../buckets.ts'
import {
  ECOMMERCE_FIELDS,
  type EcommerceField,
  ecommerceScore,
  ratio,
  score,
  USER_DATA_FIELDS,
  type UserDataField,
  userDataScore,
} from '../score.ts'
import {
  carriedCounts,
  carriersOf,
  SCORE_EVENT_COLUMNS,
  SCORE_EVENT_MEASURES,
  SCORE_TAG_COLUMNS,
  SCORE_TAG_MEASURES,
  scoreCounts,
} from '../score-counts.ts'
import { isOneOf, sumBy, totals } from '../sums.ts'
import { cellsBy, largestFirst, type Series, seriesOf } from './plan.ts'
import { readBuckets, type SeriesContext } from './read.ts'

const EVENT_COLUMNS = ['count'] as const

/** Number of events: in total, of one name, or of each name. */
export async function eventSeries(context: SeriesContext): Promise<Series[]> {
  const { buckets, query } = context
  // A batch's total and its counts by name are separate counters, see `EventCounts`.
  const byName = query.group_by === 'event_name' || query.event_name !== undefined
  const where = query.event_name === undefined ? undefined : isOneOf('event_name', [query.event_name])
  const measures = { count: totalOf(byName ? 'events' : 'total') }
  if (query.group_by !== 'event_name') {
    const rows = await readBuckets(context, { table: 'event_rollups', by: [], measures, where })
    const cells = cellsBy(rows, buckets.starts, EVENT_COLUMNS, () => query.metric).get(query.metric) ?? []
    return [seriesOf(query.metric, buckets.starts, cells, EVENT_COLUMNS, ({ count }) => count)]
  }
  const rows = await readBuckets(context, { table: 'event_rollups', by: ['event_name'], measures, where })
  const cells = cellsBy(rows, buckets.starts, EVENT_COLUMNS, (row) => row.event_name)
  cells.delete(NO_EVENT)
  return largestFirst(
    Array.from(cells, ([name, ofName]) => seriesOf(name, buckets.starts, ofName, EVENT_COLUMNS, ({ count }) => count)),
  )
}

/** Presence of user-data or e-commerce fields: the sub-score (0–100), or the rate of each field (0–1). */
export async function qualitySeries(context: SeriesContext): Promise<Series[]> {
  const { query } = context
  if (query.group_by === 'field') {
    return query.metric === 'user_data' ? userDataSeries(context) : ecommerceSeries(context)
  }
  const { at, carriers } = await scoreEvents(context)
  const part = query.metric === 'user_data' ? 'user_data' : 'ecommerce'
  const points = context.buckets.starts.map((t, index) => {
    const counts = carriedCounts(at(index), carriers)
    const value = part === 'user_data' ? userDataScore(counts.user_data) : ecommerceScore(counts.ecommerce)
    return { t, value, base: Math.max(...Object.values(counts[part]).map(({ total }) => total)) }
  })
  return [{ key: query.metric, points }]
}

/** The overall score of each bucket, null where there were too few events. Not capped, as today's alerts are no evidence about the past. */
export async function scoreSeries(context: SeriesContext): Promise<Series[]> {
  const { starts } = context.buckets
  const { at, carriers } = await scoreEvents(context)
  const tagRows = await readBuckets(context, {
    table: 'tag_rollups',
    by: ['container_id', 'tag_key'],
    measures: SCORE_TAG_MEASURES,
  })
  const tagsAt = Map.groupBy(tagRows, (row) => bucketIndex(starts, row.at))
  const tagSumsAt = (index: number) =>
    sumBy(tagsAt.get(index) ?? [], SCORE_TAG_COLUMNS, (row) => context.identity.keyOf(row.container_id, row.tag_key))
  const points = starts.map((t, index) => {
    const counts = scoreCounts(at(index), tagSumsAt(index), carriers)
    return { t, value: score(counts).overall, base: counts.events }
  })
  return [{ key: context.query.metric, points }]
}

const ALL = ''

/** Sums by name in each bucket, and the events' carriers over the whole window, because single minutes are too short to tell. */
async function scoreEvents(context: SeriesContext) {
  const { starts } = context.buckets
  const rows = await readBuckets(context, {
    table: 'event_rollups',
    by: ['event_name'],
    measures: SCORE_EVENT_MEASURES,
  })
  const sumsOf = (some: typeof rows) => sumBy(some, SCORE_EVENT_COLUMNS, (row) => row.event_name)
  const inBuckets = Map.groupBy(rows, (row) => bucketIndex(starts, row.at))
  return { at: (index: number) => sumsOf(inBuckets.get(index) ?? []), carriers: carriersOf(sumsOf(rows)) }
}

const JUDGED_FIELDS = ['email', 'phone', 'address'] as const

/** Fields in the score count as it does, so that a line can be compared with its target; one that no event carries, over all events. */
async function userDataSeries(context: SeriesContext): Promise<Series[]> {
  const { starts } = context.buckets
  const { at, carriers } = await scoreEvents(context)
  const carried = starts.map((_, index) => carriedCounts(at(index), carriers).user_data)
  const judged = JUDGED_FIELDS.map((field) => {
    const isCarried = carried.some((counts) => counts[field].total > 0)
    const points = starts.map((t, index) => {
      const all = isCarried ? [] : [...at(index).values()]
      const { present, total } = all.reduce(
        (sum, sums) => ({ present: sum.present + sums[field], total: sum.total + sums.user_data_total }),
        carried[index]?.[field] ?? { present: 0, total: 0 },
      )
      return { t, value: ratio(present, total), base: total }
    })
    return { key: field, points }
  })
  return [...judged, ...(await detailSeries(context))]
}

/** Only events that were sent one by one report these fields. */
async function detailSeries(context: SeriesContext): Promise<Series[]> {
  const { starts } = context.buckets
  const names = (Object.keys(USER_DATA_FIELDS) as UserDataField[]).filter((name) => !isJudged(name))
  const columns = [...names, 'user_data_detail_total'] as const
  const rows = await readBuckets(context, { table: 'event_rollups', by: [], measures: totals(columns) })
  const cells = cellsBy(rows, starts, columns, () => ALL).get(ALL) ?? []
  const base = (sums: Pick<EventCounts, 'user_data_detail_total'>) => sums.user_data_detail_total
  return names.map((field) => seriesOf(field, starts, cells, columns, (sums) => ratio(sums[field], base(sums)), base))
}

const isJudged = (field: UserDataField): boolean => (JUDGED_FIELDS as readonly string[]).includes(field)

/** Counts as the score does, so that a line can be compared with its target: not every event carries a transaction id. */
async function ecommerceSeries(context: SeriesContext): Promise<Series[]> {
  const { at, carriers } = await scoreEvents(context)
  const counts = context.buckets.starts.map((t, index) => ({ t, ...carriedCounts(at(index), carriers) }))
  return (Object.keys(ECOMMERCE_FIELDS) as EcommerceField[]).map((field) => ({
    key: field,
    points: counts.map(({ t, ecommerce }) => {
      const { present, total } = ecommerce[field]
      return { t, value: ratio(present, total), base: total }
    }),
  }))
}
