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
  /** The three weeks before those, day by day, if the caller needs them; days without events may be missing. */
  readonly earlier?: readonly PresenceBucket<F>[]
}

/** Days that must be known to show what a site is like without a campaign. */
const MIN_DAYS = 14
/** With fewer events that have the field, daily shares differ by chance alone. */
const LEAST_PRESENT = 10
/** A day with fewer clumps says little about its level. */
const LEAST_CLUMPS = 10
/** Factor by which four weeks may understate the variance of days. */
const DOUBT = 1.5
/** The quartile to take: campaigns may fill three quarters of the known time, and faults part of the rest. */
const ORDINARY = 0.25

/**
 * Returns a field's share on days without a campaign, relative to the last week, at most 1. Campaigns end, and what they brought ends with them. It
 * is the lower quartile of the days of four weeks, so that a fault of less than a week does not pass for the ordinary. Null when fewer than two
 * weeks are known.
 *
 * @param known what is learnt from the last week
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

/** Days farther off than this many standard deviations count as this far (Huber 1964), … */
const FARTHEST = 2.5
/** … which keeps this much of a normal variance; half of all normal numbers are within this distance of the median. */
const LEFT_OF_VARIANCE = 0.96
const HALF_ARE_NEARER = 0.6745

/**
 * Returns how much the level of a share varies from day to day: a variance of the share, beyond what chance and clumps cause. Seven days may show
 * only a fourth of it; four weeks are rarely so wrong. A fault of some days hardly adds to it. Null when fewer than two weeks are known.
 *
 * @param known what is learnt from the last week
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

/** The days of four weeks that have any events. */
const daysOfField = <F extends string>(field: F, { usual, earlier = [] }: PresenceWeeks<F>): FieldCount[] =>
  [...countsOfField(field, earlier), ...daysOf(countsOfField(field, usual))].filter(({ total }) => total > 0)

/** Sums of 24 hours each, from the first hour on. */
function daysOf(hours: readonly RangeCount[]): FieldCount[] {
  const start = hours[0]?.from ?? 0
  return Array.from(
    Map.groupBy(hours, ({ from }) => Math.floor((from - start) / DAY)).values(),
    (ofDay): FieldCount => ({ present: sum(ofDay.map(presentIn)), total: sum(ofDay.map(totalIn)) }),
  )
}

const presentIn = ({ present }: FieldCount): number => present
const totalIn = ({ total }: FieldCount): number => total

/** What is learnt about a field. */
export interface PastField extends UsualShare {
  /** How many events say as much as a single one, if all hours of the day are alike. */
  readonly clumping: number
  /** See `ordinaryLevel`. */
  readonly ordinaryLevel: number | null
  /** See `waveringOfDays`. */
  readonly waveringOfDays: number | null
}

/** All that a run needs of the past: some hundred bytes per field instead of hundreds of hours. */
export interface PastFields<F extends string> {
  /** Number of events in the week. */
  readonly events: number
  readonly fields: Readonly<Record<F, PastField>>
}

/** @param faulty what to look for on each field, so that past hours with the same fault are left out */
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
    // A week has too few days for these.
    ordinaryLevel: weeks.earlier === undefined ? null : ordinaryLevel(field, weeks, usual),
    waveringOfDays: weeks.earlier === undefined ? null : waveringOfDays(field, weeks, usual),
  }
}

/** Looks for the same fault on each field. */
export const faultOnEach = <F extends string>(fields: readonly F[], fault: FaultyShare): Record<F, FaultyShare> =>
  Object.fromEntries(fields.map((field) => [field, fault])) as Record<F, FaultyShare>
