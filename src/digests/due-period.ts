import { Temporal } from 'temporal-polyfill'
import type { Digest } from '../management/index.ts'

export type DigestKind = Exclude<Digest, 'off'>

/** Half-open, epoch ms. */
export interface Period {
  from: number
  to: number
}

/** A period that is over, and the one that it is measured against. */
export interface DuePeriod extends Period {
  /** When its digest was to be written. */
  dueAt: number
  before: Period
}

/** When people start to work, and late enough for the last events of the night to be counted. */
const DUE_TIME = Temporal.PlainTime.from('07:00')

/**
 * The last period whose digest is due. Of days: the day before, at 07:00 local time. Of weeks: Monday to Sunday, at 07:00 on
 * the Monday after.
 */
export function duePeriod(kind: DigestKind, timezone: string, now: number): DuePeriod {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  const isDaily = kind === 'daily'
  const end = isDaily ? today : today.subtract({ days: today.dayOfWeek - 1 })
  let due: Omit<DuePeriod, 'before'> | undefined
  for (const { dueAt, ...period } of periodsBefore(end, isDaily ? 1 : 7, timezone)) {
    if (due !== undefined) return { ...due, before: period }
    if (dueAt <= now) due = { ...period, dueAt }
  }
  throw new Error('there is always an earlier period')
}

/** The periods of so many days that end with the start of `end` and before it, the latest first. */
function* periodsBefore(
  end: Temporal.PlainDate,
  days: number,
  timezone: string,
): Generator<Omit<DuePeriod, 'before'>, never> {
  for (let date = end; ; date = date.subtract({ days })) {
    const from = date.subtract({ days }).toZonedDateTime(timezone).epochMilliseconds
    const to = date.toZonedDateTime(timezone).epochMilliseconds
    const dueAt = date.toZonedDateTime({ timeZone: timezone, plainTime: DUE_TIME }).epochMilliseconds
    // A day that a zone left out, as Samoa did on its way over the date line, is no day to report on.
    if (from < to) yield { from, to, dueAt }
  }
}
