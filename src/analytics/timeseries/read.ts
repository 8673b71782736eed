import type { RawBuilder, SqlBool } from 'kysely'
import { DAY, floorTo, invalidRequest } from '../../lib/index.ts'
import { GRAIN, type RollupTable } from '../../rollups/index.ts'
import type { Buckets } from '../bucket-choice.ts'
import { slotOf } from '../slot.ts'
import type { Snapshot } from '../snapshot.ts'
import { type SumRow, sumRollups } from '../sums.ts'
import type { TagIdentity } from '../tag-identity.ts'
import type { ReportWindow } from '../window.ts'
import type { TimeseriesQuery } from './plan.ts'

/** Most sums that one report reads: as many as 500 names at 400 points, with some room for clock changes. */
const MAX_ROWS = 250_000

/** What the parts of a timeseries report share. */
export interface SeriesContext {
  snapshot: Snapshot
  identity: TagIdentity
  window: ReportWindow
  buckets: Buckets
  query: TimeseriesQuery
}

export interface BucketRequest<K extends string, M extends string> {
  table: RollupTable
  by: readonly K[]
  measures: Readonly<Record<M, RawBuilder<number>>>
  where?: RawBuilder<SqlBool> | undefined
}

/**
 * Sums per bucket and key.
 *
 * @throws AppError `invalid_request` when there are too many of them.
 */
export async function readBuckets<K extends string, M extends string>(
  context: SeriesContext,
  request: BucketRequest<K, M>,
): Promise<SumRow<K, M>[]> {
  const { snapshot, window, buckets } = context
  const { where, ...rest } = request
  const coarsest = COARSEST[buckets.step.unit]
  const rows = await sumRollups(snapshot.db, {
    ...rest,
    ...(where === undefined ? {} : { where }),
    siteNo: snapshot.siteNo,
    budget: snapshot.budget,
    segments:
      request.table === 'event_tag_rollups'
        ? snapshot.segments(window.hours, window.hourRows(coarsest), straddledDays(buckets))
        : snapshot.segments(window.range, window.rows(coarsest), straddledDays(buckets)),
    slot: slotOf(buckets.step, window.spans),
    limit: MAX_ROWS + 1,
  })
  if (rows.length > MAX_ROWS) {
    throw invalidRequest(
      '/bucket',
      `gives more than ${MAX_ROWS} points over all series: choose a coarser one, or a filter`,
    )
  }
  return rows
}

/** The coarsest rows that lie within one bucket; days only where `straddledDays` lets them. */
const COARSEST = { minute: GRAIN.minute, hour: GRAIN.hour, day: GRAIN.day } as const

/** UTC days in which a bucket ends: their day rows belong to no single bucket. */
const straddledDays = ({ starts }: Buckets): number[] =>
  starts.filter((start) => start % DAY !== 0).map((start) => floorTo(start, DAY))
