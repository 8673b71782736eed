import type { FieldCounts, PresenceBucket, PresenceHistory } from '../../../src/detection/index.ts'
import type { Presence } from '../counts.ts'
import { Sums } from '../sums.ts'
import { RUN_EVERY, SLOTS_A_DAY, SLOTS_AN_HOUR, timeOf } from '../world.ts'
import { filled } from './tags.ts'

/** The last 24 hours of the fields' presence at the start of a slot, and the seven days before, kind by kind. */
export function presenceInputs<F extends string>(
  presence: ReadonlyMap<string | null, ReadonlyMap<F, Presence>>,
  fields: readonly F[],
) {
  const kinds = [...presence].map(([event_name, ofEvent]) => {
    const series = fields.map((field) => {
      const { present, total } = ofEvent.get(field) ?? { present: new Float64Array(), total: new Float64Array() }
      return { field, present: new Sums(present), total: new Sums(total) }
    })
    const bucket = (from: number, length: number): PresenceBucket<F> | null => {
      const counts = Object.fromEntries(
        series.map(({ field, present, total }) => [
          field,
          { present: present.between(from, from + length), total: total.between(from, from + length) },
        ]),
      ) as FieldCounts<F>
      const isEmpty = fields.every((field) => counts[field].total === 0)
      return isEmpty ? null : { from: timeOf(from), to: timeOf(from + length), fields: counts }
    }
    const { last } = filled((slot) => bucket(slot, RUN_EVERY))
    const hours = hourly((slot) => bucket(slot, SLOTS_AN_HOUR))
    return (slot: number): PresenceHistory<F> => ({
      event_name,
      recent: last(slot),
      usual: hours(slot - 8 * SLOTS_A_DAY, slot - SLOTS_A_DAY),
    })
  })
  return (slot: number) => ({ fields, kinds: kinds.map((kindAt) => kindAt(slot)) })
}

/** Whole hours, each made once. */
export function hourly<B>(bucketAt: (slot: number) => B | null): (from: number, to: number) => B[] {
  const made = new Map<number, B | null>()
  return (from, to) => {
    const buckets: B[] = []
    const first = Math.max(0, Math.ceil(from / SLOTS_AN_HOUR))
    for (let slot = first * SLOTS_AN_HOUR; slot + SLOTS_AN_HOUR <= to; slot += SLOTS_AN_HOUR) {
      const bucket = made.has(slot) ? (made.get(slot) ?? null) : bucketAt(slot)
      made.set(slot, bucket)
      if (bucket !== null) buckets.push(bucket)
    }
    return buckets
  }
}
