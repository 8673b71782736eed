import { DAY, HOUR, MINUTE } from '../lib/index.ts'
import { type BatchOperation, type Store, StoreError, totalOf } from '../store/index.ts'
import { EVENT_COLUMNS, GRAIN, OUTCOMES, type RollupTable, rollupMarks, TAG_COLUMNS } from './columns.ts'
import { hourSplit } from './local-hours.ts'

/** A bucket is rolled up when it has been over for this long: what still comes for it makes it due again. */
const SETTLED_AFTER_MS = 2 * MINUTE
/** Marks taken up by one tick, so that a tick ends. */
const MARKS_PER_TICK = 500

const NAME_COLUMNS = {
  event_rollups: ['event_name'],
  tag_rollups: ['tag_key'],
  event_tag_rollups: ['event_name', 'tag_key'],
} as const
const COUNT_COLUMNS: Record<RollupTable, readonly string[]> = {
  event_rollups: EVENT_COLUMNS,
  tag_rollups: TAG_COLUMNS,
  event_tag_rollups: OUTCOMES,
}

interface Mark {
  siteNo: number
  bucket: number
  timezone: string
}

/** Which rows are summed into which. */
interface Step {
  tables: readonly RollupTable[]
  from: number
  to: number
  span: number
}

const HOURS: Step = { tables: ['event_rollups', 'tag_rollups'], from: GRAIN.minute, to: GRAIN.hour, span: HOUR }
const DAYS: Step = {
  tables: ['event_rollups', 'tag_rollups', 'event_tag_rollups'],
  from: GRAIN.hour,
  to: GRAIN.day,
  span: DAY,
}

/**
 * Derives hour rows from minute rows and day rows from hour rows, wherever a mark says they are out of date, and returns
 * how many buckets that were.
 *
 * Why reports never miss or double a count: a fold puts a mark on the hour it writes to in the same transaction, and the
 * derived rows replace the old ones and take the mark away in one transaction. A report that reads marks and rows in one
 * snapshot therefore finds either the mark (and reads the finer rows) or derived rows that hold everything.
 */
export async function rollUp(store: Store, now: number): Promise<number> {
  const hours = await settledMarks(store, GRAIN.hour, now - HOUR - SETTLED_AFTER_MS)
  for (const mark of hours) await derive(store, HOURS, mark)
  const days = await settledMarks(store, GRAIN.day, now - DAY - SETTLED_AFTER_MS)
  for (const mark of days) {
    // Hours first: day rows are sums of hour rows.
    if (!(await hasHourMarks(store, mark))) await derive(store, DAYS, mark)
  }
  return hours.length + days.length
}

async function settledMarks(store: Store, grain: number, upTo: number): Promise<Mark[]> {
  const rows = await store.read
    .selectFrom('rollup_marks')
    .innerJoin('sites', 'sites.site_no', 'rollup_marks.site_no')
    .select(['rollup_marks.site_no', 'rollup_marks.bucket', 'sites.timezone'])
    .where('rollup_marks.grain', '=', grain)
    .where('rollup_marks.bucket', '<=', upTo)
    .orderBy('rollup_marks.bucket')
    .limit(MARKS_PER_TICK)
    .execute()
  return rows.map((row) => ({ siteNo: row.site_no, bucket: row.bucket, timezone: row.timezone }))
}

async function hasHourMarks(store: Store, day: Mark): Promise<boolean> {
  const row = await store.read
    .selectFrom('rollup_marks')
    .select('bucket')
    .where('site_no', '=', day.siteNo)
    .where('grain', '=', GRAIN.hour)
    .where('bucket', '>=', day.bucket)
    .where('bucket', '<', day.bucket + DAY)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

async function derive(store: Store, step: Step, mark: Mark): Promise<void> {
  const end = mark.bucket + step.span
  const split = step.to === GRAIN.hour ? hourSplit(mark.timezone, mark.bucket) : 0
  const starts = split === 0 ? [mark.bucket] : [mark.bucket, mark.bucket + split]
  const operations: BatchOperation[] = [takeMark(store, step, mark)]
  for (const table of step.tables) {
    operations.push(removeRows(store, table, step.to, mark.siteNo, mark.bucket, end))
    starts.forEach((start, index) => {
      operations.push(insertSums(store, table, step, mark.siteNo, start, starts[index + 1] ?? end))
    })
  }
  if (step.to === GRAIN.hour) {
    operations.push({
      kind: 'upsert',
      spec: rollupMarks,
      values: [mark.siteNo, GRAIN.day, mark.bucket - (mark.bucket % DAY), 1],
    })
  }
  try {
    await store.batch(operations)
  } catch (thrown) {
    // The mark is gone: the site was removed, or another node was quicker.
    if (!(thrown instanceof StoreError && thrown.kind === 'unexpected_changes')) throw thrown
  }
}

/** Comes first: it holds off a fold that wants to put the mark back until the derived rows are there. */
function takeMark(store: Store, step: Step, mark: Mark): BatchOperation {
  const query = store.write
    .deleteFrom('rollup_marks')
    .where('site_no', '=', mark.siteNo)
    .where('grain', '=', step.to)
    .where('bucket', '=', mark.bucket)
    .compile()
  return { kind: 'statement', query, expectChanges: 1 }
}

function removeRows(
  store: Store,
  table: RollupTable,
  grain: number,
  siteNo: number,
  from: number,
  to: number,
): BatchOperation {
  const query = store.write
    .deleteFrom(table)
    .where('site_no', '=', siteNo)
    .where('grain', '=', grain)
    .where('bucket', '>=', from)
    .where('bucket', '<', to)
    .compile()
  return { kind: 'statement', query }
}

/** Sums the finer rows of [from, to) into rows of one bucket that starts at `from`. */
function insertSums(
  store: Store,
  table: RollupTable,
  step: Step,
  siteNo: number,
  from: number,
  to: number,
): BatchOperation {
  const { ref } = store.write.dynamic
  const names = ['container_id', ...NAME_COLUMNS[table]]
  const counts = COUNT_COLUMNS[table]
  const query = store.write
    .insertInto(table)
    .columns(['site_no', 'grain', 'bucket', ...names, ...counts] as never[])
    .expression((eb) =>
      eb
        .selectFrom(table)
        .select((select) => [
          'site_no',
          select.val(step.to).as('grain'),
          select.val(from).as('bucket'),
          ...names.map((name) => ref<never>(name)),
          ...counts.map((count) => totalOf(count).as(count)),
        ])
        .where('site_no', '=', siteNo)
        .where('grain', '=', step.from)
        .where('bucket', '>=', from)
        .where('bucket', '<', to)
        .groupBy(['site_no', ...names.map((name) => ref<never>(name))]),
    )
    .compile()
  return { kind: 'statement', query }
}
