import { type CompiledQuery, type SqlBool, sql } from 'kysely'
import { Temporal } from 'temporal-polyfill'
import { DAY, HOUR, MINUTE } from '../lib/index.ts'
import { type BatchOperation, type Store, StoreError } from '../store/index.ts'
import { boundOnce } from './bound.ts'
import { dirtyBuckets, GRAIN, oneWrite, type RollupTable } from './columns.ts'
import { insertCounts } from './insert-counts.ts'
import { partsOf, SECTIONS } from './minute-parts.ts'
import { holdDirty } from './minute-retention.ts'
import { movePairs, moveToRows, partRanges, removeParts } from './move-parts.ts'
import {
  type DirtyBucket,
  filledTables,
  finerCounts,
  isWhole,
  type RollUpLevel,
  rangeOf,
  rowsOf,
  type Slice,
  slicesOf,
  wholeTable,
} from './slices.ts'

/**
 * Finer rows that one transaction sums while all commits wait: 10 to 20 ms. With 50,000 it was 50 to 60 ms, and saved two fifths
 * of the work. Most sites have fewer per hour and per day.
 */
const ROWS_AT_ONCE = 10_000
const ALL_TABLES = Object.keys(SECTIONS) as RollupTable[]

/**
 * Derives the rows of a dirty bucket from finer ones and clears its mark. Returns whether it could be cleared.
 *
 * A bucket with few rows takes one transaction, which clears the mark first and skips the tables that are empty. A bucket with
 * many is derived slice by slice while it stays dirty, so that no statement takes long and no fold waits for more than a slice; its
 * parts become minute rows first. Meanwhile reports see that it is dirty and read what is finer. Each of these transactions goes on only from the mark that was
 * read: each fold adds to its `writes`, so no fold wrote to the bucket in between, and an hour's minutes are never deleted while
 * it exists. Two nodes at the same bucket take turns at the mark, and the second sums what is there by then.
 *
 * Where an hour's minute rows have been deleted, any that exist came later (because of a wrong clock, or a shorter retention that
 * someone tried): they are added to the hour rows, which hold all others.
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
    await moveMostPairs(store, level, dirty, rowsAtOnce)
    // Late rows are few, and are deleted as they are added, which has to be one transaction.
    const filled = isGone(level, dirty) ? level.tables : await filledTables(store, level, dirty, rowsAtOnce)
    if (filled !== undefined) {
      const empty = level.tables.filter((table) => !filled.includes(table))
      await store.batch([
        clearDirty(store, level, dirty),
        ...empty.flatMap((table) => checkEmpty(store, level, dirty, table)),
        ...filled.flatMap((table) => deriveSlice(store, level, dirty, wholeTable(table))),
        ...(level.hasParts ? movePairs(store, rangeOf(level, dirty)) : []),
        ...(level.hasParts && isGone(level, dirty) ? [removeParts(store.write, rangeOf(level, dirty))] : []),
        ...markDayDirty(level, dirty),
      ])
      return true
    }
    // To minute rows, which slices of names can be read from.
    const parts = level.hasParts ? await partRanges(store, rangeOf(level, dirty), ALL_TABLES, MINUTE, rowsAtOnce) : []
    for (const range of parts) {
      const moved = [...movePairs(store, range), ...moveToRows(store, range, MINUTE)]
      await store.batch([holdDirty(store, level.to, dirty), ...moved])
    }
    for (const slice of await slicesOf(store, level, dirty, rowsAtOnce))
      await store.batch([holdDirty(store, level.to, dirty), ...deriveSlice(store, level, dirty, slice)])
    const cleared = clearDirty(store, level, dirty, dirty.writes)
    await store.batch([cleared, ...markDayDirty(level, dirty)])
    return true
  } catch (thrown) {
    // No longer dirty, or dirty again: the site was removed, another node was quicker, or a fold wrote in between.
    if (thrown instanceof StoreError && (thrown.kind === 'unexpected_changes' || thrown.kind === 'unique')) return false
    throw thrown
  }
}

/** Moves event × tag counts in steps, where there are more than one transaction should move. */
async function moveMostPairs(store: Store, level: RollUpLevel, dirty: DirtyBucket, rowsAtOnce: number): Promise<void> {
  if (!level.hasParts) return
  const ranges = await partRanges(store, rangeOf(level, dirty), ['event_tag_rollups'], MINUTE, rowsAtOnce)
  if (ranges.length <= 1) return
  for (const range of ranges) await store.batch([holdDirty(store, level.to, dirty), ...movePairs(store, range)])
}

/**
 * Rolls back the transaction if a fold wrote to the table after it was found empty. This is a separate statement, after the
 * bucket is locked: a statement that waited for the lock would see what was there before its wait.
 */
function checkEmpty({ write }: Store, level: RollUpLevel, dirty: DirtyBucket, table: RollupTable): BatchOperation[] {
  const rows = boundOnce(write, `empty ${table} ${level.to}`, RANGE, ({ siteNo, from, to }) =>
    sql`update ${sql.table(table)} set grain = grain where ${rowsOf(level.from, siteNo, from, to)}`.compile(write),
  )
  const parts = boundOnce(write, `empty parts ${table}`, RANGE, ({ siteNo, from, to }) =>
    sql`update minute_parts as p set part = part
      where ${partsOf(siteNo, from, to)} and ${sql.ref(`p.${SECTIONS[table]}`)} is not null`.compile(write),
  )
  return [rows, ...(level.hasParts ? [parts] : [])].map((query) => ({
    kind: 'statement',
    query: query(rangeOf(level, dirty)),
    expectChanges: 0,
  }))
}

/** The values of nearly all statements: a site, and a time from `from` until before `to`. */
const RANGE = ['siteNo', 'from', 'to'] as const

/** Comes first: a fold that wants to mark the bucket dirty again then waits until the derived rows are there. */
function clearDirty({ write }: Store, level: RollUpLevel, dirty: DirtyBucket, writes?: number): BatchOperation {
  const { siteNo, bucket } = dirty
  // After the read the hour may have been rolled up, its minutes deleted and the hour marked dirty again: leave it to the next
  // round.
  const needsMinutes = level.to === GRAIN.hour && !isGone(level, dirty)
  const key = `clear ${level.to} ${needsMinutes} ${writes !== undefined}`
  const query = boundOnce(write, key, ['siteNo', 'bucket', 'writes'], (slots) =>
    write
      .deleteFrom('dirty_buckets')
      .where('site_no', '=', slots.siteNo)
      .where('grain', '=', level.to)
      .where('bucket', '=', slots.bucket)
      .$if(writes !== undefined, (marks) => marks.where('writes', '=', slots.writes))
      .$if(needsMinutes, (marks) =>
        marks.where(
          sql<SqlBool>`not exists (select 1 from minute_floors where site_no = ${slots.siteNo} and gone_before > ${slots.bucket})`,
        ),
      )
      .compile(),
  )
  return { kind: 'statement', query: query({ siteNo, bucket, writes: writes ?? null }), expectChanges: 1 }
}

const isGone = (level: RollUpLevel, dirty: DirtyBucket): boolean =>
  level.to === GRAIN.hour && dirty.bucket < dirty.minutesGoneBefore

function markDayDirty(level: RollUpLevel, dirty: DirtyBucket): BatchOperation[] {
  if (level.to !== GRAIN.hour) return []
  const values = [dirty.siteNo, GRAIN.day, dirty.bucket - (dirty.bucket % DAY), oneWrite()]
  return [{ kind: 'upsert', spec: dirtyBuckets, values }]
}

function deriveSlice({ write }: Store, level: RollUpLevel, dirty: DirtyBucket, slice: Slice): BatchOperation[] {
  const { siteNo, from, to } = rangeOf(level, dirty)
  const split = level.to === GRAIN.hour ? hourSplit(dirty.timezone, from) : 0
  const starts = split === 0 ? [from] : [from, from + split]
  const adds = isGone(level, dirty)
  const remove = once(write, slice, `remove ${level.to} ${adds}`, (slots) =>
    removal(write, slice, adds ? level.from : level.to, slots),
  )
  const insert = once(write, slice, `insert ${level.to} ${adds}`, (slots) =>
    insertSums(write, slice, level, slots, adds),
  )
  const removed: BatchOperation = { kind: 'statement', query: remove({ siteNo, from, to }) }
  const sums = starts.map((start, index): BatchOperation => {
    return { kind: 'statement', query: insert({ siteNo, from: start, to: starts[index + 1] ?? to }) }
  })
  return adds ? [...sums, removed] : [removed, ...sums]
}

type Range = Readonly<Record<(typeof RANGE)[number], number>>

/** The text for a whole table is always the same and compiled once; that for a slice depends on the names in the bucket. */
function once(
  write: Store['write'],
  slice: Slice,
  key: string,
  build: (range: Range) => CompiledQuery,
): (range: Range) => CompiledQuery {
  return isWhole(slice) ? boundOnce(write, `${key} ${slice.table}`, RANGE, build) : build
}

const removal = (write: Store['write'], { table, within }: Slice, grain: number, { siteNo, from, to }: Range) =>
  write
    .deleteFrom(table)
    .where(rowsOf(grain, siteNo, from, to))
    .where(within)
    .compile()

/** Sums what is finer in [from, to) into rows of one bucket that starts at `from`; with `adds`, adds it to existing rows. */
const insertSums = (
  write: Store['write'],
  { table, within }: Slice,
  level: RollUpLevel,
  { siteNo, from, to }: Range,
  adds: boolean,
): CompiledQuery =>
  insertCounts(write, {
    table,
    grain: level.to,
    bucket: sql`cast(${from} as bigint)`,
    source: finerCounts(write, level, table, { siteNo, from, to }),
    where: within,
    adds,
  })
/**
 * Where a UTC hour has to be split so that no hour row spans two local hours, ms after its start; 0 when it need not be. In zones
 * such as Asia/Kolkata (+05:30) local hours, and with them local days, begin in the middle of UTC hours.
 *
 * @param utcHour start of the hour, epoch ms
 */
export function hourSplit(timezone: string, utcHour: number): number {
  if (timezone === 'UTC') return 0
  const { offsetNanoseconds } = Temporal.Instant.fromEpochMilliseconds(utcHour).toZonedDateTimeISO(timezone)
  const past = (offsetNanoseconds / 1e6) % HOUR
  const split = past === 0 ? 0 : past > 0 ? HOUR - past : -past
  // Offsets from before standard time had odd seconds, but rows are whole minutes.
  return split - (split % MINUTE)
}
