import { OverloadedError } from '../http/index.ts'
import { type Clock, DAY, floorTo, invalidRequest } from '../lib/index.ts'
import { GRAIN, planRange, type ReadableRows, type Retention, type Segment, type TimeRange } from '../rollups/index.ts'
import { type Store, StoreError, type Tables, type Transaction } from '../store/index.ts'

/** What every report needs. */
export interface ReportContext {
  store: Pick<Store, 'read' | 'reports'>
  clock: Clock
  retention: Retention
  /** Set for reports that users request; the service's own have none. */
  limits?: ReportLimits
}

/** A site's rollups at one instant. */
export interface Snapshot {
  db: Transaction<Tables>
  siteNo: number
  /** What may still be read; null for no limit. */
  budget: ReadBudget | null
  /** Which rows to read for `range`, which must be within the range that the snapshot was opened for. */
  segments: (range: TimeRange, rows: ReadableRows, straddledDays?: Iterable<number>) => Segment[]
}

/**
 * Runs `read` in one snapshot, so that dirty buckets and rows are of the same state.
 *
 * @throws OverloadedError or AppError `invalid_request` when it costs more than `limits`
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
    // The engine ended a statement that took too long.
    throw limits !== undefined && thrown instanceof StoreError && thrown.kind === 'busy' ? tooSlow(limits) : thrown
  }
}

async function openSnapshot(
  db: Transaction<Tables>,
  siteNo: number,
  range: TimeRange,
  budget: ReadBudget | null,
): Promise<Snapshot> {
  const dirty = await db
    .selectFrom('dirty_buckets')
    .leftJoin('minute_floors', 'minute_floors.site_no', 'dirty_buckets.site_no')
    .select(['dirty_buckets.grain', 'dirty_buckets.bucket', 'minute_floors.gone_before', 'minute_floors.clearing'])
    .where('dirty_buckets.site_no', '=', siteNo)
    .where('dirty_buckets.bucket', '>=', floorTo(range.from, DAY))
    .where('dirty_buckets.bucket', '<', range.to)
    .execute()
  const bucketsOf = (rows: typeof dirty) => new Set(rows.map(({ bucket }) => bucket))
  const dirtyHours = dirty.filter(({ grain }) => grain === GRAIN.hour)
  const isGone = ({ bucket, gone_before }: (typeof dirty)[number]) => bucket < (gone_before ?? 0)
  const hours = bucketsOf(dirtyHours.filter((hour) => !isGone(hour)))
  // While an hour's minutes are being deleted, some of those that its hour row holds are still there.
  const lateHours = bucketsOf(dirtyHours.filter((hour) => isGone(hour) && hour.bucket !== hour.clearing))
  const dirtyDays = bucketsOf(dirty.filter(({ grain }) => grain === GRAIN.day))
  return {
    db,
    siteNo,
    budget,
    segments: (part, rows, straddledDays = []) =>
      planRange(part, { hours, lateHours, days: new Set([...dirtyDays, ...straddledDays]) }, rows),
  }
}

/** The most that a report requested by a user may cost. */
interface ReportLimits {
  /** Time for reading, ms. */
  ms: number
  /** Sums read, over all its statements. */
  rows: number
}

export const REPORT_LIMITS: ReportLimits = { ms: 10_000, rows: 500_000 }

const RETRY_AFTER_SECONDS = 30

/** What is left of a report's limits. */
export class ReadBudget {
  readonly #limits: ReportLimits
  readonly #endsAt: number
  #rows = 0

  constructor(limits: ReportLimits) {
    this.#limits = limits
    this.#endsAt = performance.now() + limits.ms
  }

  /** Rows that may still be read, plus one that shows that there are more. */
  get most(): number {
    return this.#limits.rows - this.#rows + 1
  }

  /** Call before each statement. @throws OverloadedError when there is no time left for it */
  begin(): void {
    if (performance.now() >= this.#endsAt) throw tooSlow(this.#limits)
  }

  /** @throws AppError `invalid_request` when these rows exceed the limit */
  spend(rows: number): void {
    this.#rows += rows
    if (this.#rows <= this.#limits.rows) return
    throw invalidRequest(
      '/from',
      `begins a window of more than ${this.#limits.rows} counts, the most that a report adds up: choose a shorter window, or a filter`,
    )
  }
}

const tooSlow = ({ ms }: ReportLimits): OverloadedError =>
  new OverloadedError(
    `The report took longer than ${ms / 1_000} s: choose a shorter window, or try again when the service is less busy`,
    RETRY_AFTER_SECONDS,
  )
