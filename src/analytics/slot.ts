import { type RawBuilder, sql } from 'kysely'
import { DAY, HOUR, MINUTE } from '../lib/index.ts'
import type { BucketStep } from './buckets.ts'
import { modulo, type OffsetSpan } from './zone.ts'

const UNIT_MS = { minute: MINUTE, hour: HOUR, day: DAY } as const

/**
 * SQL that gives rows of one minute step, local hour or local day the same value, so that the database adds them up.
 * A day with a clock change may fall into two, so the value is no bucket's start: find the bucket by a row's own start.
 */
export function slotOf(step: BucketStep, spans: readonly OffsetSpan[]): RawBuilder<number> {
  const size = step.unit === 'minute' ? step.count * MINUTE : UNIT_MS[step.unit]
  const shifts = shiftsOf(size, spans)
  const last = whole(shifts.at(-1)?.shift ?? 0)
  if (shifts.length <= 1) return slot(last, size)
  const cases = shifts.slice(0, -1).map(({ to, shift }) => sql`when bucket < ${whole(to)} then ${whole(shift)}`)
  return slot(sql<number>`case ${sql.join(cases, sql` `)} else ${last} end`, size)
}

const slot = (shift: RawBuilder<number>, size: number): RawBuilder<number> =>
  sql<number>`bucket - (bucket + ${shift}) % ${whole(size)}`

/** A cast, because an engine that infers the type of a parameter takes one inside `case` for text. */
const whole = (value: number): RawBuilder<number> => sql<number>`cast(${value} as bigint)`

/** What to add to UTC so that slots start at multiples of `size`, with neighbouring spans that need the same joined. */
function shiftsOf(size: number, spans: readonly OffsetSpan[]): { to: number; shift: number }[] {
  const shifts: { to: number; shift: number }[] = []
  for (const { to, offset } of spans) {
    const shift = modulo(offset, size)
    const last = shifts.at(-1)
    if (last?.shift === shift) last.to = to
    else shifts.push({ to, shift })
  }
  return shifts
}
