import { type RawBuilder, type SqlBool, sql } from 'kysely'
import {
  COUNT_COLUMNS,
  GRAIN,
  type Grain,
  NAME_COLUMNS,
  packedParts,
  partsOf,
  type RollupTable,
  type Segment,
  type TimeRange,
  unionOf,
} from '../rollups/index.ts'
import { isOnPostgres, type PackedRow } from '../store/index.ts'
import type { Snapshot } from './snapshot.ts'
import { inParts, minutesIn, SEGMENT, type SumRow, type Sums, sumRollups, totals, zeroSums } from './sums.ts'

/**
 * A part of the time that the snapshot was opened for, and the coarsest rows that may be read there. Whole minutes, none older
 * than a day or two; whole UTC hours or days where hour or day rows may be read.
 */
export interface Stretch extends TimeRange {
  coarsest: Grain
}

/** Slots to sum by, each `length` ms long; one of them ends at `end`. */
interface Slots {
  length: number
  end: number
}

interface StretchRequest<K extends string, C extends string> {
  table: RollupTable
  stretches: readonly Stretch[]
  by: readonly K[]
  columns: readonly C[]
  where?: RawBuilder<SqlBool>
  slots?: Slots
}

/**
 * Sums over stretches of a site's time, for code that judges counts rather than shows them: from the coarsest rows, so that weeks cost
 * hundreds of rows and not hundreds of thousands. Returns a row or more per slot and key, see `sumRollups`; without slots, per segment that
 * was read.
 *
 * SQLite answers what folds have added to minutes packed, see `summed`, and it is added up here.
 */
export async function sumStretches<K extends string, C extends string>(
  snapshot: Snapshot,
  { table, stretches, by, columns, where, slots }: StretchRequest<K, C>,
): Promise<SumRow<K, C>[]> {
  const segments = segmentsOf(snapshot, table, stretches)
  const isPacked = where === undefined && !isOnPostgres(snapshot.db)
  const rows = await sumRollups(snapshot.db, {
    table,
    siteNo: snapshot.siteNo,
    segments,
    by,
    measures: totals(columns),
    withoutParts: isPacked,
    ...(slots === undefined ? {} : { slot: slotOf(slots) }),
    ...(where === undefined ? {} : { where }),
  })
  if (!isPacked) return rows
  for (const row of await sumParts(snapshot, table, minutesIn(segments), by, columns, slots)) rows.push(row)
  return rows
}

/** Sums the minutes of a range by measures that are not sums of columns, and need each minute's counts by themselves. */
export const sumEachMinute = <K extends string, M extends string>(
  snapshot: Snapshot,
  {
    table,
    range,
    by,
    measures,
    where,
    slots,
  }: {
    table: RollupTable
    range: TimeRange
    by: readonly K[]
    measures: Readonly<Record<M, RawBuilder<number>>>
    where: RawBuilder<SqlBool>
    slots: Slots
  },
): Promise<SumRow<K, M>[]> =>
  sumRollups(snapshot.db, {
    table,
    siteNo: snapshot.siteNo,
    segments: segmentsOf(snapshot, table, [{ ...range, coarsest: GRAIN.minute }]),
    by,
    measures,
    where,
    slot: slotOf(slots),
    eachMinute: true,
  })

function segmentsOf(snapshot: Snapshot, table: RollupTable, stretches: readonly Stretch[]): Segment[] {
  const finest = table === 'event_tag_rollups' ? GRAIN.hour : GRAIN.minute
  return stretches.flatMap(({ coarsest, ...range }) =>
    // Stretches begin and end where rows do, so nothing has to be widened to the rows that retention leaves.
    snapshot.segments(range, { finest, coarsest, minuteRowsFrom: 0, singleMinutesFrom: 0, splitOf: () => 0 }),
  )
}

/** Cast, because an engine that infers a parameter's type may take it for text. */
const whole = (value: number): RawBuilder<number> => sql<number>`cast(${value} as bigint)`

const slotOf = ({ length, end }: Slots): RawBuilder<number> =>
  sql<number>`bucket - (bucket - ${whole(end % length)}) % ${whole(length)}`

/** Packed counts of a slot, of one container if these are told apart. */
interface PackedCounts {
  /** The earliest minute, epoch ms. */
  bucket: number
  container_id: string
  packed_sums: string
}

/** What folds have added to minutes, one row per slot and key. */
async function sumParts<K extends string, C extends string>(
  { db, siteNo }: Snapshot,
  table: RollupTable,
  minutes: readonly Segment[],
  by: readonly K[],
  columns: readonly C[],
  slots: Slots | undefined,
): Promise<Iterable<SumRow<K, C>>> {
  const apart = [
    ...(by.some((name) => name === 'container_id') ? [sql.ref('p.container_id')] : []),
    ...(slots === undefined ? [] : [slotOf(slots)]),
  ]
  const sums = new PartSums(table, by, columns, slots)
  for (const segments of inParts(minutes)) {
    const build = ({ from, to }: Readonly<Record<(typeof SEGMENT)[number], number>>) =>
      sql`select * from ${packedParts(table, { where: partsOf(siteNo, from, to), apart })} as packed`.compile(db)
    const { rows } = await db.executeQuery<PackedCounts>(unionOf(SEGMENT, [{ build, all: segments }], Infinity))
    for (const row of rows) sums.add(row)
  }
  return sums.rows
}

/** Adds up packed counts by slot and key, whose parts NUL divides: no name has one. */
class PartSums<K extends string, C extends string> {
  /** The places of the `by` columns in a packed row; -1 for the container. */
  readonly #places: readonly (readonly [K, place: number])[]
  readonly #columns: readonly (readonly [C, place: number])[]
  readonly #zeros: Sums<C>
  readonly #slots: Slots | undefined
  readonly #sums = new Map<string, SumRow<K, C>>()

  constructor(table: RollupTable, by: readonly K[], columns: readonly C[], slots: Slots | undefined) {
    const names: readonly string[] = NAME_COLUMNS[table]
    const counts: readonly string[] = COUNT_COLUMNS[table]
    this.#places = by.map((name) => [name, names.indexOf(name)] as const)
    this.#columns = columns.map((column) => [column, names.length + counts.indexOf(column)] as const)
    this.#zeros = zeroSums(columns)
    this.#slots = slots
  }

  get rows(): Iterable<SumRow<K, C>> {
    return this.#sums.values()
  }

  add({ bucket, container_id, packed_sums }: PackedCounts): void {
    const slot = this.#slots === undefined ? 0 : startOf(bucket, this.#slots)
    for (const packed of JSON.parse(packed_sums) as PackedRow[]) {
      let key = String(slot)
      for (const [, place] of this.#places) key += `\0${place === -1 ? container_id : packed[place]}`
      let sum = this.#sums.get(key)
      if (sum === undefined) {
        sum = { at: bucket, ...this.#zeros } as SumRow<K, C>
        for (const [name, place] of this.#places) {
          const names: Record<K, string> = sum
          names[name] = place === -1 ? container_id : String(packed[place])
        }
        this.#sums.set(key, sum)
      }
      if (bucket < sum.at) (sum as { at: number }).at = bucket
      const counts: Sums<C> = sum
      for (const [column, place] of this.#columns) {
        const count = packed[place]
        if (count !== undefined) counts[column] += Number(count)
      }
    }
  }
}

const startOf = (bucket: number, { length, end }: Slots): number => bucket - ((bucket - (end % length)) % length)
