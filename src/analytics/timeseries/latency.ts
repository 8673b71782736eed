import { LATENCY_COLUMNS } from '../../rollups/index.ts'
import { totals } from '../sums.ts'
import { latency } from '../tag-report.ts'
import type { SeriesContext } from './read.ts'
import { largestFirst, type Series, seriesOf } from './series.ts'
import { tagCells } from './tag-rows.ts'

const COLUMNS = [...LATENCY_COLUMNS, 'total_ms', 'timed'] as const
const MEASURES = totals(COLUMNS)

const timed = (sums: { timed: number }): number => sums.timed

/** Which figure of the latency each series shows. */
const FIGURES = { p50: 'p50_ms', p95: 'p95_ms', p99: 'p99_ms', avg: 'avg_ms' } as const

/** Execution times in ms: percentiles and mean over all tags, or the 95th percentile of each tag. */
export async function latencySeries(context: SeriesContext): Promise<Series[]> {
  const { starts } = context.buckets
  const { metric, group_by } = context.query
  const cells = await tagCells(context, 'tag_rollups', MEASURES)
  if (group_by === 'tag_key') {
    return largestFirst(
      Array.from(cells, ([key, ofTag]) => seriesOf(key, starts, ofTag, COLUMNS, (sums) => latency(sums).p95_ms, timed)),
    )
  }
  const all = cells.get(metric) ?? []
  return Object.entries(FIGURES).map(([key, figure]) =>
    seriesOf(key, starts, all, COLUMNS, (sums) => latency(sums)[figure], timed),
  )
}
