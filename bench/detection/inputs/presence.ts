import type { FieldCounts, PresenceBucket } from '../../../src/detection/index.ts'
import type { SiteHistory } from '../history.ts'
import type { Field } from '../profile.ts'
import { Sums } from '../sums.ts'
import { RUN_EVERY, SLOTS_A_DAY, timeOf } from '../world.ts'
import { filled } from './tags.ts'

/** The last 24 hours of the fields' presence at the start of a slot, and the seven days before. */
export function presenceInputs<F extends Field>(history: SiteHistory, fields: readonly F[]) {
  const series = fields.map((field) => {
    const { present, total } = history.fields.get(field) ?? { present: new Float64Array(), total: new Float64Array() }
    return { field, present: new Sums(present), total: new Sums(total) }
  })
  const counts = (from: number, to: number) =>
    Object.fromEntries(
      series.map(({ field, present, total }) => [
        field,
        { present: present.between(from, to), total: total.between(from, to) },
      ]),
    ) as FieldCounts<F>
  const { last } = filled((slot): PresenceBucket<F> | null => {
    const isEmpty = series.every(({ total }) => total.between(slot, slot + RUN_EVERY) === 0)
    return isEmpty ? null : { from: timeOf(slot), to: timeOf(slot + RUN_EVERY), fields: counts(slot, slot + RUN_EVERY) }
  })
  return (slot: number) => ({ recent: last(slot), usual: counts(slot - 8 * SLOTS_A_DAY, slot - SLOTS_A_DAY) })
}
