import { NO_EVENT } from '../../rollups/index.ts'
import { totalOf } from '../../store/index.ts'
import { isOneOf } from '../sums.ts'
import { readBuckets, type SeriesContext } from './read.ts'
import { cellsBy, largestFirst, type Series, seriesOf } from './series.ts'

const COLUMNS = ['count'] as const

/** Number of events: in all, of one name, or of each name. */
export async function eventSeries(context: SeriesContext): Promise<Series[]> {
  const { buckets, query } = context
  // A batch's total and its counts by name are separate counters, see `EventCounts`.
  const byName = query.group_by === 'event_name' || query.event_name !== undefined
  const where = query.event_name === undefined ? undefined : isOneOf('event_name', [query.event_name])
  const measures = { count: totalOf(byName ? 'events' : 'total') }
  if (query.group_by !== 'event_name') {
    const rows = await readBuckets(context, { table: 'event_rollups', by: [], measures, where })
    const cells = cellsBy(rows, buckets.starts, COLUMNS, () => query.metric).get(query.metric) ?? []
    return [seriesOf(query.metric, buckets.starts, cells, COLUMNS, ({ count }) => count)]
  }
  const rows = await readBuckets(context, { table: 'event_rollups', by: ['event_name'], measures, where })
  const cells = cellsBy(rows, buckets.starts, COLUMNS, (row) => row.event_name)
  cells.delete(NO_EVENT)
  return largestFirst(
    Array.from(cells, ([name, ofName]) => seriesOf(name, buckets.starts, ofName, COLUMNS, ({ count }) => count)),
  )
}
