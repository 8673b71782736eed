import { HOUR } from '../lib/index.ts'
import type { LocalDay } from '../uptime/index.ts'

/** Both sides by UTC hour, epoch ms. An hour missing in `reference` was not reported; one missing in `counted` had no events. */
export interface HourlySeries {
  reference: ReadonlyMap<number, number>
  counted: ReadonlyMap<number, number>
  /** Whether our count of the hour is unknown: for part of it Tagwarden was down, the site was paused or did not exist yet. */
  isUnknown: (hour: number) => boolean
  /** Our counts begin here, epoch ms. */
  from: number
}

/** What both sides counted in a set of hours, and which of the hours are missing. */
export interface Comparison {
  /** Completed hours for which both counts are known: `reference` and `counted` are their sums. */
  comparedHours: number
  reference: number
  counted: number
  /**
   * Completed hours for which our count is known but the source gave none, which is not the same as a reference of 0; and what
   * we counted in them.
   */
  missingHours: number
  countedInMissing: number
  /** Hours for which the source gave a count but ours is unknown. */
  unknownHours: number
}

export interface ComparedDay extends LocalDay, Comparison {
  /** All of its hours are over. */
  isOver: boolean
}

/**
 * Compares both sides day by day. An hour belongs to the day in which it begins: where a zone is off UTC by half an hour,
 * midnight splits it.
 *
 * @param until hours ending later are not over yet, epoch ms
 */
export const compareDays = (days: readonly LocalDay[], series: HourlySeries, until: number): ComparedDay[] =>
  days.map((day) => ({ ...day, ...compareHours(day, series, until), isOver: day.to <= until }))

function compareHours({ from, to }: LocalDay, series: HourlySeries, until: number): Comparison {
  const sums = { ...NOTHING }
  for (let hour = Math.ceil(from / HOUR) * HOUR; hour < to && hour + HOUR <= until; hour += HOUR) {
    const reference = series.reference.get(hour)
    const counted = series.counted.get(hour) ?? 0
    if (series.isUnknown(hour)) {
      if (reference !== undefined) sums.unknownHours++
    } else if (reference === undefined) {
      sums.missingHours++
      sums.countedInMissing += counted
    } else {
      sums.comparedHours++
      sums.reference += reference
      sums.counted += counted
    }
  }
  return sums
}

const NOTHING: Comparison = {
  comparedHours: 0,
  reference: 0,
  counted: 0,
  missingHours: 0,
  countedInMissing: 0,
  unknownHours: 0,
}

export const together = (days: readonly Comparison[]): Comparison =>
  days.reduce(
    (sum, day) => ({
      comparedHours: sum.comparedHours + day.comparedHours,
      reference: sum.reference + day.reference,
      counted: sum.counted + day.counted,
      missingHours: sum.missingHours + day.missingHours,
      countedInMissing: sum.countedInMissing + day.countedInMissing,
      unknownHours: sum.unknownHours + day.unknownHours,
    }),
    NOTHING,
  )

/** Our count as a share of the source's: 1 is all of it, more than 1 is too much. Null if the source counted nothing. */
export const capturedShare = ({ reference, counted }: Pick<Comparison, 'reference' | 'counted'>): number | null =>
  reference === 0 ? null : counted / reference
