import {
  COUNT_COLUMNS,
  minuteParts,
  NAME_COLUMNS,
  newPart,
  type RollupTable,
  SECTIONS,
} from '../../src/rollups/index.ts'
import { type BatchOperation, packRows, type SqlValue, type UpsertSpec } from '../../src/store/index.ts'

/** How rows of one grain are written. The service derives them within the engine; only who makes up a past sends them. */
export const rollupRows = (table: RollupTable): UpsertSpec => ({
  table,
  keys: ['site_no', 'grain', 'bucket', 'container_id', ...NAME_COLUMNS[table]],
  sums: COUNT_COLUMNS[table],
  maxima: [],
  fixed: [],
})

/** Counts in the order of their table's columns, under the names that tell its rows apart. */
export interface NamedCounts {
  names: readonly string[]
  counts: readonly number[]
}

/** What one container counted in one minute. */
export type MinuteCounts = Partial<Record<RollupTable, readonly NamedCounts[]>>

/** The sections of a part, in the order of `SECTION_ORDER`. */
export const sectionsOf = (counts: MinuteCounts): (string | null)[] =>
  (Object.keys(SECTIONS) as RollupTable[]).map((table) => packed(counts[table] ?? []))

const packed = (rows: readonly NamedCounts[]): string | null =>
  packRows(rows.map(({ names, counts }) => [names, { width: counts.length, at: (index) => counts[index] ?? 0 }]))

/**
 * Writes minutes as the service has them for two days: one part each, once those of its folds are merged. Of a minute whose hour has been
 * rolled up, leave out event × tag counts, which are in the hour's rows.
 */
export function addMinutes(
  siteNo: number,
  containerId: string,
  minutes: Iterable<readonly [minute: number, counts: MinuteCounts]>,
): BatchOperation {
  const values = Array.from(minutes, ([minute, counts]): SqlValue[] => [
    siteNo,
    minute,
    containerId,
    newPart(),
    ...sectionsOf(counts),
  ])
  return { kind: 'upsert', spec: minuteParts, values: values.flat() }
}
