import { type RawBuilder, type SqlBool, sql } from 'kysely'
import {
  addSums,
  isOneOf,
  qualityCounts,
  SCORE_EVENT_COLUMNS,
  SCORE_EVENT_MEASURES,
  type Snapshot,
  type Stretch,
  type Sums,
  sumStretches,
  totals,
  zeroSums,
} from '../../analytics/index.ts'
import {
  type FieldCounts,
  type OwnParameter,
  PARAMETER,
  type PresenceBucket,
  type PresenceHistory,
} from '../../detection/index.ts'
import { ceilTo, DAY, floorTo, HOUR } from '../../lib/index.ts'
import { FIELD_COLUMNS, GRAIN, NO_EVENT, OTHER, SIGNAL_COLUMNS, type TimeRange } from '../../rollups/index.ts'
import { SLOT, type Timeline } from './timeline.ts'

/** What only per-event payloads hold. */
const DETAIL_FIELDS = ['first_name', 'last_name', 'city', 'country'] as const
const COLUMNS = [...SCORE_EVENT_COLUMNS, 'user_data_detail_total', ...DETAIL_FIELDS] as const
const MEASURES = { ...SCORE_EVENT_MEASURES, ...totals(['user_data_detail_total', ...DETAIL_FIELDS]) }
const USUAL_DAYS = 7
const EARLIER_DAYS = 21

type PresenceSums = Sums<(typeof COLUMNS)[number]>
export type SignalSums = Sums<(typeof SIGNAL_COLUMNS)[number]>
export type UserDataField = 'email' | 'phone' | 'address' | (typeof DETAIL_FIELDS)[number]
export type EcommerceField = 'value' | 'currency' | 'transaction_id' | 'items'

export const userDataFields = (sums: PresenceSums): FieldCounts<UserDataField> => ({
  ...qualityCounts(sums).user_data,
  first_name: { present: sums.first_name, total: sums.user_data_detail_total },
  last_name: { present: sums.last_name, total: sums.user_data_detail_total },
  city: { present: sums.city, total: sums.user_data_detail_total },
  country: { present: sums.country, total: sums.user_data_detail_total },
})

export const ecommerceFields = (sums: PresenceSums): FieldCounts<EcommerceField> => qualityCounts(sums).ecommerce

/** Where the time begins that is asked for. @param hasEarlier with the weeks before the one that is usual */
export const presenceFrom = (timeline: Timeline, hasEarlier = false): number =>
  (hasEarlier ? earlierRange(timeline) : usualRange(timeline)).from

/** The week before: whole UTC hours, which end where the timeline begins. */
export function usualRange({ buckets }: Timeline): TimeRange {
  const to = ceilTo(buckets[0]?.from ?? 0, HOUR)
  return { from: to - USUAL_DAYS * DAY, to }
}

/** Three weeks before that one, in whole UTC days. */
export function earlierRange(timeline: Timeline): TimeRange {
  const to = floorTo(usualRange(timeline).from, DAY)
  return { from: to - EARLIER_DAYS * DAY, to }
}

/**
 * How often each field was there on each kind of event: in the buckets of the timeline, and by the hour in the week before.
 *
 * @param fieldsOf the fields of one kind of data
 */
export const readPresence = <F extends string>(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
  fieldsOf: (sums: PresenceSums) => FieldCounts<F>,
): Promise<PresenceHistory<F>[]> =>
  readKinds(snapshot, timeline, end, { table: 'event_rollups', columns: COLUMNS, measures: MEASURES }, fieldsOf)

/** The same of what events say beside that. @param hasEarlier by the day for three weeks more */
export const readSignals = <F extends string>(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
  fieldsOf: (sums: SignalSums) => FieldCounts<F>,
  hasEarlier: boolean,
): Promise<PresenceHistory<F>[]> =>
  readKinds(
    snapshot,
    timeline,
    end,
    { table: 'signal_rollups', columns: SIGNAL_COLUMNS, measures: totals(SIGNAL_COLUMNS), hasEarlier },
    fieldsOf,
  )

/** Which parameters of the site's own are judged; without a name all are. */
export interface ParameterFilter {
  event?: string | undefined
  parameter?: string | undefined
}

/** The same of the parameters that a site has named itself, each on each event that names it. */
export async function readParameters(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
  { event, parameter }: ParameterFilter,
): Promise<OwnParameter[]> {
  const conditions = [
    ...(event === undefined ? [] : [isOneOf('event_name', [event])]),
    ...(parameter === undefined ? [] : [isOneOf('field', [parameter])]),
  ]
  const histories = await readHistories(
    snapshot,
    timeline,
    end,
    {
      table: 'field_rollups',
      by: ['event_name', 'field'],
      columns: FIELD_COLUMNS,
      measures: totals(FIELD_COLUMNS),
      ...(conditions.length === 0 ? {} : { where: sql<SqlBool>`${sql.join(conditions, sql` and `)}` }),
    },
    ({ event_name, field }) => JSON.stringify([event_name, field]),
    ({ present, total }): FieldCounts<typeof PARAMETER> => ({ [PARAMETER]: { present, total } }),
  )
  return [...histories].flatMap(([key, history]): OwnParameter[] => {
    const [eventName, name] = JSON.parse(key) as [string, string]
    // What is counted together over the cardinality cap is something else every day.
    if (eventName === OTHER || name === OTHER) return []
    return [{ name, history: { event_name: eventName === NO_EVENT ? null : eventName, ...history } }]
  })
}

interface Source<K extends string, C extends string> {
  table: 'event_rollups' | 'signal_rollups' | 'field_rollups'
  by: readonly K[]
  columns: readonly C[]
  measures: Readonly<Record<C, RawBuilder<number>>>
  where?: RawBuilder<SqlBool>
  /** With the weeks before the one that is usual. */
  hasEarlier?: boolean
}

async function readKinds<C extends string, F extends string>(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
  source: Omit<Source<'event_name', C>, 'by'>,
  fieldsOf: (sums: Sums<C>) => FieldCounts<F>,
): Promise<PresenceHistory<F>[]> {
  const by = ['event_name'] as const
  const nameOf = ({ event_name }: { event_name: string }) => event_name
  const histories = await readHistories(snapshot, timeline, end, { ...source, by }, nameOf, fieldsOf)
  return [...histories]
    .filter(([name]) => name !== OTHER)
    .map(([name, history]) => ({ event_name: name === NO_EVENT ? null : name, ...history }))
}

async function readHistories<K extends string, C extends string, F extends string>(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
  { columns, hasEarlier = false, ...source }: Source<K, C>,
  keyOf: (row: Record<K, string>) => string,
  fieldsOf: (sums: Sums<C>) => FieldCounts<F>,
): Promise<Map<string, Omit<PresenceHistory<F>, 'event_name'>>> {
  const { buckets, slotsFrom } = timeline
  const usual = usualRange(timeline)
  const rowsOf = (stretches: readonly Stretch[], length: number, slotEnd: number) =>
    sumStretches(snapshot, { ...source, stretches, slots: { length, end: slotEnd } })
  const recentStretches = [
    { from: buckets[0]?.from ?? end, to: slotsFrom, coarsest: GRAIN.hour },
    { from: slotsFrom, to: end, coarsest: GRAIN.minute },
  ]
  const recentByKey = Map.groupBy(await rowsOf(recentStretches, SLOT, end), keyOf)
  const usualByKey = Map.groupBy(await rowsOf([{ ...usual, coarsest: GRAIN.hour }], HOUR, usual.to), keyOf)
  const earlier = earlierRange(timeline)
  const earlierRows = hasEarlier ? await rowsOf([{ ...earlier, coarsest: GRAIN.day }], DAY, earlier.to) : []
  const earlierByKey = Map.groupBy(earlierRows, keyOf)
  const bucketsOf = (
    rows: readonly (Sums<C> & { at: number })[],
    bucketOf: (at: number) => TimeRange | undefined,
  ): PresenceBucket<F>[] => {
    const together = Map.groupBy(rows, ({ at }) => bucketOf(at))
    return [...together]
      .flatMap(([bucket, ofBucket]) =>
        bucket === undefined ? [] : [{ ...bucket, fields: fieldsOf(sumOf(ofBucket, columns)) }],
      )
      .toSorted((a, b) => a.from - b.from)
  }
  const [hourAt, dayAt] = [wholeAt(HOUR), wholeAt(DAY)]
  const keys = new Set([...recentByKey.keys(), ...usualByKey.keys()])
  return new Map(
    Array.from(keys, (key) => [
      key,
      {
        recent: bucketsOf(recentByKey.get(key) ?? [], (at) => buckets[timeline.indexAt(at)]),
        usual: bucketsOf(usualByKey.get(key) ?? [], hourAt),
        ...(hasEarlier ? { earlier: bucketsOf(earlierByKey.get(key) ?? [], dayAt) } : {}),
      },
    ]),
  )
}

/** The whole hour or day that a time is in, the same object each time. */
export function wholeAt(length: number): (at: number) => TimeRange {
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
