import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { DAY, floorTo, HOUR, invalidRequest, MINUTE } from '../../lib/index.ts'
import { GRAIN, type RollupTable } from '../../rollups/index.ts'
import { type BucketStep, type Buckets, modulo, type OffsetSpan } from '../buckets.ts'
import type { Snapshot } from '../snapshot.ts'
import { type SumRow, sumRollups } from '../sums.ts'
import type { TagIdentity } from '../tag-identity.ts'
import type { ReportWindow } from '../window.ts'
import type { TimeseriesQuery } from './plan.ts'

/** Most sums that one report reads: 500 names at 400 points, with some room for clock changes. */
const MAX_ROWS = 250_000

/** What all parts of a timeseries report share. */
export interface SeriesContext {
  snapshot: Snapshot
  identity: TagIdentity
  window: ReportWindow
  buckets: Buckets
  query: TimeseriesQuery
}

interface BucketRequest<K extends string, M extends string> {
  table: RollupTable
  by: readonly K[]
  measures: Readonly<Record<M, RawBuilder<number>>>
  where?: RawBuilder<SqlBool> | undefined
}

/**
 * Reads sums per bucket and key.
 *
 * @throws AppError `invalid_request` when there are too many
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

/** The coarsest rows that lie within one bucket; day rows except on `straddledDays`. */
const COARSEST = { minute: GRAIN.minute, hour: GRAIN.hour, day: GRAIN.day } as const

/** UTC days in which a bucket ends: their day rows belong to no single bucket. */
const straddledDays = ({ starts }: Buckets): number[] =>
  starts.filter((start) => start % DAY !== 0).map((start) => floorTo(start, DAY))

const UNIT_MS = { minute: MINUTE, hour: HOUR, day: DAY } as const

/**
 * SQL that gives rows of one minute step, local hour or local day the same value, so that the database adds them up. A day with a
 * clock change may get two values, so the value is not a bucket's start: find the bucket by a row's own start.
 */
function slotOf(step: BucketStep, spans: readonly OffsetSpan[]): RawBuilder<number> {
  const size = step.unit === 'minute' ? step.count * MINUTE : UNIT_MS[step.unit]
  const shifts = shiftsOf(size, spans)
  const last = whole(shifts.at(-1)?.shift ?? 0)
  if (shifts.length <= 1) return slot(last, size)
  const cases = shifts.slice(0, -1).map(({ to, shift }) => sql`when bucket < ${whole(to)} then ${whole(shift)}`)
  return slot(sql<number>`case ${sql.join(cases, sql` `)} else ${last} end`, size)
}

const slot = (shift: RawBuilder<number>, size: number): RawBuilder<number> =>
  sql<number>`bucket - (bucket + ${shift}) % ${whole(size)}`

/** Cast, because an engine that infers a parameter's type takes one inside `case` for text. */
const whole = (value: number): RawBuilder<number> => sql<number>`cast(${value} as bigint)`

/** What to add to UTC so that slots start at multiples of `size`. Neighbouring spans with the same shift are joined. */
function shiftsOf(size: number, spans: readonly OffsetSpan[]): { to: number; shift: number }[] {
  const shifts: { to: number; shift: number }[] = []
  for (const { to, offset } of spans) {
    const shift = modulo(offset, size)
    const last = shifts.at(-1)
    if (last?.shift === shift) last.to = to
    else shifts.push({ to, shift })
  }
  return shifts
}
