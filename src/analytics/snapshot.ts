import { type Clock, DAY, floorTo } from '../lib/index.ts'
import { coverRange, GRAIN, type ReadableRows, type Retention, type Segment, type TimeRange } from '../rollups/index.ts'
import { type Store, StoreError, type Tables, type Transaction } from '../store/index.ts'
import { ReadBudget, type ReportLimits, tooSlow } from './read-budget.ts'

/** What every report needs. */
export interface ReportContext {
  store: Pick<Store, 'read' | 'reports'>
  clock: Clock
  retention: Retention
  /** Of what somebody asked for; the service's own reports have none. */
  limits?: ReportLimits
}

/** A site's rollups at one instant. */
export interface Snapshot {
  db: Transaction<Tables>
  siteNo: number
  /** What may still be read; null: anything. */
  budget: ReadBudget | null
  /** Which rows to read for `range`, which must lie in the range that the snapshot was opened for. */
  cover: (range: TimeRange, rows: ReadableRows, straddledDays?: Iterable<number>) => Segment[]
}

/**
 * Runs `read` in one snapshot, so that the marks and the rows they speak of belong together.
 *
 * @throws OverloadedError or AppError `invalid_request` when it costs more than `limits`.
 */
export async function readSnapshot<T>(
  store: Pick<Store, 'reports'>,
  siteNo: number,
  range: TimeRange,
  read: (snapshot: Snapshot) => Promise<T>,
  limits?: ReportLimits,
): Promise<T> {
  const budget = limits === undefined ? null : new ReadBudget(limits)
  try {
    return await store.reports.transaction().execute(async (db) => read(await openSnapshot(db, siteNo, range, budget)))
  } catch (thrown) {
    // An engine that ends long statements by itself has done so.
    throw limits !== undefined && thrown instanceof StoreError && thrown.kind === 'busy' ? tooSlow(limits) : thrown
  }
}

async function openSnapshot(
  db: Transaction<Tables>,
  siteNo: number,
  range: TimeRange,
  budget: ReadBudget | null,
): Promise<Snapshot> {
  const marks = await db
    .selectFrom('rollup_marks')
    .select(['grain', 'bucket'])
    .where('site_no', '=', siteNo)
    .where('grain', 'in', [GRAIN.hour, GRAIN.day])
    .where('bucket', '>=', floorTo(range.from, DAY))
    .where('bucket', '<', range.to)
    .execute()
  const bucketsOf = (grain: number) => marks.filter((mark) => mark.grain === grain).map((mark) => mark.bucket)
  const hourMarks = new Set(bucketsOf(GRAIN.hour))
  const dayMarks = bucketsOf(GRAIN.day)
  return {
    db,
    siteNo,
    budget,
    cover: (part, rows, straddledDays = []) =>
      coverRange(part, hourMarks, new Set([...dayMarks, ...straddledDays]), rows),
  }
}
