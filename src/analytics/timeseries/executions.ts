import { sql } from 'kysely'
import { OUTCOMES, type Outcome } from '../../rollups/index.ts'
import { totalOf } from '../../store/index.ts'
import type { Sums } from '../merge.ts'
import { totals } from '../sums.ts'
import { bad } from '../tag-report.ts'
import { needsEventTags } from './plan.ts'
import type { SeriesContext } from './read.ts'
import { largestFirst, type Series, seriesOf } from './series.ts'
import { tagCells } from './tag-rows.ts'

const BAD_OUTCOMES = ['failure', 'timeout', 'exception'] as const satisfies Outcome[]
const COLUMNS = [...OUTCOMES, 'executions'] as const
type ExecutionSums = Sums<(typeof COLUMNS)[number]>

const MEASURES = totals(COLUMNS)
/** Rows per event and tag come from per-event payloads, where each execution has one of the four outcomes. */
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
    : await tagCells(context, 'tag_rollups', MEASURES)
  if (group_by === 'outcome') {
    const outcomes = metric === 'failures' ? BAD_OUTCOMES : OUTCOMES
    const all = cells.get(metric) ?? []
    return outcomes.map((outcome) => seriesOf(outcome, starts, all, COLUMNS, (sums) => sums[outcome]))
  }
  const value = metric === 'failures' ? bad : (sums: ExecutionSums) => sums.executions
  if (group_by === undefined) return [seriesOf(metric, starts, cells.get(metric) ?? [], COLUMNS, value)]
  return largestFirst(Array.from(cells, ([key, ofKey]) => seriesOf(key, starts, ofKey, COLUMNS, value)))
}
