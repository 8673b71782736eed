import { identityOf, type Snapshot, type Stretch, sumStretches, totals } from '../../analytics/index.ts'
import { floorTo, HOUR } from '../../lib/index.ts'
import { GRAIN, type TimeRange } from '../../rollups/index.ts'
import type { TagCounts, TagSignalCounts } from '../../store/index.ts'
import { SLOT, type Timeline } from './timeline.ts'

/** Counts of tags, by the table that holds them. */
interface TagTables {
  tag_rollups: keyof TagCounts
  tag_signal_rollups: keyof TagSignalCounts
}

type Column = TagTables[keyof TagTables]

/** Counts of one tag in one bucket. */
export type TagBucket<C extends Column> = TimeRange & Record<C, number>

export interface TagHistory<C extends Column> {
  /** In the buckets of the timeline, oldest first; those without executions are missing. */
  readonly recent: readonly TagBucket<C>[]
  /** In the other hours that were asked for, oldest first; likewise. */
  readonly earlier: readonly TagBucket<C>[]
}

/** What every tag did, by the key that it is reported under. */
export const readTagCounts = <C extends TagTables['tag_rollups']>(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
  columns: readonly C[],
  earlierHours: readonly TimeRange[] = [],
): Promise<Map<string, TagHistory<C>>> => readTagTable(snapshot, 'tag_rollups', timeline, end, columns, earlierHours)

/** What the events said on which every tag ran, likewise. */
export const readTagSignals = <C extends TagTables['tag_signal_rollups']>(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
  columns: readonly C[],
  earlierHours: readonly TimeRange[],
): Promise<Map<string, TagHistory<C>>> =>
  readTagTable(snapshot, 'tag_signal_rollups', timeline, end, columns, earlierHours)

async function readTagTable<T extends keyof TagTables, C extends TagTables[T]>(
  snapshot: Snapshot,
  table: T,
  timeline: Timeline,
  end: number,
  columns: readonly C[],
  earlierHours: readonly TimeRange[],
): Promise<Map<string, TagHistory<C>>> {
  const { buckets, slotsFrom } = timeline
  const recentFrom = buckets[0]?.from ?? end
  const stretches: Stretch[] = [
    ...earlierHours.map((range) => ({ ...range, coarsest: GRAIN.hour })),
    { from: recentFrom, to: slotsFrom, coarsest: GRAIN.hour },
    { from: slotsFrom, to: end, coarsest: GRAIN.minute },
  ]
  const rows = await sumStretches(snapshot, {
    table,
    stretches,
    by: ['container_id', 'tag_key'],
    measures: totals(columns),
    slots: { length: SLOT, end },
  })
  const { keyOf } = await identityOf(snapshot.db, snapshot.siteNo)
  const bucketOf = (at: number): TimeRange => {
    const hour = floorTo(at, HOUR)
    return (at < recentFrom ? undefined : buckets[timeline.indexAt(at)]) ?? { from: hour, to: hour + HOUR }
  }
  return new Map(
    Array.from(
      Map.groupBy(rows, (row) => keyOf(row.container_id, row.tag_key)),
      ([key, ofTag]) => {
        const summed = inOrder(ofTag, columns, bucketOf)
        return [
          key,
          {
            recent: summed.filter(({ from }) => from >= recentFrom),
            earlier: summed.filter(({ from }) => from < recentFrom),
          },
        ]
      },
    ),
  )
}

/** A bucket may have several rows: of containers, of minutes, of a tag's former names. */
function inOrder<C extends Column>(
  rows: readonly (Record<C, number> & { at: number })[],
  columns: readonly C[],
  bucketOf: (at: number) => TimeRange,
): TagBucket<C>[] {
  const summed = new Map<number, TagBucket<C>>()
  for (const row of rows) {
    const bucket = bucketOf(row.at)
    const known = summed.get(bucket.from)
    const sums = columns.map((column) => [column, row[column] + (known?.[column] ?? 0)])
    summed.set(bucket.from, { ...bucket, ...(Object.fromEntries(sums) as Record<C, number>) })
  }
  return [...summed.values()].sort((a, b) => a.from - b.from)
}
