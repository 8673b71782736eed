import { FIELD_COLUMNS } from '../../rollups/index.ts'
import { ratio } from '../score.ts'
import { isOneOf, totals } from '../sums.ts'
import { type Cells, cellsBy, type Series, seriesOf } from './plan.ts'
import { readBuckets, type SeriesContext } from './read.ts'

/** Share of the events (0–1) on which parameters of the site's own were there: of all of them together, or of each. */
export async function ownFieldSeries(context: SeriesContext): Promise<Series[]> {
  const { query, buckets } = context
  const where = query.event_name === undefined ? undefined : isOneOf('event_name', [query.event_name])
  const measures = totals(FIELD_COLUMNS)
  const share = (key: string, cells: Cells<(typeof FIELD_COLUMNS)[number]> = []) =>
    seriesOf(
      key,
      buckets.starts,
      cells,
      FIELD_COLUMNS,
      ({ present, total }) => ratio(present, total),
      ({ total }) => total,
    )
  if (query.group_by !== 'field') {
    const rows = await readBuckets(context, { table: 'field_rollups', by: [], measures, where })
    return [share(query.metric, cellsBy(rows, buckets.starts, FIELD_COLUMNS, () => query.metric).get(query.metric))]
  }
  const rows = await readBuckets(context, { table: 'field_rollups', by: ['field'], measures, where })
  const cells = cellsBy(rows, buckets.starts, FIELD_COLUMNS, ({ field }) => field)
  return [...cells.keys()].sort().map((field) => share(field, cells.get(field)))
}
