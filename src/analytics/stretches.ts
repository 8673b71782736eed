import { type RawBuilder, sql } from 'kysely'
import { GRAIN, type Grain, type RollupTable, type TimeRange } from '../rollups/index.ts'
import type { Snapshot } from './snapshot.ts'
import { type SumRow, sumRollups } from './sums.ts'

/**
 * A part of the time that the snapshot was opened for, and the coarsest rows that may stand for it. Whole minutes, none of
 * them older than a day or two; whole UTC hours or days where hour or day rows may be read.
 */
export interface Stretch extends TimeRange {
  coarsest: Grain
}

export interface StretchRequest<K extends string, M extends string> {
  table: RollupTable
  stretches: readonly Stretch[]
  by: readonly K[]
  measures: Readonly<Record<M, RawBuilder<number>>>
  /** The database adds up what falls into one slot; slots are `length` ms long and one of them ends at `end`. */
  slots?: { length: number; end: number }
}

/**
 * Sums over stretches of a site's time, for those who judge counts rather than show them: in one statement and by the
 * coarsest rows, so that weeks cost hundreds of rows and not hundreds of thousands. Without slots a stretch's rows fall
 * together per segment that was read, see `sumRollups`.
 */
export function sumStretches<K extends string, M extends string>(
  snapshot: Snapshot,
  { table, stretches, by, measures, slots }: StretchRequest<K, M>,
): Promise<SumRow<K, M>[]> {
  const finest = table === 'event_tag_rollups' ? GRAIN.hour : GRAIN.minute
  const segments = stretches.flatMap(({ coarsest, ...range }) =>
    // Stretches begin and end where rows do: nothing is widened to the rows that retention leaves.
    snapshot.segments(range, { finest, coarsest, minuteRowsFrom: 0, splitOf: () => 0 }),
  )
  return sumRollups(snapshot.db, {
    table,
    siteNo: snapshot.siteNo,
    segments,
    by,
    measures,
    ...(slots === undefined ? {} : { slot: slotEndingAt(slots.length, slots.end) }),
  })
}

/** A cast, because an engine that infers the type of a parameter may take one for text. */
const whole = (value: number): RawBuilder<number> => sql<number>`cast(${value} as bigint)`

const slotEndingAt = (length: number, end: number): RawBuilder<number> =>
  sql<number>`bucket - (bucket - ${whole(end % length)}) % ${whole(length)}`
