import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { DAY, HOUR } from '../lib/index.ts'
import { type BatchOperation, type Store, StoreError, totalOf } from '../store/index.ts'
import { EVENT_COLUMNS, GRAIN, OUTCOMES, type RollupTable, rollupMarks, TAG_COLUMNS } from './columns.ts'
import { hourSplit } from './local-hours.ts'

/** Finer rows that are summed by one transaction: some tenths of a second. A busy site has fewer in an hour, and in a day. */
const ROWS_AT_ONCE = 50_000

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

export interface Mark {
  siteNo: number
  bucket: number
  timezone: string
  /** How often it had been put when it was read. */
  writes: number
  /** Minute rows of hours that start before this were deleted, epoch ms. */
  minutesGoneBefore: number
}

/** Which rows are summed into which. */
export interface Step {
  tables: readonly RollupTable[]
  from: number
  to: number
  span: number
}

export const HOURS: Step = {
  tables: ['event_rollups', 'tag_rollups'],
  from: GRAIN.minute,
  to: GRAIN.hour,
  span: HOUR,
}
export const DAYS: Step = {
  tables: ['event_rollups', 'tag_rollups', 'event_tag_rollups'],
  from: GRAIN.hour,
  to: GRAIN.day,
  span: DAY,
}

/** Part of a bucket's rows in one table: a range of containers, or one of names in a container, in the database's own order. */
interface Slice {
  table: RollupTable
  within: RawBuilder<SqlBool>
}

/**
 * Derives the rows of a marked bucket from finer ones, and takes the mark; returns whether it could be taken.
 *
 * A bucket of few rows is one transaction, which takes the mark first. One of many is derived slice by slice while
 * the mark stands, so that no statement takes long and no fold waits for it. Reports go by the mark and read the finer rows
 * meanwhile. At the end the mark is taken if nothing was put in between: a fold counts up the mark's `writes`. Two nodes at the
 * same bucket meet at a slice's rows: one of them waits, and then sums what is there by then, or fails (`unique`).
 *
 * Where the minutes of an hour are gone, those that stand there came later (by a clock that was wrong, or a shorter retention that
 * was tried out): they move into the hour rows, which hold all the others.
 *
 * @throws StoreError; the mark stands then
 */
export async function derive(store: Store, step: Step, mark: Mark, rowsAtOnce = ROWS_AT_ONCE): Promise<boolean> {
  try {
    // Late ones are few, and are deleted as they are added: that has to be one transaction.
    if (isGone(step, mark) || (await isSmall(store, step, mark, rowsAtOnce))) {
      await store.batch([takeMark(store, step, mark), ...wholeBucket(store, step, mark), ...dayMark(step, mark)])
      return true
    }
    for (const slice of await slicesOf(store, step, mark, rowsAtOnce))
      await store.batch(deriveSlice(store, step, mark, slice))
    const taken = takeMark(store, step, mark, mark.writes)
    await store.batch([taken, ...dayMark(step, mark)])
    return true
  } catch (thrown) {
    // The mark is gone or was put anew: the site was removed, another node was quicker, or something came in between.
    if (thrown instanceof StoreError && (thrown.kind === 'unexpected_changes' || thrown.kind === 'unique')) return false
    throw thrown
  }
}

/** Comes first: it holds off a fold that wants to put the mark back until the derived rows are there. */
function takeMark(store: Store, step: Step, mark: Mark, writes?: number): BatchOperation {
  let query = store.write
    .deleteFrom('rollup_marks')
    .where('site_no', '=', mark.siteNo)
    .where('grain', '=', step.to)
    .where('bucket', '=', mark.bucket)
  if (writes !== undefined) query = query.where('writes', '=', writes)
  if (step.to === GRAIN.hour && !isGone(step, mark)) {
    // The hour may have been rolled up, its minutes deleted and the mark put back since it was read: then it waits for the next round.
    query = query.where(
      sql<SqlBool>`not exists (select 1 from minute_floors where site_no = ${mark.siteNo} and gone_before > ${mark.bucket})`,
    )
  }
  return { kind: 'statement', query: query.compile(), expectChanges: 1 }
}

const isGone = (step: Step, mark: Mark): boolean => step.to === GRAIN.hour && mark.bucket < mark.minutesGoneBefore

function dayMark(step: Step, mark: Mark): BatchOperation[] {
  if (step.to !== GRAIN.hour) return []
  const values = [mark.siteNo, GRAIN.day, mark.bucket - (mark.bucket % DAY), 1]
  return [{ kind: 'upsert', spec: rollupMarks, values }]
}

async function isSmall(store: Store, step: Step, mark: Mark, rowsAtOnce: number): Promise<boolean> {
  let rows = 0
  for (const table of step.tables) {
    const some = sql`select 1 from ${sql.table(table)} where ${finer(step, mark)} limit ${rowsAtOnce + 1}`
    const found = await sql<{ rows: number }>`select count(*) as rows from (${some}) as finer`.execute(store.read)
    rows += Number(found.rows[0]?.rows ?? 0)
  }
  return rows <= rowsAtOnce
}

const finer = (step: Step, { siteNo, bucket }: Mark): RawBuilder<SqlBool> =>
  sql`site_no = ${siteNo} and grain = ${step.from} and bucket >= ${bucket} and bucket < ${bucket + step.span}`

async function slicesOf(store: Store, step: Step, mark: Mark, rowsAtOnce: number): Promise<Slice[]> {
  const slices: Slice[] = []
  for (const table of step.tables) {
    const container = sql.ref('container_id')
    for (const range of await rangesOf(store, table, container, finer(step, mark), rowsAtOnce)) {
      const within = between(container, range)
      if (range.rows <= rowsAtOnce) {
        slices.push({ table, within })
        continue
      }
      // One container: a range of several is never larger than that.
      const name = sql.ref(NAME_COLUMNS[table][0])
      const ranges = await rangesOf(store, table, name, sql`${finer(step, mark)} and ${within}`, rowsAtOnce)
      slices.push(...ranges.map((names) => ({ table, within: sql<SqlBool>`${within} and ${between(name, names)}` })))
    }
  }
  return slices
}

interface Range {
  first: string
  last: string
  rows: number
}

const between = (column: RawBuilder<unknown>, { first, last }: Range): RawBuilder<SqlBool> =>
  sql`${column} >= ${first} and ${column} <= ${last}`

/** Ranges of a column's values with at most `rowsAtOnce` rows each, where one value alone does not have more. */
async function rangesOf(
  store: Store,
  table: RollupTable,
  column: RawBuilder<unknown>,
  where: RawBuilder<SqlBool>,
  rowsAtOnce: number,
): Promise<Range[]> {
  const { rows: values } = await sql<{ value: string; rows: number }>`
    select ${column} as value, count(*) as rows from ${sql.table(table)}
    where ${where} group by ${column} order by ${column}`.execute(store.read)
  const ranges: Range[] = []
  for (const { value, rows } of values) {
    const last = ranges.at(-1)
    if (last !== undefined && last.rows + Number(rows) <= rowsAtOnce) {
      last.last = value
      last.rows += Number(rows)
    } else ranges.push({ first: value, last: value, rows: Number(rows) })
  }
  return ranges
}

const wholeBucket = (store: Store, step: Step, mark: Mark): BatchOperation[] =>
  step.tables.flatMap((table) => deriveSlice(store, step, mark, { table, within: sql`1 = 1` }))

function deriveSlice(store: Store, step: Step, mark: Mark, { table, within }: Slice): BatchOperation[] {
  const end = mark.bucket + step.span
  const split = step.to === GRAIN.hour ? hourSplit(mark.timezone, mark.bucket) : 0
  const starts = split === 0 ? [mark.bucket] : [mark.bucket, mark.bucket + split]
  const adds = isGone(step, mark)
  const remove = store.write
    .deleteFrom(table)
    .where('site_no', '=', mark.siteNo)
    .where('grain', '=', adds ? step.from : step.to)
    .where('bucket', '>=', mark.bucket)
    .where('bucket', '<', end)
    .where(within)
  const removal: BatchOperation = { kind: 'statement', query: remove.compile() }
  const sums = starts.map((start, index) => {
    const to = starts[index + 1] ?? end
    return insertSums(store, { table, within }, step, mark.siteNo, { from: start, to, adds })
  })
  return adds ? [...sums, removal] : [removal, ...sums]
}

/** Sums the finer rows of [from, to) into rows of one bucket that starts at `from`; with `adds`, onto those that stand there. */
function insertSums(
  store: Store,
  { table, within }: Slice,
  step: Step,
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
          select.val(step.to).as('grain'),
          select.val(from).as('bucket'),
          ...names.map((name) => ref<never>(name)),
          ...counts.map((count) => totalOf(count).as(count)),
        ])
        .where('site_no', '=', siteNo)
        .where('grain', '=', step.from)
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
