import { HOUR } from '../lib/index.ts'
import type { LocalDay } from '../uptime/index.ts'

/** Both sides by the UTC hour, epoch ms. An hour without a reference is not reported; one without our count had none. */
export interface HourlySeries {
  reference: ReadonlyMap<number, number>
  counted: ReadonlyMap<number, number>
  /** Whether our count of the hour is not known: this service was down in some of it, or the site was not there yet. */
  isUnknown: (hour: number) => boolean
  /** From when on is counted, epoch ms. */
  from: number
}

/** What two sides counted in some hours, and what is missing. */
export interface Comparison {
  /** Hours that are over and have a reference, and of which our count is known: the two counts are of these. */
  comparedHours: number
  reference: number
  counted: number
  /** Hours that are over, of which our count is known and which have no reference; that is not a reference of 0. And what was counted in them. */
  missingHours: number
  countedInMissing: number
  /** Hours that have a reference and of which our count is not known. */
  unknownHours: number
}

export interface ComparedDay extends LocalDay, Comparison {
  /** Every hour of it is over. */
  isOver: boolean
}

/**
 * Holds the counts of both sides against each other, day by day. An hour belongs to the day in which it begins: zones that are off by half an
 * hour cut it.
 *
 * @param until hours that end later are not over, epoch ms
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

/** Of what the source counted, how much was counted here: 1 is all of it, more is too much. Null where the source counted nothing. */
export const capturedShare = ({ reference, counted }: Pick<Comparison, 'reference' | 'counted'>): number | null =>
  reference === 0 ? null : counted / reference
