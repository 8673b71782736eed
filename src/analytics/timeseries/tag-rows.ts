import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { RollupTable } from '../../rollups/index.ts'
import { isOneOf, type SumRow } from '../sums.ts'
import { meantTag, rawKeysMeant } from '../tag-identity.ts'
import { readBuckets, type SeriesContext } from './read.ts'
import { type Cells, cellsBy } from './series.ts'

type KeyColumn = 'container_id' | 'tag_key' | 'event_name'

/**
 * Sums of tag rows per bucket, under the key of the series they belong to: the tag's, the event's, or the metric itself.
 * The query's filters are applied.
 */
export async function tagCells<M extends string>(
  context: SeriesContext,
  table: Exclude<RollupTable, 'event_rollups'>,
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
  const filters = [
    ...(query.tag_key === undefined ? [] : [isOneOf('tag_key', rawKeysMeant(identity, query.tag_key))]),
    ...(query.event_name === undefined ? [] : [isOneOf('event_name', [query.event_name])]),
  ]
  return filters.length === 0 ? undefined : sql<SqlBool>`${sql.join(filters, sql` and `)}`
}
