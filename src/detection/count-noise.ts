import { HOUR } from '../lib/index.ts'
import { clamp, sum } from './statistics.ts'

/** How much a subject's counts differ from their expectation while nothing is wrong. */
export interface Noise {
  /** Events that come together: the part of the variance proportional to the mean, at least 1. */
  readonly burst: number
  /** Relative variance of the level over a stretch of this length, ms. */
  level(length: number): number
  /** The same once the hours before the stretch are known. */
  steady(length: number): number
  /** The same for judging silence. Its doubt is smaller: however few days are known, none of them was silent. */
  ofSilence(length: number): number
  /** Events of a visit or a batch, estimated from how often hours are empty; from the burst when hardly any is. */
  readonly group: number
  /** Relative variance because only few days are known; 0 after two weeks. */
  readonly doubt: number
}

/** Beliefs before anything is known, and the number of days that they weigh as much as: a site's first days say little about later ones. */
const PRIOR = { burst: 2, level: 0.04, steady: 0.02, days: 5 } as const
/**
 * Few days may misjudge an hour: the relative variance of what one day says, the part of it left once the hours before are known or for silence, and
 * the number of days after which it is zero.
 */
const DOUBT = 0.4
const DOUBT_LEFT = 0.15
const DAYS_UNTIL_SURE = 14
const LEAST_LEVEL = 0.0025
/** Upper limit of the level's variance: with more, a subject that is gone would not be found. */
export const MOST_LEVEL = 0.5
/** Upper limit from one hour to the next. A larger variance comes from bursts, which few counts cannot distinguish from the level. */
const MOST_HOURLY = 0.1
const LEAST_STEADY = 0.0016
/** Squares that are this many times their expectation are outliers, not noise. */
const OUTLIER = 12
const ROUNDS = 3
/** A fault of several days would make itself usual, so the last week is not used once ten days before it are known. */
const LATEST = 168
const ENOUGH = 240
/** Number of hours before that give the level for the next one. */
export const HOURS_BEFORE = 8
const LENGTHS = [1, 2, 4, 8, 24] as const

/**
 * Estimates the spread of past hours around what the other hours predict: var N = burst·μ + level·μ². Both parts come from one weighted
 * least squares fit of the squared differences (iteratively reweighted variance functions, Davidian and Carroll 1987).
 *
 * @param counts of whole hours, oldest first
 * @param expectedAt the expected count of an hour, from all others
 * @param isUsual 1 for the hours that count
 */
export function countNoise(counts: Float64Array, expectedAt: (index: number) => number, isUsual: Uint8Array): Noise {
  const expected = expectations(counts, expectedAt, isUsual)
  const { burst, level: hourly } = twoParts(counts, expected)
  const days = Math.max(0, expected.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : 1), 0) / 24 - 1)
  const blend = (measured: number, prior: number) => (days * measured + PRIOR.days * prior) / (days + PRIOR.days)
  const levels = LENGTHS.map((hours) =>
    clamp(blend(levelOver(counts, expected, burst, hours), PRIOR.level), LEAST_LEVEL, MOST_LEVEL),
  )
  const daily = levels.at(-1) ?? PRIOR.level
  const conditional = givenBefore(counts, expected, burst, daily)
  const steadies = LENGTHS.slice(0, 3).map((hours) =>
    clamp(blend(levelOver(counts, conditional, burst, hours), PRIOR.steady), LEAST_STEADY, MOST_LEVEL),
  )
  const doubt = DOUBT * Math.max(0, 1 / (days + 0.5) - 1 / DAYS_UNTIL_SURE)
  const level = (length: number) => Math.max(length < 2 * HOUR ? hourly : 0, between(levels, length))
  return {
    burst,
    doubt,
    level: (length) => doubt + level(length),
    ofSilence: (length) => DOUBT_LEFT * doubt + level(length),
    // Knowing the hours before removes part of the doubt.
    steady: (length) => DOUBT_LEFT * doubt + between(steadies, length),
    group: groupOf(counts, expected, (burst + 1) / 2),
  }
}

/** Only the burst, see `countNoise`. */
export const burstOf = (counts: Float64Array, expectedAt: (index: number) => number, isUsual: Uint8Array): number =>
  twoParts(counts, expectations(counts, expectedAt, isUsual)).burst

/** The expected counts; NaN for hours that do not count. */
function expectations(counts: Float64Array, expectedAt: (index: number) => number, isUsual: Uint8Array): Float64Array {
  const end = sum(isUsual) - sum(isUsual.subarray(-LATEST)) >= ENOUGH ? counts.length - LATEST : counts.length
  return Float64Array.from(counts, (_, index) => (isUsual[index] === 1 && index < end ? expectedAt(index) : Number.NaN))
}

/** The noise assumed for subjects that are too rare to measure. */
export const UNKNOWN_NOISE: Noise = {
  burst: PRIOR.burst,
  level: () => PRIOR.level,
  steady: () => PRIOR.level,
  ofSilence: () => PRIOR.level,
  group: PRIOR.burst,
  doubt: 0,
}

/** Fits both parts of the hourly variance. When all hours have the same expectation, they cannot be separated, and all counts as bursts. */
function twoParts(counts: Float64Array, expected: Float64Array): { burst: number; level: number } {
  let burst: number = PRIOR.burst
  let level: number = PRIOR.level
  for (let round = 0; round < ROUNDS; round++) {
    let ee = 0
    let ef = 0
    let ff = 0
    let se = 0
    let sf = 0
    for (let index = 0; index < counts.length; index++) {
      const mean = expected[index] ?? Number.NaN
      if (!(mean > 0)) continue
      const difference = (counts[index] ?? 0) - mean
      const square = difference * difference
      // Products, because powers take ten times as long.
      const relative = burst + level * mean
      if (round > 0 && square > OUTLIER * mean * relative) continue
      const weight = 1 / (relative * relative)
      ee += weight
      ef += weight * mean
      ff += weight * mean * mean
      se += (weight * square) / mean
      sf += weight * square
    }
    const determinant = ee * ff - ef * ef
    if (ee === 0) break
    const both =
      determinant > 1e-9 * ee * ff
        ? { burst: (se * ff - sf * ef) / determinant, level: (sf * ee - se * ef) / determinant }
        : { burst: se / ee, level: 0 }
    if (both.level < LEAST_LEVEL) {
      level = LEAST_LEVEL
      burst = Math.max(1, (se - level * ef) / ee)
    } else if (both.burst < 1) {
      burst = 1
      level = Math.max(LEAST_LEVEL, (sf - ef) / ff)
    } else ({ burst, level } = both)
    if (level > MOST_HOURLY) {
      level = MOST_HOURLY
      burst = Math.max(1, (se - level * ef) / ee)
    }
  }
  return { burst: Math.max(1, burst), level: clamp(level, LEAST_LEVEL, MOST_LEVEL) }
}

/** The relative variance of the level over stretches of this many hours, without the variance from bursts. */
function levelOver(counts: Float64Array, expected: Float64Array, burst: number, hours: number): number {
  const squares = new Float64Array(Math.floor(counts.length / hours))
  const means = new Float64Array(squares.length)
  let stretches = 0
  for (let start = counts.length - hours; start >= 0; start -= hours) {
    let difference = 0
    let mean = 0
    for (let index = start; index < start + hours; index++) {
      const own = expected[index] ?? Number.NaN
      if (Number.isNaN(own)) continue
      difference += (counts[index] ?? 0) - own
      mean += own
    }
    if (!(mean > 0)) continue
    squares[stretches] = difference * difference
    means[stretches] = mean
    stretches++
  }
  let level: number = PRIOR.level
  for (let round = 0; round < ROUNDS; round++) {
    let sum = 0
    let weights = 0
    for (let stretch = 0; stretch < stretches; stretch++) {
      const mean = means[stretch] ?? 0
      const square = squares[stretch] ?? 0
      const relative = burst + level * mean
      if (round > 0 && square > OUTLIER * mean * relative) continue
      const weight = 1 / (relative * relative)
      sum += weight * (square - burst * mean)
      weights += weight * mean * mean
    }
    if (weights === 0) return PRIOR.level
    level = clamp(sum / weights, LEAST_LEVEL / 4, MOST_LEVEL)
  }
  return level
}

/** The expected count of each hour at the level of the hours before it. */
function givenBefore(counts: Float64Array, expected: Float64Array, burst: number, daily: number): Float64Array {
  return expected.map((mean, index) => {
    let own = 0
    let usual = 0
    for (let before = Math.max(0, index - HOURS_BEFORE); before < index; before++) {
      const expectedBefore = expected[before] ?? Number.NaN
      if (Number.isNaN(expectedBefore)) continue
      own += counts[before] ?? 0
      usual += expectedBefore
    }
    return mean * levelGiven(own, usual, burst, daily)
  })
}

/** The posterior level (gamma and Poisson) after a count, with a prior level of 1 and a relative variance of `noise`. */
export const levelGiven = (measured: number, expected: number, burst: number, noise: number): number =>
  (measured / burst + 1 / noise) / (expected / burst + 1 / noise)

/** Interpolates between the values at `LENGTHS`, on a logarithmic scale. */
function between(values: readonly number[], length: number): number {
  const hours = length / HOUR
  const last = values.length - 1
  for (let index = 0; index < last; index++) {
    const [low, high] = [LENGTHS[index] ?? 1, LENGTHS[index + 1] ?? 1]
    if (hours > high) continue
    const part = clamp(Math.log(hours / low) / Math.log(high / low), 0, 1)
    return (values[index] ?? 0) + part * ((values[index + 1] ?? 0) - (values[index] ?? 0))
  }
  return values[last] ?? 0
}

/** Hours with an expectation between these multiples of `usual` show by being empty how many events come together. */
const TELLING_EMPTY = { least: 0.3, most: 12 }
const ENOUGH_EMPTY = 12

/**
 * Returns the group size at which hours would be empty as often as they are: an hour with expectation μ is empty with probability e^(−μ/group).
 *
 * @param usual the result when too few hours are empty
 */
function groupOf(counts: Float64Array, expected: Float64Array, usual: number): number {
  const means: number[] = []
  let empty = 0
  for (let index = 0; index < counts.length; index++) {
    const mean = expected[index] ?? Number.NaN
    if (!(mean >= TELLING_EMPTY.least * usual && mean <= TELLING_EMPTY.most * usual)) continue
    means.push(mean)
    if ((counts[index] ?? 0) === 0) empty++
  }
  if (means.length < ENOUGH_EMPTY || empty < ENOUGH_EMPTY / 2) return usual
  let [low, high] = [0.5, 4 * usual]
  for (let step = 0; step < 25; step++) {
    const group = (low + high) / 2
    if (means.reduce((sum, mean) => sum + Math.exp(-mean / group), 0) < empty) low = group
    else high = group
  }
  return Math.max(1, (low + high) / 2)
}
