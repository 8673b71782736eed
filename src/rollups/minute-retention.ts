import { type CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely'
import { floorTo, HOUR } from '../lib/index.ts'
import { type BatchOperation, type Store, StoreError, untilDone } from '../store/index.ts'
import { GRAIN, MINUTE_TABLES } from './columns.ts'
import type { TimeRange } from './range-plan.ts'
import { bucketsIn, removeFirstRows } from './removal.ts'

/** An hour with up to this many rows of minutes per table is deleted in one transaction, which takes some 10 ms. */
const ROWS_AT_ONCE = 10_000

/**
 * Deletes a site's minute rows of the oldest hour before `before`, unless that hour still has to be rolled up. Returns whether
 * there may be more. The transaction that begins it records that the hour is gone. So either an hour has all its minute rows, and
 * its hour row can be derived from them, or the existing ones came later and have to be added to the hour row.
 *
 * An hour with very many rows is deleted in steps, and the roll-up skips it meanwhile. An event of that hour that is folded in
 * these seconds may be deleted too; only a wrong clock makes one come so late.
 */
export async function removeOldestHour(
  store: Store,
  siteNo: number,
  before: number,
  shouldContinue: () => boolean,
  rowsAtOnce = ROWS_AT_ONCE,
): Promise<boolean> {
  const begun = await hourBeingCleared(store, siteNo)
  const hour = begun ?? (await oldestHour(store, siteNo, { from: 0, to: before }))
  if (hour === undefined) return false
  if (begun === undefined) {
    const isSmall = await hasAtMost(store, siteNo, hour, rowsAtOnce)
    if (!(await begin(store, siteNo, hour, isSmall))) return false
    if (isSmall) return true
  }
  for (const table of MINUTE_SOURCES) {
    const step = () => removeFirstRows(store, table, siteNo, minutesIn(table, hour, hour + HOUR))
    if (!(await untilDone(step, shouldContinue))) return false
  }
  await store.write
    .updateTable('minute_floors')
    .set({ clearing: null })
    .where('site_no', '=', siteNo)
    .where('clearing', '=', hour)
    .execute()
  return true
}

async function hourBeingCleared(store: Store, siteNo: number): Promise<number | undefined> {
  const row = await store.read
    .selectFrom('minute_floors')
    .select('clearing')
    .where('site_no', '=', siteNo)
    .executeTakeFirst()
  return row?.clearing ?? undefined
}

/** What minutes are stored in. */
const MINUTE_SOURCES = [...MINUTE_TABLES, 'minute_parts'] as const

/** Rows of minutes that start in [from, to), epoch ms. */
const minutesIn = (table: (typeof MINUTE_SOURCES)[number], from: number, to: number): RawBuilder<SqlBool> =>
  table === 'minute_parts' ? sql`bucket >= ${from} and bucket < ${to}` : bucketsIn(GRAIN.minute, from, to)

/** The first UTC hour in a range that has minute rows or parts. */
export async function oldestHour(store: Store, siteNo: number, { from, to }: TimeRange): Promise<number | undefined> {
  const found: number[] = []
  for (const table of MINUTE_SOURCES) {
    const row = await store.read
      .selectFrom(table)
      .select('bucket')
      .where('site_no', '=', siteNo)
      .where(minutesIn(table, from, to))
      .orderBy('bucket')
      .limit(1)
      .executeTakeFirst()
    if (row !== undefined) found.push(floorTo(row.bucket, HOUR))
  }
  return found.length === 0 ? undefined : Math.min(...found)
}

async function hasAtMost(store: Store, siteNo: number, hour: number, rows: number): Promise<boolean> {
  for (const table of MINUTE_SOURCES) {
    const beyond = await store.read
      .selectFrom(table)
      .select('bucket')
      .where('site_no', '=', siteNo)
      .where(minutesIn(table, hour, hour + HOUR))
      .orderBy('bucket')
      .limit(1)
      .offset(rows)
      .executeTakeFirst()
    if (beyond !== undefined) return false
  }
  return true
}

/** Records that the hour is gone; with `whole`, in the transaction that deletes it. Returns false when the hour is dirty. */
function begin(store: Store, siteNo: number, hour: number, whole: boolean): Promise<boolean> {
  const floor = { gone_before: hour + HOUR, clearing: whole ? null : hour }
  const note = store.write
    .insertInto('minute_floors')
    .values({ site_no: siteNo, ...floor })
    .onConflict((conflict) =>
      conflict
        .column('site_no')
        .doUpdateSet(floor)
        // Another node may have deleted later hours while this one was suspended.
        .where('minute_floors.gone_before', '<', floor.gone_before),
    )
  const removals = MINUTE_SOURCES.map((table) =>
    store.write
      .deleteFrom(table)
      .where('site_no', '=', siteNo)
      .where(minutesIn(table, hour, hour + HOUR)),
  )
  // An hour's minutes are deleted after its roll-up, and always the oldest hour first: so every hour before the floor is gone.
  return whileClean(
    store,
    siteNo,
    { from: hour, to: hour + HOUR },
    [note, ...(whole ? removals : [])].map((query) => statement(query.compile())),
  )
}

/**
 * Runs the operations in one transaction, while no fold writes to the hours and no roll-up derives them. Returns false, and
 * changes nothing, when one of the hours is dirty.
 *
 * @param hours whole UTC hours
 */
export async function whileClean(
  store: Store,
  siteNo: number,
  hours: TimeRange,
  inBetween: readonly BatchOperation[],
): Promise<boolean> {
  const dirty = Array.from({ length: (hours.to - hours.from) / HOUR }, (_, index) => ({
    site_no: siteNo,
    grain: GRAIN.hour,
    bucket: hours.from + index * HOUR,
    writes: 0,
  }))
  const clear = store.write
    .deleteFrom('dirty_buckets')
    .where('site_no', '=', siteNo)
    .where(bucketsIn(GRAIN.hour, hours.from, hours.to))
  const expectChanges = dirty.length
  const operations: BatchOperation[] = [
    // Fails when an hour is dirty, and keeps folds from marking one dirty until the transaction ends.
    { kind: 'statement', query: store.write.insertInto('dirty_buckets').values(dirty).compile(), expectChanges },
    ...inBetween,
    { kind: 'statement', query: clear.compile(), expectChanges },
  ]
  try {
    await store.batch(operations)
    return true
  } catch (thrown) {
    if (thrown instanceof StoreError && thrown.kind === 'unique') return false
    throw thrown
  }
}

/**
 * Comes first in a transaction that changes an hour or day in steps, or its parts: fails unless the bucket is dirty, and keeps it so until
 * the transaction ends. Between two steps a node may be suspended for so long that another one clears the bucket and deletes the finer
 * rows: summing what is left would replace the counts of the step by nothing.
 *
 * @param writes what they must still be, see `oneWrite`
 */
export function holdDirty(
  { write }: Store,
  grain: number,
  { siteNo, bucket, writes }: { siteNo: number; bucket: number; writes?: number },
): BatchOperation {
  const query = write
    .updateTable('dirty_buckets')
    .set(({ ref }) => ({ writes: ref('writes') }))
    .where('site_no', '=', siteNo)
    .where('grain', '=', grain)
    .where('bucket', '=', bucket)
    .$if(writes !== undefined, (mark) => mark.where('writes', '=', writes ?? 0))
  return { kind: 'statement', query: query.compile(), expectChanges: 1 }
}

export const statement = (query: CompiledQuery): BatchOperation => ({ kind: 'statement', query })
