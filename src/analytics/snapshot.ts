import { type Clock, DAY, floorTo } from '../lib/index.ts'
import { coverRange, GRAIN, type ReadableRows, type Retention, type Segment, type TimeRange } from '../rollups/index.ts'
import type { Store, Tables, Transaction } from '../store/index.ts'

/** What every report needs. */
export interface ReportContext {
  store: Store
  clock: Clock
  retention: Retention
}

/** A site's rollups at one instant. */
export interface Snapshot {
  db: Transaction<Tables>
  siteNo: number
  /** Which rows to read for `range`, which must lie in the range that the snapshot was opened for. */
  cover: (range: TimeRange, rows: ReadableRows, straddledDays?: Iterable<number>) => Segment[]
}

/** Runs `read` in one snapshot, so that the marks and the rows they speak of belong together. */
export function readSnapshot<T>(
  store: Pick<Store, 'reports'>,
  siteNo: number,
  range: TimeRange,
  read: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  return store.reports.transaction().execute(async (db) => {
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
    return read({
      db,
      siteNo,
      cover: (part, rows, straddledDays = []) =>
        coverRange(part, hourMarks, new Set([...dayMarks, ...straddledDays]), rows),
    })
  })
}
