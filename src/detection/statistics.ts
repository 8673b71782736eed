/** The median; for an even number of values the mean of the two middle ones, NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort()
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}

/** Factor from the median absolute deviation of a normal distribution to its standard deviation. */
const NORMAL_CONSISTENCY = 1.4826

/** The spread of the values around `middle` as a standard deviation. Up to half of the values may be outliers without effect. */
export const robustSpread = (values: readonly number[], middle: number): number =>
  NORMAL_CONSISTENCY * median(values.map((value) => Math.abs(value - middle)))

/** By index: an iterator takes three times as long, and sums are a twentieth of a run. */
export function sum(values: ArrayLike<number>): number {
  let total = 0
  for (let index = 0; index < values.length; index++) total += values[index] ?? 0
  return total
}

/** Two-sided quantiles of the normal distribution. */
const Z_95 = 1.959964
export const Z_999 = 3.290527

/** The Wilson score interval (Wilson 1927) for a share with `hits` of `trials`, 95 % by default; 0 to 1 without trials. */
export function wilson(hits: number, trials: number, z = Z_95): { low: number; high: number } {
  if (trials <= 0) return { low: 0, high: 1 }
  const share = Math.min(1, hits / trials)
  const z2 = z ** 2
  const centre = share + z2 / (2 * trials)
  const margin = z * Math.sqrt((share * (1 - share)) / trials + z2 / (4 * trials ** 2))
  const scale = 1 + z2 / trials
  return { low: Math.max(0, (centre - margin) / scale), high: Math.min(1, (centre + margin) / scale) }
}

/** The upper tail of the binomial distribution, 0–1: the chance of `hits` or more in `trials` that each hit with probability `share`. */
export function binomialTail(hits: number, trials: number, share: number): number {
  if (hits <= 0) return 1
  if (share <= 0 || hits > trials) return 0
  if (share >= 1) return 1
  // Below the mean, the other tail is the short one, and its first term is the largest.
  if (hits < share * trials) return 1 - binomialTail(trials - hits + 1, trials, 1 - share)
  // In logarithms: with many trials, the first term is smaller than the smallest double.
  let log = trials * Math.log1p(-share)
  const odds = Math.log(share) - Math.log1p(-share)
  for (let k = 1; k <= hits; k++) log += Math.log((trials - k + 1) / k) + odds
  let term = Math.exp(log)
  let tail = term
  for (let k = hits + 1; k <= trials && term > tail * 1e-12; k++) {
    term *= ((trials - k + 1) / k) * Math.exp(odds)
    tail += term
  }
  return Math.min(1, tail)
}

/** The 0.1 % quantile of the normal distribution. */
const Z_LOW = -3.090232

/**
 * Upper bound, at 99.9 %, of the true variance of a normal sample as a multiple of the measured one: its degrees of freedom
 * over the 0.1 % quantile of their chi-squared distribution (approximation by Wilson and Hilferty 1931).
 *
 * @param freedom at least 1
 */
export function varianceBound(freedom: number): number {
  const part = 2 / (9 * freedom)
  return 1 / Math.max(0.001, 1 - part + Z_LOW * Math.sqrt(part)) ** 3
}

export const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

/**
 * The log likelihood ratios (natural) of one event that has a property, and of one that has not, for `share` against
 * `against`. Shares lie strictly between 0 and 1; at either end, one of the two is infinite.
 */
export const logRatios = (share: number, against: number): readonly [one: number, another: number] => [
  Math.log(share / against),
  Math.log((1 - share) / (1 - against)),
]
