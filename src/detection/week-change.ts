import { clamp, robustSpread } from './statistics.ts'

/** Events that come together if nothing is known, see `count-noise.ts`. */
const BURST = 2
/**
 * Prior relative variance of a day's level from week to week (for failures, variance of their share), and the number of pairs of days that it weighs
 * as much as.
 */
const PRIOR = { level: 0.04, share: 0.0004, pairs: 3 } as const
/** Bounds of these variances: no level is steadier, and with more variance, something that is gone would not be found. */
const LEAST = { level: 0.0025, share: 0.000_025 } as const
const MOST = { level: 0.5, share: 0.05 } as const
const DAYS_A_WEEK = 7

/** Smaller changes are not worth looking at. */
const LEAST_COUNT = 20
const LEAST_PART = 0.1
const LEAST_POINTS = 0.01
/** With fewer runs, a share jumps by chance. */
const LEAST_RUNS = 50

/** An event is expected to follow the rest of its site within these factors. */
const OTHERS = { least: 0.2, most: 3 } as const

/** Executions of a tag, and how many of them failed in any way. */
export interface Runs {
  runs: number
  bad: number
}

/** How far something is from a week before. */
export interface WeekChange {
  /** The difference in standard deviations of the usual variation; below 0: less. */
  deviations: number
  /** One standard deviation, in the unit of the value. */
  usual: number
}

/**
 * Compares a count with what the week before lets expect; null when the change is too small to matter. Both counts come in
 * bursts, and both days' levels vary: z = (N − E) / √(b·(N + E) + 2ν·m²) with m = (N + E) / 2.
 *
 * @param noise ν, see `levelNoise`
 */
export function countChange(now: number, expected: number, noise: number): WeekChange | null {
  const difference = now - expected
  if (Math.abs(difference) < Math.max(LEAST_COUNT, LEAST_PART * expected)) return null
  const mean = (now + expected) / 2
  const usual = Math.sqrt(BURST * (now + expected) + 2 * noise * mean * mean)
  return { deviations: difference / usual, usual }
}

/**
 * Compares a share of failures with that of a week before; null when the change is too small to matter or too few ran: z =
 * (p₁ − p₀) / √(b·p(1 − p)·(1/n₁ + 1/n₀) + 2τ²), with p of both together.
 *
 * @param noise τ², see `shareNoise`
 */
export function shareChange(now: Runs, before: Runs, noise: number): WeekChange | null {
  if (now.runs < LEAST_RUNS || before.runs < LEAST_RUNS) return null
  const difference = now.bad / now.runs - before.bad / before.runs
  if (Math.abs(difference) < LEAST_POINTS) return null
  const usual = Math.sqrt(sampling(now, before) + 2 * noise)
  return { deviations: difference / usual, usual }
}

/** Sampling variance of the difference of two equal shares. */
function sampling(a: Runs, b: Runs): number {
  const share = clamp((a.bad + b.bad) / (a.runs + b.runs), 0, 1)
  return BURST * share * (1 - share) * (1 / a.runs + 1 / b.runs)
}

/** The expectation for a part of a site: its count a week before, changed as the rest of the site has changed. */
export function besideRest(before: number, rest: { now: number; before: number }): number {
  return rest.before <= 0 ? before : before * clamp(rest.now / rest.before, OTHERS.least, OTHERS.most)
}

/**
 * Measures how much a day's level differs from the same weekday a week before, as a relative variance ν: from the spread of r
 * = (x − x₇) / m over past days, var r = 2b/m + 2ν. By the median, so that days with a fault have no effect.
 *
 * @param days counts of whole days, oldest first; null: not known
 */
export function levelNoise(days: readonly (number | null)[]): number {
  const pairs = weekPairs(days).filter(([now, before]) => now + before > 0)
  if (pairs.length === 0) return PRIOR.level
  const means = pairs.map(([now, before]) => (now + before) / 2)
  const spread = robustSpread(
    pairs.map(([now, before], index) => (now - before) / (means[index] ?? 1)),
    0,
  )
  const byChance = means.reduce((sum, mean) => sum + (2 * BURST) / mean, 0) / means.length
  return blended(Math.max(0, (spread * spread - byChance) / 2), pairs.length, 'level')
}

/** The same for shares of failures: the variance of a day's share around its long-term value. */
export function shareNoise(days: readonly (Runs | null)[]): number {
  const pairs = weekPairs(days).filter(([now, before]) => now.runs > 0 && before.runs > 0)
  if (pairs.length === 0) return PRIOR.share
  const spread = robustSpread(
    pairs.map(([now, before]) => now.bad / now.runs - before.bad / before.runs),
    0,
  )
  const byChance = pairs.reduce((sum, [now, before]) => sum + sampling(now, before), 0) / pairs.length
  return blended(Math.max(0, (spread * spread - byChance) / 2), pairs.length, 'share')
}

const blended = (measured: number, pairs: number, kind: 'level' | 'share'): number =>
  clamp((pairs * measured + PRIOR.pairs * PRIOR[kind]) / (pairs + PRIOR.pairs), LEAST[kind], MOST[kind])

/** The smallest noise, with which nothing is overlooked. */
export const LEAST_NOISE = LEAST
/** The noise when nothing is known. */
export const USUAL_NOISE: Readonly<Record<'level' | 'share', number>> = { level: PRIOR.level, share: PRIOR.share }

const weekPairs = <T extends number | Runs>(days: readonly (T | null)[]): [now: T, before: T][] =>
  days.flatMap((now, index) => {
    const before = days[index - DAYS_A_WEEK] ?? null
    return now === null || before === null ? [] : [[now, before] satisfies [T, T]]
  })

/** The two-sided chance of a deviation of at least this many standard deviations: erfc(|z| / √2) (Press et al., Numerical Recipes, 6.2). */
export function chanceOf(deviations: number): number {
  const x = Math.abs(deviations) / Math.SQRT2
  const t = 1 / (1 + x / 2)
  const series = ERFC.reduceRight((sum, factor) => sum * t + factor, 0)
  return Math.min(1, t * Math.exp(-x * x + series))
}

const ERFC = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
  0.17087277,
]

/** At most this share of the listed changes is expected to be chance. */
const FALSE_SHARE = 0.05

/**
 * Returns how many of the least likely changes are significant, out of `looked` that were tested: those below the line of
 * Benjamini and Hochberg (1995), of which one in twenty is expected to be noise.
 *
 * @param chances smallest first
 */
export function significant(chances: readonly number[], looked: number): number {
  return chances.findLastIndex((chance, index) => chance <= (FALSE_SHARE * (index + 1)) / looked) + 1
}
