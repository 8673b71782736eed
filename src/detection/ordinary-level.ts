import { DAY } from '../lib/index.ts'
import type { PresenceHistory } from './quality.ts'
import { sum } from './statistics.ts'
import { blocksOf, countsOfField, type FieldCount, type RangeCount, type UsualShare } from './usual-share.ts'

/** Days that have to be known before they show what a site is like without a campaign. */
const MIN_DAYS = 14
/** Shares of fewer events that have the field, each on its own, differ by chance alone. */
const LEAST_PRESENT = 10
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
  { usual, earlier = [] }: Pick<PresenceHistory<F>, 'usual' | 'earlier'>,
  known: Pick<UsualShare, 'rate' | 'together'>,
): number | null {
  const days = [...countsOfField(field, earlier), ...daysOf(countsOfField(field, usual))].filter(
    ({ total }) => total > 0,
  )
  if (days.length < MIN_DAYS || known.rate === 0) return null
  const shares = blocksOf(days, (LEAST_PRESENT * known.together) / known.rate).map(
    ({ present, total }) => present / total,
  )
  const quartile = shares.toSorted((a, b) => a - b)[Math.floor(ORDINARY * shares.length)]
  return quartile === undefined ? null : Math.min(1, quartile / known.rate)
}

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
