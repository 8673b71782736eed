import { type SqlBool, sql } from 'kysely'
import { Temporal } from 'temporal-polyfill'
import { DAY, HOUR, MINUTE } from '../lib/index.ts'
import { type BatchOperation, type Store, StoreError, totalOf } from '../store/index.ts'
import { dirtyBuckets, GRAIN, oneWrite, type RollupTable } from './columns.ts'
import {
  COUNT_COLUMNS,
  type DirtyBucket,
  filledTables,
  finer,
  NAME_COLUMNS,
  type RollUpLevel,
  type Slice,
  slicesOf,
  wholeTable,
} from './slices.ts'

/**
 * Finer rows that one transaction sums, while all commits wait: 10 to 20 ms. At 50,000 it was 50 to 60 ms, and three fifths of the work.
 * Most sites have fewer per hour, and per day.
 */
const ROWS_AT_ONCE = 10_000

/**
 * Derives the rows of a dirty bucket from finer ones, and clears it; returns whether it could be cleared.
 *
 * A bucket of few rows takes one transaction, which clears it first and leaves out the tables that are empty. One of many is derived slice by
 * slice while it stays dirty, so that no statement takes long and no fold waits for it. Reports see that it is dirty and read the finer rows
 * meanwhile. At the end it is cleared if no fold wrote to it in between: each fold adds to its `writes`. Two nodes at the
 * same bucket meet at a slice's rows: one of them waits, and then sums what is there by then, or fails (`unique`).
 *
 * Where the minute rows of an hour were deleted, those that exist came later (because of a wrong clock, or a shorter retention
 * that someone tried): they move into the hour rows, which hold all the others.
 *
 * @throws StoreError; the bucket then stays dirty
 */
export async function derive(
  store: Store,
  level: RollUpLevel,
  dirty: DirtyBucket,
  rowsAtOnce = ROWS_AT_ONCE,
): Promise<boolean> {
  try {
    // Late rows are few, and are deleted as they are added: that has to be one transaction.
    const filled = isGone(level, dirty) ? level.tables : await filledTables(store, level, dirty, rowsAtOnce)
    if (filled !== undefined) {
      const empty = level.tables.filter((table) => !filled.includes(table))
      await store.batch([
        clearDirty(store, level, dirty),
        ...empty.map((table) => checkEmpty(store, level, dirty, table)),
        ...filled.flatMap((table) => deriveSlice(store, level, dirty, wholeTable(table))),
        ...markDayDirty(level, dirty),
      ])
      return true
    }
    for (const slice of await slicesOf(store, level, dirty, rowsAtOnce))
      await store.batch(deriveSlice(store, level, dirty, slice))
    const cleared = clearDirty(store, level, dirty, dirty.writes)
    await store.batch([cleared, ...markDayDirty(level, dirty)])
    return true
  } catch (thrown) {
    // No longer dirty, or dirty again: the site was removed, another node was quicker, or a fold wrote in between.
    if (thrown instanceof StoreError && (thrown.kind === 'unexpected_changes' || thrown.kind === 'unique')) return false
    throw thrown
  }
}

/**
 * Undoes the transaction if a fold has written to the table since it was seen to be empty. A statement of its own, after the bucket is locked:
 * one that had to wait for the lock would see what was there before it waited.
 */
function checkEmpty(store: Store, level: RollUpLevel, dirty: DirtyBucket, table: RollupTable): BatchOperation {
  const query = sql`update ${sql.table(table)} set grain = grain where ${finer(level, dirty)}`
  return { kind: 'statement', query: query.compile(store.write), expectChanges: 0 }
}

/** Comes first: a fold that wants to mark the bucket dirty again waits until the derived rows are there. */
function clearDirty(store: Store, level: RollUpLevel, dirty: DirtyBucket, writes?: number): BatchOperation {
  let query = store.write
    .deleteFrom('rollup_marks')
    .where('site_no', '=', dirty.siteNo)
    .where('grain', '=', level.to)
    .where('bucket', '=', dirty.bucket)
  if (writes !== undefined) query = query.where('writes', '=', writes)
  if (level.to === GRAIN.hour && !isGone(level, dirty)) {
    // Since the read the hour may have been rolled up, its minutes deleted and the hour marked dirty again: leave it to the next round.
    query = query.where(
      sql<SqlBool>`not exists (select 1 from minute_floors where site_no = ${dirty.siteNo} and gone_before > ${dirty.bucket})`,
    )
  }
  return { kind: 'statement', query: query.compile(), expectChanges: 1 }
}

const isGone = (level: RollUpLevel, dirty: DirtyBucket): boolean =>
  level.to === GRAIN.hour && dirty.bucket < dirty.minutesGoneBefore

function markDayDirty(level: RollUpLevel, dirty: DirtyBucket): BatchOperation[] {
  if (level.to !== GRAIN.hour) return []
  const values = [dirty.siteNo, GRAIN.day, dirty.bucket - (dirty.bucket % DAY), oneWrite()]
  return [{ kind: 'upsert', spec: dirtyBuckets, values }]
}

function deriveSlice(store: Store, level: RollUpLevel, dirty: DirtyBucket, { table, within }: Slice): BatchOperation[] {
  const end = dirty.bucket + level.span
  const split = level.to === GRAIN.hour ? hourSplit(dirty.timezone, dirty.bucket) : 0
  const starts = split === 0 ? [dirty.bucket] : [dirty.bucket, dirty.bucket + split]
  const adds = isGone(level, dirty)
  const remove = store.write
    .deleteFrom(table)
    .where('site_no', '=', dirty.siteNo)
    .where('grain', '=', adds ? level.from : level.to)
    .where('bucket', '>=', dirty.bucket)
    .where('bucket', '<', end)
    .where(within)
  const removal: BatchOperation = { kind: 'statement', query: remove.compile() }
  const sums = starts.map((start, index) => {
    const to = starts[index + 1] ?? end
    return insertSums(store, { table, within }, level, dirty.siteNo, { from: start, to, adds })
  })
  return adds ? [...sums, removal] : [removal, ...sums]
}

/** Sums the finer rows of [from, to) into rows of one bucket that starts at `from`; with `adds`, onto the existing ones. */
function insertSums(
  store: Store,
  { table, within }: Slice,
  level: RollUpLevel,
  siteNo: number,
  { from, to, adds }: { from: number; to: number; adds: boolean },
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
          select.val(level.to).as('grain'),
          select.val(from).as('bucket'),
          ...names.map((name) => ref<never>(name)),
          ...counts.map((count) => totalOf(count).as(count)),
        ])
        .where('site_no', '=', siteNo)
        .where('grain', '=', level.from)
        .where('bucket', '>=', from)
        .where('bucket', '<', to)
        .where(within)
        .groupBy(['site_no', ...names.map((name) => ref<never>(name))]),
    )
    .$if(adds, (insert) =>
      insert.onConflict((conflict) =>
        conflict
          .columns(['site_no', 'grain', 'bucket', ...names] as never[])
          .doUpdateSet(Object.fromEntries(counts.map((count) => [count, addedTo(table, count)])) as never),
      ),
    )
    .compile()
  return { kind: 'statement', query }
}

const addedTo = (table: RollupTable, count: string) =>
  sql`${sql.ref(`${table}.${count}`)} + ${sql.ref(`excluded.${count}`)}`

/**
 * Where a UTC hour has to be split so that no hour row spans two local hours, ms after its start; 0 when no split is needed.
 * In zones like Asia/Kolkata (+05:30) local hours, and with them local days, begin in the middle of UTC hours.
 *
 * @param utcHour start of the hour, epoch ms
 */
export function hourSplit(timezone: string, utcHour: number): number {
  if (timezone === 'UTC') return 0
  const { offsetNanoseconds } = Temporal.Instant.fromEpochMilliseconds(utcHour).toZonedDateTimeISO(timezone)
  const past = (offsetNanoseconds / 1e6) % HOUR
  const split = past === 0 ? 0 : past > 0 ? HOUR - past : -past
  // Offsets from before standard time had odd seconds; rows are whole minutes.
  return split - (split % MINUTE)
}
