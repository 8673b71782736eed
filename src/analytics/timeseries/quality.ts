import type { EventCounts } from '../../store/index.ts'
import { bucketIndex } from '../buckets.ts'
import { sumBy, zeroSums } from '../merge.ts'
import { ECOMMERCE_FIELDS, type EcommerceField, ratio, USER_DATA_FIELDS, type UserDataField } from '../presence.ts'
import { ecommerceScore, score, userDataScore } from '../score.ts'
import {
  qualityCounts,
  SCORE_EVENT_COLUMNS,
  SCORE_EVENT_MEASURES,
  SCORE_TAG_COLUMNS,
  SCORE_TAG_MEASURES,
  scoreCounts,
} from '../score-counts.ts'
import { totals } from '../sums.ts'
import { readBuckets, type SeriesContext } from './read.ts'
import { type Cells, cellsBy, type Series, seriesOf } from './series.ts'

/** Presence of user-data or e-commerce fields: the sub-score (0–100), or the rate of each field (0–1). */
export async function qualitySeries(context: SeriesContext): Promise<Series[]> {
  const { query } = context
  if (query.group_by === 'field') {
    return query.metric === 'user_data' ? userDataSeries(context) : ecommerceSeries(context)
  }
  const cells = await scoreEventCells(context)
  return [
    seriesOf(
      query.metric,
      context.buckets.starts,
      cells,
      SCORE_EVENT_COLUMNS,
      (sums) => {
        const counts = qualityCounts(sums)
        return query.metric === 'user_data' ? userDataScore(counts.user_data) : ecommerceScore(counts.ecommerce)
      },
      (sums) => (query.metric === 'user_data' ? sums.user_data_total : sums.ecommerce_total),
    ),
  ]
}

/** The overall score of each bucket, null where there were too few events. Alerts of today cap no past. */
export async function scoreSeries(context: SeriesContext): Promise<Series[]> {
  const { starts } = context.buckets
  const events = await scoreEventCells(context)
  const tagRows = await readBuckets(context, {
    table: 'tag_rollups',
    by: ['container_id', 'tag_key'],
    measures: SCORE_TAG_MEASURES,
  })
  const tagsAt = Map.groupBy(tagRows, (row) => bucketIndex(starts, row.at))
  const tagSumsAt = (index: number) =>
    sumBy(tagsAt.get(index) ?? [], SCORE_TAG_COLUMNS, (row) => context.identity.keyOf(row.container_id, row.tag_key))
  const noEvents = zeroSums(SCORE_EVENT_COLUMNS)
  return [
    {
      key: context.query.metric,
      points: starts.map((t, index) => ({
        t,
        value: score(scoreCounts(events[index] ?? noEvents, tagSumsAt(index))).overall,
        base: (events[index] ?? noEvents).total,
      })),
    },
  ]
}

const ALL = ''

async function scoreEventCells(context: SeriesContext): Promise<Cells<(typeof SCORE_EVENT_COLUMNS)[number]>> {
  const rows = await readBuckets(context, { table: 'event_rollups', by: [], measures: SCORE_EVENT_MEASURES })
  return cellsBy(rows, context.buckets.starts, SCORE_EVENT_COLUMNS, () => ALL).get(ALL) ?? []
}

async function userDataSeries(context: SeriesContext): Promise<Series[]> {
  const { starts } = context.buckets
  const names = Object.keys(USER_DATA_FIELDS) as UserDataField[]
  const columns = [...new Set<keyof EventCounts>([...names, ...Object.values(USER_DATA_FIELDS)])]
  const rows = await readBuckets(context, { table: 'event_rollups', by: [], measures: totals(columns) })
  const cells = cellsBy(rows, starts, columns, () => ALL).get(ALL) ?? []
  return names.map((field) =>
    seriesOf(
      field,
      starts,
      cells,
      columns,
      (sums) => ratio(sums[field], sums[USER_DATA_FIELDS[field]]),
      (sums) => sums[USER_DATA_FIELDS[field]],
    ),
  )
}

/** As the score counts, so that a line can be held against its target: only some events bear a transaction id. */
const ECOMMERCE_BASES = { ...ECOMMERCE_FIELDS, transaction_id: 'transaction_total' } as const

async function ecommerceSeries(context: SeriesContext): Promise<Series[]> {
  const cells = await scoreEventCells(context)
  return (Object.keys(ECOMMERCE_BASES) as EcommerceField[]).map((field) =>
    seriesOf(
      field,
      context.buckets.starts,
      cells,
      SCORE_EVENT_COLUMNS,
      (sums) => ratio(sums[field], sums[ECOMMERCE_BASES[field]]),
      (sums) => sums[ECOMMERCE_BASES[field]],
    ),
  )
}
