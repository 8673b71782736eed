import { ordinaryLevel, type PresenceWeeks, waveringOfDays } from './four-weeks.ts'
import { sum } from './statistics.ts'
import { clumping, countsOfField, eventsIn, type FaultyShare, type UsualShare, usualShare } from './usual-share.ts'

/** What those say of a field. */
export interface PastField extends UsualShare {
  /** How many events say as much as one that came alone, if the hours of the day are all alike. */
  readonly clumping: number
  /** See `ordinaryLevel`. */
  readonly ordinaryLevel: number | null
  /** See `waveringOfDays`. */
  readonly waveringOfDays: number | null
}

/** All that a run needs of the past: some hundred bytes a field in place of hundreds of hours. */
export interface PastFields<F extends string> {
  /** Of the week. */
  readonly events: number
  readonly fields: Readonly<Record<F, PastField>>
}

/** @param faulty what is looked for on each field, so that hours of the past that were as broken are left out */
export function learnFields<F extends string>(
  weeks: PresenceWeeks<F>,
  faulty: Readonly<Record<F, FaultyShare>>,
): PastFields<F> {
  const fields = Object.entries<FaultyShare>(faulty).map(([field, fault]) => [
    field,
    learnField(field as F, weeks, fault),
  ])
  return {
    events: sum(weeks.usual.map(eventsIn)),
    fields: Object.fromEntries(fields) as Record<F, PastField>,
  }
}

function learnField<F extends string>(field: F, weeks: PresenceWeeks<F>, fault: FaultyShare): PastField {
  const usual = usualShare(field, weeks.usual, fault)
  const hours = countsOfField(field, weeks.usual)
  const [present, total] = [sum(hours.map((hour) => hour.present)), sum(hours.map((hour) => hour.total))]
  return {
    ...usual,
    clumping: clumping(hours, () => (total === 0 ? 0 : present / total)),
    // A week has too few days to tell.
    ordinaryLevel: weeks.earlier === undefined ? null : ordinaryLevel(field, weeks, usual),
    waveringOfDays: weeks.earlier === undefined ? null : waveringOfDays(field, weeks, usual),
  }
}

/** The same fault on each of the fields. */
export const faultOnEach = <F extends string>(fields: readonly F[], fault: FaultyShare): Record<F, FaultyShare> =>
  Object.fromEntries(fields.map((field) => [field, fault])) as Record<F, FaultyShare>
