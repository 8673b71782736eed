import { HOUR } from '../lib/index.ts'
import { clamp, sum } from './statistics.ts'

/** How far a subject's counts are from what is expected of them while nothing is wrong. */
export interface Noise {
  /** Events that come at a time: the part of the variance that is a multiple of the mean, at least 1. */
  readonly burst: number
  /** Relative variance of the level over a stretch of so long, ms. */
  level(length: number): number
  /** The same once the hours before are known. */
  steady(length: number): number
  /** The same for silence: however few days are known, none of them was without any. */
  ofSilence(length: number): number
  /** Events of a visit or a batch, by how often hours stay empty; the burst where none does. */
  readonly group: number
  /** Relative variance that is due to how few days are known; 0 after two weeks. */
  readonly doubt: number
}

/** Believed before anything is known, and how many days' worth of it: a site's first days say little about their like. */
const PRIOR = { burst: 2, level: 0.04, steady: 0.02, days: 5 } as const
/** What few days say of an hour may be wrong itself: the relative variance of what one says, and the days after which that is over. */
const DOUBT = 0.4
const DOUBT_LEFT = 0.15
const DAYS_UNTIL_SURE = 14
const LEAST_LEVEL = 0.0025
/** No level wavers more: a subject that is gone would not be found. */
export const MOST_LEVEL = 0.5
/** No site's level wavers by more from one hour to the next: what is more comes in bursts, which few counts cannot tell from it. */
const MOST_HOURLY = 0.1
const LEAST_STEADY = 0.0016
/** Squares this many times their expectation are no noise. */
const OUTLIER = 12
const ROUNDS = 3
/** A fault that goes on for days would make itself usual: the last week tells nothing of the noise once ten days before it are known. */
const LATEST = 168
const ENOUGH = 240
/** Hours from which the level is known for the next. */
export const HOURS_BEFORE = 8
const LENGTHS = [1, 2, 4, 8, 24] as const

/**
 * The spread of the hours of the past around what the others make of them: var N = burst·μ + level·μ². Both parts at once by
 * weighted least squares of the squared differences (as in iteratively reweighted variance functions, Davidian and Carroll 1987).
 *
 * @param counts of whole hours, oldest first
 * @param expectedAt what is expected of an hour by all the others
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
    // Once the hours before are known, less of it is left.
    steady: (length) => DOUBT_LEFT * doubt + between(steadies, length),
    group: groupOf(counts, expected, (burst + 1) / 2),
  }
}

/** The burst alone, see `countNoise`. */
export const burstOf = (counts: Float64Array, expectedAt: (index: number) => number, isUsual: Uint8Array): number =>
  twoParts(counts, expectations(counts, expectedAt, isUsual)).burst

/** NaN for the hours that do not count. */
function expectations(counts: Float64Array, expectedAt: (index: number) => number, isUsual: Uint8Array): Float64Array {
  const end = sum(isUsual) - sum(isUsual.subarray(-LATEST)) >= ENOUGH ? counts.length - LATEST : counts.length
  return Float64Array.from(counts, (_, index) => (isUsual[index] === 1 && index < end ? expectedAt(index) : Number.NaN))
}

/** What is believed of a subject that comes too seldom to tell. */
export const UNKNOWN_NOISE: Noise = {
  burst: PRIOR.burst,
  level: () => PRIOR.level,
  steady: () => PRIOR.level,
  ofSilence: () => PRIOR.level,
  group: PRIOR.burst,
  doubt: 0,
}

/** The parts of the variance of hours. Where all hours have alike counts it cannot tell them apart, and it takes them for noise of the level. */
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
      // Products, as powers take ten times as long.
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

/** The level's relative variance in stretches of so many hours; what bursts make is taken off. */
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

/** What is expected of each hour at the level of the hours before it. */
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

/** The level that so many events speak for, where it is 1 with a relative variance of `noise` before them (gamma and Poisson). */
export const levelGiven = (measured: number, expected: number, burst: number, noise: number): number =>
  (measured / burst + 1 / noise) / (expected / burst + 1 / noise)

/** The value for a length, between those of `LENGTHS` by the logarithm. */
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

/** Hours of which between these were expected tell by being empty how many events come together. */
const TELLING_EMPTY = { least: 0.3, most: 12 }
const ENOUGH_EMPTY = 12

/**
 * So large that the hours would be empty as often as they are: an hour with μ expected is so with a chance of e^(−μ/group).
 *
 * @param usual what to say where no hour is empty
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
