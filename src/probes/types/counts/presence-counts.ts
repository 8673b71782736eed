import {
  qualityCounts,
  SCORE_EVENT_COLUMNS,
  SCORE_EVENT_MEASURES,
  type Snapshot,
  type Sums,
  sumStretches,
  totals,
} from '../../../analytics/index.ts'
import type { FieldCounts, PresenceBucket } from '../../../detection/index.ts'
import { ceilTo, DAY, HOUR } from '../../../lib/index.ts'
import { GRAIN, type TimeRange } from '../../../rollups/index.ts'
import { SLOT, type Timeline } from './timeline.ts'

/** What only per-event payloads tell. */
const DETAIL_FIELDS = ['first_name', 'last_name', 'city', 'country'] as const
const COLUMNS = [...SCORE_EVENT_COLUMNS, 'user_data_detail_total', ...DETAIL_FIELDS] as const
const MEASURES = { ...SCORE_EVENT_MEASURES, ...totals(['user_data_detail_total', ...DETAIL_FIELDS]) }
const USUAL_DAYS = 7

type PresenceSums = Sums<(typeof COLUMNS)[number]>
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

export interface PresenceCounts<F extends string> {
  /** In the buckets of the timeline, oldest first; those without events are missing. */
  recent: PresenceBucket<F>[]
  /** The seven days before the timeline. */
  usual: FieldCounts<F>
}

/** Where the time begins that `readPresence` asks for. */
export const presenceFrom = (timeline: Timeline): number => usualRange(timeline).from

/** Whole UTC hours, which end where the timeline begins. */
function usualRange({ buckets }: Timeline): TimeRange {
  const to = ceilTo(buckets[0]?.from ?? 0, HOUR)
  return { from: to - USUAL_DAYS * DAY, to }
}

/** How often each field was there, over all events. @param fieldsOf the fields of one kind of data */
export async function readPresence<F extends string>(
  snapshot: Snapshot,
  timeline: Timeline,
  end: number,
  fieldsOf: (sums: PresenceSums) => FieldCounts<F>,
): Promise<PresenceCounts<F>> {
  const { buckets, slotsFrom } = timeline
  const rows = await sumStretches(snapshot, {
    table: 'event_rollups',
    stretches: [
      { from: buckets[0]?.from ?? end, to: slotsFrom, coarsest: GRAIN.hour },
      { from: slotsFrom, to: end, coarsest: GRAIN.minute },
    ],
    by: [],
    measures: MEASURES,
    slots: { length: SLOT, end },
  })
  const usual = await sumStretches(snapshot, {
    table: 'event_rollups',
    stretches: [{ ...usualRange(timeline), coarsest: GRAIN.day }],
    by: [],
    measures: MEASURES,
  })
  const byBucket = Map.groupBy(rows, ({ at }) => timeline.indexAt(at))
  return {
    recent: buckets.flatMap((bucket, index) => {
      const ofBucket = byBucket.get(index)
      return ofBucket === undefined ? [] : [{ ...bucket, fields: fieldsOf(sumOf(ofBucket)) }]
    }),
    usual: fieldsOf(sumOf(usual)),
  }
}

const sumOf = (rows: readonly PresenceSums[]): PresenceSums =>
  Object.fromEntries(COLUMNS.map((column) => [column, rows.reduce((sum, row) => sum + row[column], 0)])) as PresenceSums
