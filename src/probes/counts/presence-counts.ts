import { type RawBuilder, type SqlBool, sql } from 'kysely'
import {
  addSums,
  bearsTransactionId,
  isOneOf,
  type Snapshot,
  type Stretch,
  type SumRow,
  type Sums,
  sumStretches,
  zeroSums,
} from '../../analytics/index.ts'
import type { FieldCounts, PARAMETER, PresenceBucket, PresenceWeeks } from '../../detection/index.ts'
import { DAY, floorTo, HOUR, Yielder } from '../../lib/index.ts'
import {
  type EVENT_COLUMNS,
  FIELD_COLUMNS,
  GRAIN,
  OTHER,
  type SIGNAL_COLUMNS,
  type TimeRange,
} from '../../rollups/index.ts'
import { readStretches, SLOT, type Timeline } from './timeline.ts'

/** Rows summed without yielding: 1 ms. A site may have 500 kinds of events. */
const ROWS_PER_TURN = 200

const USUAL_DAYS = 7
const EARLIER_DAYS = 21

/** For each field, the columns that count events with it and events that could have had it. */
type FieldColumns<F extends string, C extends string> = Readonly<Record<F, readonly [present: C, total: C]>>

type EventColumn = (typeof EVENT_COLUMNS)[number]
export type SignalColumn = (typeof SIGNAL_COLUMNS)[number]

export const USER_DATA = {
  email: ['email', 'user_data_total'],
  phone: ['phone', 'user_data_total'],
  address: ['address', 'user_data_total'],
  first_name: ['first_name', 'user_data_detail_total'],
  last_name: ['last_name', 'user_data_detail_total'],
  city: ['city', 'user_data_detail_total'],
  country: ['country', 'user_data_detail_total'],
} as const satisfies FieldColumns<string, EventColumn>

export const ECOMMERCE = {
  value: ['value', 'ecommerce_total'],
  currency: ['currency', 'ecommerce_total'],
  transaction_id: ['transaction_id', 'ecommerce_total'],
  items: ['items', 'ecommerce_total'],
} as const satisfies FieldColumns<string, EventColumn>

/**
 * The week before the last day, in whole UTC hours.
 *
 * @param end of that day, epoch ms
 */
export function usualRange(end: number): TimeRange {
  const to = floorTo(end - DAY, HOUR)
  return { from: to - USUAL_DAYS * DAY, to }
}

/** The three weeks before that week, in whole UTC days. */
export function earlierRange(end: number): TimeRange {
  const to = floorTo(usualRange(end).from, DAY)
  return { from: to - EARLIER_DAYS * DAY, to }
}

/** Reads how often each kind of event had its fields. */
export interface PresenceReader<F extends string> {
  /**
   * In the buckets of the timeline, oldest first.
   *
   * @param end of the timeline
   */
  recent: (snapshot: Snapshot, timeline: Timeline, end: number) => Promise<Map<string, PresenceBucket<F>[]>>
  /**
   * Before the day that ends at `end`.
   *
   * @param hasEarlier whether to read the three weeks before the last one, too
   */
  weeks: (snapshot: Snapshot, end: number, hasEarlier: boolean) => Promise<Map<string, PresenceWeeks<F>>>
}

interface Columns<K extends string, C extends string, F extends string> {
  table: 'event_rollups' | 'signal_rollups' | 'field_rollups'
  by: readonly K[]
  columns: readonly C[]
  where?: RawBuilder<SqlBool>
  /** What has a history of its own; null leaves a row out, e.g. `OTHER`, which contains different events each day. */
  kindOf: (row: Record<K, string>) => string | null
  fieldsOf: (sums: Sums<C>, kind: string) => FieldCounts<F>
}

const kindOfEvent = ({ event_name }: { event_name: string }) => (event_name === OTHER ? null : event_name)

/** Reads user data and e-commerce fields, which are counted with the events themselves. */
export const presenceReader = <F extends string>(fields: FieldColumns<F, EventColumn>): PresenceReader<F> =>
  readerOf({
    ...columnsOf(fields),
    table: 'event_rollups',
    by: ['event_name'],
    kindOf: kindOfEvent,
  })

/** Reads fields from the signals, a table of its own. */
export const signalReader = <F extends string>(fields: FieldColumns<F, SignalColumn>): PresenceReader<F> =>
  readerOf({
    ...columnsOf(fields),
    table: 'signal_rollups',
    by: ['event_name'],
    kindOf: kindOfEvent,
  })

/** The same for all events together. */
export const signalReaderOfAll = <F extends string, C extends SignalColumn>(
  columns: readonly C[],
  fieldsOf: (sums: Sums<C>) => FieldCounts<F>,
): PresenceReader<F> => readerOf({ table: 'signal_rollups', by: [], columns, kindOf: () => ALL_EVENTS, fieldsOf })

/** The kind of all events together. */
export const ALL_EVENTS = ''

/** Selects only the columns that the fields need: each further one costs time in every minute row. */
function columnsOf<F extends string, C extends string>(
  fields: FieldColumns<F, C>,
): Pick<Columns<never, C, F>, 'columns' | 'fieldsOf'> {
  const all = Object.entries<readonly [C, C]>(fields)
  const count = (sums: Sums<C>, [present, total]: readonly [C, C]) => ({ present: sums[present], total: sums[total] })
  return {
    columns: [...new Set(all.flatMap(([, columns]) => columns))],
    fieldsOf: (sums, kind) => {
      const isExpected = (field: string) => field !== 'transaction_id' || bearsTransactionId(kind)
      return Object.fromEntries(
        all.map(([field, columns]) => [field, isExpected(field) ? count(sums, columns) : NONE]),
      ) as FieldCounts<F>
    },
  }
}

const NONE = { present: 0, total: 0 }

/** Which of the site's own parameters to judge; all when a name is missing. */
export interface ParameterFilter {
  event?: string | undefined
  parameter?: string | undefined
}

/** Reads the parameters that a site named itself. Each one on each of its events is a kind, see `parameterOf`. */
export function parameterReader({ event, parameter }: ParameterFilter): PresenceReader<typeof PARAMETER> {
  const conditions = [
    ...(event === undefined ? [] : [isOneOf('event_name', [event])]),
    ...(parameter === undefined ? [] : [isOneOf('field', [parameter])]),
  ]
  return readerOf({
    table: 'field_rollups',
    by: ['event_name', 'field'],
    columns: FIELD_COLUMNS,
    kindOf: ({ event_name, field }) =>
      event_name === OTHER || field === OTHER ? null : JSON.stringify([event_name, field]),
    fieldsOf: ({ present, total }) => ({ parameter: { present, total } }),
    ...(conditions.length === 0 ? {} : { where: sql<SqlBool>`${sql.join(conditions, sql` and `)}` }),
  })
}

export const parameterOf = (kind: string): [eventName: string, name: string] => JSON.parse(kind) as [string, string]

function readerOf<K extends string, C extends string, F extends string>({
  columns,
  kindOf,
  fieldsOf,
  ...source
}: Columns<K, C, F>): PresenceReader<F> {
  const byKind = async (
    snapshot: Snapshot,
    stretches: readonly Stretch[],
    slots: { length: number; end: number },
    bucketAt: (at: number) => TimeRange | undefined,
  ) => {
    const rows = Map.groupBy(await sumStretches(snapshot, { ...source, columns, stretches, slots }), kindOf)
    const kinds = new Map<string, PresenceBucket<F>[]>()
    const others = new Yielder(ROWS_PER_TURN)
    for (const [kind, ofKind] of rows) {
      if (kind !== null) kinds.set(kind, bucketsOf(kind, ofKind, bucketAt))
      await others.spend(ofKind.length)
    }
    return kinds
  }
  const bucketsOf = (
    kind: string,
    rows: readonly SumRow<K, C>[],
    bucketAt: (at: number) => TimeRange | undefined,
  ): PresenceBucket<F>[] =>
    [...Map.groupBy(rows, ({ at }) => bucketAt(at))]
      .flatMap(([bucket, ofBucket]) =>
        bucket === undefined ? [] : [{ ...bucket, fields: fieldsOf(sumOf(ofBucket, columns), kind) }],
      )
      .toSorted((a, b) => a.from - b.from)
  return {
    recent: (snapshot, timeline, end) =>
      byKind(
        snapshot,
        readStretches(timeline, end),
        { length: SLOT, end },
        (at) => timeline.buckets[timeline.indexAt(at)],
      ),
    async weeks(snapshot, end, hasEarlier) {
      const whole = (range: TimeRange, coarsest: (typeof GRAIN)['hour' | 'day'], length: number) =>
        byKind(snapshot, [{ ...range, coarsest }], { length, end: range.to }, wholeAt(length))
      const usual = await whole(usualRange(end), GRAIN.hour, HOUR)
      if (!hasEarlier) return new Map(Array.from(usual, ([kind, hours]) => [kind, { usual: hours }]))
      const earlier = await whole(earlierRange(end), GRAIN.day, DAY)
      return new Map(Array.from(usual, ([kind, hours]) => [kind, { usual: hours, earlier: earlier.get(kind) ?? [] }]))
    },
  }
}

/** Returns the whole hour or day that a time is in, always as the same object. */
function wholeAt(length: number): (at: number) => TimeRange {
  const known = new Map<number, TimeRange>()
  return (at) => {
    const from = floorTo(at, length)
    const whole = known.get(from) ?? { from, to: from + length }
    known.set(from, whole)
    return whole
  }
}

function sumOf<C extends string>(rows: readonly Sums<C>[], columns: readonly C[]): Sums<C> {
  const sums = zeroSums(columns)
  for (const row of rows) addSums(sums, row, columns)
  return sums
}
