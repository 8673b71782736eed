import {
  addSums,
  identityOf,
  type Snapshot,
  type Stretch,
  type Sums,
  sumStretches,
  zeroSums,
} from '../../analytics/index.ts'
import { floorTo, HOUR, Yielder } from '../../lib/index.ts'
import { GRAIN, type TimeRange } from '../../rollups/index.ts'
import type { TagCounts, TagSignalCounts } from '../../store/index.ts'
import { readStretches, SLOT, type Timeline } from './timeline.ts'

/** Rows summed without yielding: 1 ms. A site may have 500 tags. */
const ROWS_PER_TURN = 500

/** Counts of tags, by their table. */
interface TagTables {
  tag_rollups: keyof TagCounts
  tag_signal_rollups: keyof TagSignalCounts
}

type Column = TagTables[keyof TagTables]

/** Counts of one tag in one bucket. */
export type TagBucket<C extends Column> = TimeRange & Record<C, number>

/** Counts of every tag by its reported key, in the buckets of the timeline, oldest first. Buckets without executions are missing. */
export const readTagCounts = <C extends TagTables['tag_rollups']>(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
  columns: readonly C[],
): Promise<Map<string, TagBucket<C>[]>> => readTimeline(snapshot, 'tag_rollups', timeline, end, columns)

/** The same for the signals of the events that every tag ran on. */
export const readTagSignals = <C extends TagTables['tag_signal_rollups']>(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
  columns: readonly C[],
): Promise<Map<string, TagBucket<C>[]>> => readTimeline(snapshot, 'tag_signal_rollups', timeline, end, columns)

/** The same in whole UTC hours, all of them long past. */
export function readTagHours<T extends keyof TagTables, C extends TagTables[T]>(
  snapshot: Snapshot,
  table: T,
  ranges: readonly TimeRange[],
  columns: readonly C[],
): Promise<Map<string, TagBucket<C>[]>> {
  const stretches = ranges.map((range) => ({ ...range, coarsest: GRAIN.hour }))
  const bucketOf = (at: number): TimeRange => {
    const hour = floorTo(at, HOUR)
    return { from: hour, to: hour + HOUR }
  }
  return readTags(snapshot, table, stretches, columns, { length: HOUR, end: 0 }, bucketOf)
}

function readTimeline<T extends keyof TagTables, C extends TagTables[T]>(
  snapshot: Snapshot,
  table: T,
  timeline: Timeline,
  end: number,
  columns: readonly C[],
): Promise<Map<string, TagBucket<C>[]>> {
  const bucketOf = (at: number): TimeRange => timeline.buckets[timeline.indexAt(at)] ?? { from: at, to: at + SLOT }
  return readTags(snapshot, table, readStretches(timeline, end), columns, { length: SLOT, end }, bucketOf)
}

async function readTags<T extends keyof TagTables, C extends TagTables[T]>(
  snapshot: Snapshot,
  table: T,
  stretches: readonly Stretch[],
  columns: readonly C[],
  slots: { length: number; end: number },
  bucketOf: (at: number) => TimeRange,
): Promise<Map<string, TagBucket<C>[]>> {
  const by = ['container_id', 'tag_key'] as const
  const rows = await sumStretches(snapshot, { table, stretches, by, columns, slots })
  const { keyOf } = await identityOf(snapshot.db, snapshot.siteNo)
  const byTag = Map.groupBy(rows, (row) => keyOf(row.container_id, row.tag_key))
  const tags = new Map<string, TagBucket<C>[]>()
  const others = new Yielder(ROWS_PER_TURN)
  for (const [key, ofTag] of byTag) {
    tags.set(key, inOrder(ofTag, columns, bucketOf))
    await others.spend(ofTag.length)
  }
  return tags
}

/** A bucket may have several rows: of several containers, of its minutes, of a tag's former names. */
function inOrder<C extends Column>(
  rows: readonly (Record<C, number> & { at: number })[],
  columns: readonly C[],
  bucketOf: (at: number) => TimeRange,
): TagBucket<C>[] {
  const summed = new Map<number, TimeRange & Sums<C>>()
  for (const row of rows) {
    const bucket = bucketOf(row.at)
    const known = summed.get(bucket.from) ?? { ...bucket, ...zeroSums(columns) }
    addSums<C>(known, row, columns)
    summed.set(bucket.from, known)
  }
  return [...summed.values()].sort((a, b) => a.from - b.from)
}
