/**
 * The distribution of counts that come in groups at a varying level: a negative binomial number in units of a group. With
 * groups of `burst` events and a level of relative variance `noise`, a count with mean μ has the variance burst·μ + noise·μ².
 */
export interface CountModel {
  /** Expected count. */
  readonly mean: number
  /** Events that come together, at least 1. */
  readonly burst: number
  /** Relative variance of the level. */
  readonly noise: number
}

/** The standard deviation of a count. */
export const deviation = ({ mean, burst, noise }: CountModel): number => Math.sqrt(burst * mean + noise * mean * mean)

/** With less noise than this, doubles cannot distinguish it from a Poisson number. */
const LEAST_NOISE = 1e-6

/**
 * Most expected groups to calculate with. The rounding of ln Γ of more exceeds the chance, from 10¹⁵ on even to chances above 1, while their
 * own variance no longer matters: larger groups give the same.
 */
const MOST_GROUPS = 1e9

const groupSize = ({ mean, burst }: CountModel): number => Math.max(burst, mean / MOST_GROUPS)

/**
 * ln P(N ≤ count), the chance of so few: the lower tail of the negative binomial distribution (Johnson, Kemp and Kotz,
 * Univariate Discrete Distributions, ch. 5) by the incomplete beta function, which also holds between whole groups.
 */
export function logLowerTail(count: number, model: CountModel): number {
  const { mean, noise } = model
  if (mean <= 0) return 0
  const size = 1 / Math.max(noise, LEAST_NOISE)
  const unit = groupSize(model)
  const groups = mean / unit
  return logIncompleteBeta(size / (size + groups), groups / (size + groups), size, count / unit + 1)
}

/** ln P(N ≥ count), the chance of so many. */
export function logUpperTail(count: number, model: CountModel): number {
  const { mean, noise } = model
  if (count <= 0) return 0
  if (mean <= 0) return Number.NEGATIVE_INFINITY
  const size = 1 / Math.max(noise, LEAST_NOISE)
  const unit = groupSize(model)
  const groups = mean / unit
  return logIncompleteBeta(groups / (size + groups), size / (size + groups), count / unit, size)
}

/**
 * ln I_x(a, b) by the continued fraction of the side that converges (Lentz; Press et al., Numerical Recipes, 6.4).
 *
 * @param y 1 − x
 */
function logIncompleteBeta(x: number, y: number, a: number, b: number): number {
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(y)
  if (x < (a + 1) / (a + b + 2)) return front + Math.log(betaFraction(x, a, b) / a)
  const other = Math.exp(front + Math.log(betaFraction(y, b, a) / b))
  return Math.log1p(-Math.min(other, 1 - Number.EPSILON))
}

const MOST_TERMS = 500
const TINY = 1e-300

function betaFraction(x: number, a: number, b: number): number {
  let c = 1
  let d = 1 / notZero(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m <= MOST_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / notZero(1 + even * d)
    c = notZero(1 + even / c)
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / notZero(1 + odd * d)
    c = notZero(1 + odd / c)
    const step = d * c
    fraction *= step
    if (Math.abs(step - 1) < 1e-10) break
  }
  return fraction
}

const notZero = (value: number): number => (Math.abs(value) < TINY ? TINY : value)

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
]

/** ln Γ(x) for x > 0 (Lanczos 1964). */
export function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x)
  const z = x - 1
  const t = z + LANCZOS.length - 0.5
  const series = LANCZOS.reduce((sum, factor, index) => sum + factor / (z + index + 1), 0.9999999999998099)
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(series)
}
