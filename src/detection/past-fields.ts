import { DAY } from '../lib/index.ts'
import { clamp, median, sum } from './statistics.ts'
import {
  blocksOf,
  clumping,
  countsOfField,
  eventsIn,
  type FaultyShare,
  type FieldCount,
  type PresenceBucket,
  type RangeCount,
  type UsualShare,
  usualShare,
  WAVERING,
} from './usual-share.ts'

/** Events of one name before the last day. */
export interface PresenceWeeks<F extends string> {
  /** The seven days before the last 24 hours, hour by hour, oldest first; hours without events may be missing. */
  readonly usual: readonly PresenceBucket<F>[]
  /** The three weeks before those, day by day, for those who ask for them; days without events may be missing. */
  readonly earlier?: readonly PresenceBucket<F>[]
}

/** Days that have to be known before they show what a site is like without a campaign. */
const MIN_DAYS = 14
/** Shares of fewer events that have the field, each on its own, differ by chance alone. */
const LEAST_PRESENT = 10
/** A day of fewer clumps says little of its level. */
const LEAST_CLUMPS = 10
/** By how much four weeks may make too little of the variance of days. */
const DOUBT = 1.5
/** Campaigns may fill so much of the time that is known, and faults what is left. */
const ORDINARY = 0.25

/**
 * What a field's share is on days without a campaign, as a part of what it was in the last week, 1 at most: campaigns end, and what they brought ends with them. It is the lower quartile of the
 * days of four weeks, so a fault of less than a week is not taken for an ordinary time. Null where fewer than two weeks are known.
 *
 * @param known what the last week says
 */
export function ordinaryLevel<F extends string>(
  field: F,
  weeks: PresenceWeeks<F>,
  known: Pick<UsualShare, 'rate' | 'together'>,
): number | null {
  const days = daysOfField(field, weeks)
  if (days.length < MIN_DAYS || known.rate === 0) return null
  const shares = blocksOf(days, (LEAST_PRESENT * known.together) / known.rate).map(
    ({ present, total }) => present / total,
  )
  const quartile = shares.toSorted((a, b) => a - b)[Math.floor(ORDINARY * shares.length)]
  return quartile === undefined ? null : Math.min(1, quartile / known.rate)
}

/** A day farther off than so many standard deviations counts as if it were no farther (Huber 1964), … */
const FARTHEST = 2.5
/** … which leaves so much of the variance of normal numbers; and of their distance from the median half are nearer than this. */
const LEFT_OF_VARIANCE = 0.96
const HALF_ARE_NEARER = 0.6745

/**
 * By how much the level of a share wavers from day to day, as a variance of the share beyond what chance and clumps make: what seven days show of it may be a fourth of what
 * it is, four weeks are rarely so wrong. A fault of some days hardly adds to it. Null where fewer than two weeks are known.
 *
 * @param known what the last week says
 */
export function waveringOfDays<F extends string>(
  field: F,
  weeks: PresenceWeeks<F>,
  known: Pick<UsualShare, 'rate' | 'together'>,
): number | null {
  const days = daysOfField(field, weeks).filter(({ total }) => total >= LEAST_CLUMPS * known.together)
  if (days.length < MIN_DAYS) return null
  const shares = days.map(({ present, total }) => present / total)
  const middle = median(shares)
  const farthest = (FARTHEST / HALF_ARE_NEARER) * median(shares.map((share) => Math.abs(share - middle)))
  const squares = shares.map((share) => clamp(share - middle, -farthest, farthest) ** 2)
  const chance = middle * (1 - middle)
  const byChance = sum(days.map(({ total }) => (known.together * chance) / total))
  const measured = Math.max(0, sum(squares) / LEFT_OF_VARIANCE - byChance) / (days.length - 1)
  const { weight, prior } = WAVERING
  return (days.length * DOUBT * measured + weight * prior * chance ** 2) / (days.length + weight)
}

/** The days of four weeks that have any. */
const daysOfField = <F extends string>(field: F, { usual, earlier = [] }: PresenceWeeks<F>): FieldCount[] =>
  [...countsOfField(field, earlier), ...daysOf(countsOfField(field, usual))].filter(({ total }) => total > 0)

/** By 24 hours each, from the first hour on. */
function daysOf(hours: readonly RangeCount[]): FieldCount[] {
  const start = hours[0]?.from ?? 0
  return Array.from(
    Map.groupBy(hours, ({ from }) => Math.floor((from - start) / DAY)).values(),
    (ofDay): FieldCount => ({ present: sum(ofDay.map(presentIn)), total: sum(ofDay.map(totalIn)) }),
  )
}

const presentIn = ({ present }: FieldCount): number => present
const totalIn = ({ total }: FieldCount): number => total

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
