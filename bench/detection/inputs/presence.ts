import type {
  FieldCounts,
  PastFields,
  PresenceBucket,
  PresenceHistory,
  PresenceWeeks,
} from '../../../src/detection/index.ts'
import { floorTo } from '../../../src/lib/index.ts'
import type { Presence } from '../counts.ts'
import { Sums } from '../sums.ts'
import { RUN_EVERY, SLOTS_A_DAY, SLOTS_AN_HOUR, timeOf } from '../world.ts'
import { filled } from './tags.ts'

const EARLIER_DAYS = 21
/** As often as the service learns of a site that is known. */
const SLOTS_LEARNT = 3 * SLOTS_AN_HOUR

type PresenceByField<F extends string> = Pick<ReadonlyMap<F, Presence>, 'get'>

/** The last 24 hours of the fields' presence at the start of a slot, and what is learnt of the weeks before, kind by kind. */
export function presenceInputs<F extends string>(
  presence: ReadonlyMap<string | null, PresenceByField<NoInfer<F>>>,
  fields: readonly F[],
  learn: (weeks: PresenceWeeks<F>) => PastFields<F>,
  hasEarlier = false,
) {
  const kinds = [...presence].map(([event_name, ofEvent]) => {
    const { recent, weeks } = presenceOf(ofEvent, fields, hasEarlier)
    const learnt = learning(learn)
    return (slot: number): PresenceHistory<F> => ({ event_name, recent: recent(slot), past: learnt(weeks(slot)) })
  })
  return (slot: number) => ({ fields, kinds: kinds.map((kindAt) => kindAt(slot)) })
}

/** Of one kind: the last 24 hours at the start of a slot; the seven days before, and the days of the three weeks before those. */
export function presenceOf<F extends string>(
  ofEvent: PresenceByField<NoInfer<F>>,
  fields: readonly F[],
  hasEarlier: boolean,
) {
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
  const hours = each(SLOTS_AN_HOUR, bucket)
  const days = each(SLOTS_A_DAY, bucket)
  return {
    recent: last,
    weeks: (now: number): PresenceWeeks<F> => {
      const slot = floorTo(now, SLOTS_LEARNT)
      const usual = hours(slot - 8 * SLOTS_A_DAY, slot - SLOTS_A_DAY)
      if (!hasEarlier) return { usual }
      return { usual, earlier: days(slot - (9 + EARLIER_DAYS) * SLOTS_A_DAY, slot - 8 * SLOTS_A_DAY) }
    },
  }
}

/** Learns again when the hours of the week are others. */
export function learning<W extends { usual: readonly unknown[] }, P>(learn: (weeks: W) => P): (weeks: W) => P {
  let last: { usual: readonly unknown[]; past: P } | null = null
  return (weeks) => {
    if (last === null || last.usual !== weeks.usual) last = { usual: weeks.usual, past: learn(weeks) }
    return last.past
  }
}

/** Whole buckets of a length, each made once; until the next is whole the same list, so that what is usual is learnt once an hour. */
export function each<B>(
  length: number,
  bucketAt: (slot: number, length: number) => B | null,
): (from: number, to: number) => B[] {
  const made = new Map<number, B | null>()
  let last: { first: number; end: number; buckets: B[] } | null = null
  return (from, to) => {
    const first = Math.max(0, Math.ceil(from / length))
    const end = Math.floor(to / length)
    if (last?.first === first && last.end === end) return last.buckets
    const buckets: B[] = []
    for (let slot = first * length; slot + length <= to; slot += length) {
      const bucket = made.has(slot) ? (made.get(slot) ?? null) : bucketAt(slot, length)
      made.set(slot, bucket)
      if (bucket !== null) buckets.push(bucket)
    }
    last = { first, end, buckets }
    return buckets
  }
}
