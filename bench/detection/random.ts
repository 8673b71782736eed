import { Random as EvenRandom } from '../../testkit/random.ts'

/** With the distributions that traffic has. */
export class Random extends EvenRandom {
  /** Sites have seeds that follow one another; here they are far apart. */
  constructor(seed: number) {
    super(Math.imul(seed + 1, 0x9e3779b1))
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
  }

  poisson(mean: number): number {
    if (mean <= 0) return 0
    if (mean > 30) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()))
    const limit = Math.exp(-mean)
    let count = 0
    for (let product = this.next(); product > limit; product *= this.next()) count++
    return count
  }

  /** Of mean and variance `shape`, which is at least 1 (Marsaglia and Tsang 2000). */
  gamma(shape: number): number {
    const d = shape - 1 / 3
    for (;;) {
      const x = this.normal()
      const v = (1 + x / Math.sqrt(9 * d)) ** 3
      if (v > 0 && Math.log(1 - this.next()) < 0.5 * x ** 2 + d - d * v + d * Math.log(v)) return d * v
    }
  }

  /** Successes of `trials`, each with `probability`. */
  binomial(trials: number, probability: number): number {
    if (trials <= 0 || probability <= 0) return 0
    if (probability >= 1) return trials
    if (probability > 0.5) return trials - this.binomial(trials, 1 - probability)
    // A Poisson number instead would make few trials of about a half jump: of one trial 0.39 at p = 0.5, and 0.61 right above.
    if (trials * probability < 30) return this.#binomialByInversion(trials, probability)
    const spread = Math.sqrt(trials * probability * (1 - probability))
    return Math.min(trials, Math.max(0, Math.round(trials * probability + spread * this.normal())))
  }

  /** Exactly, in as many steps as there are successes. */
  #binomialByInversion(trials: number, probability: number): number {
    const odds = probability / (1 - probability)
    let chance = (1 - probability) ** trials
    let successes = 0
    for (let left = this.next(); left > chance && successes < trials; successes++) {
      left -= chance
      chance *= ((trials - successes) / (successes + 1)) * odds
    }
    return successes
  }

  /** Events that come in groups whose size is geometric, so that their variance is `burst` times their mean. */
  bursty(mean: number, burst: number): number {
    if (burst <= 1) return this.poisson(mean)
    // A geometric group of mean size m has variance/mean of the total 2m − 1.
    const size = (burst + 1) / 2
    const groups = this.poisson(mean / size)
    if (groups > 60) {
      const spread = Math.sqrt(groups * size * (size - 1))
      return Math.max(groups, Math.round(groups * size + spread * this.normal()))
    }
    let total = groups
    for (let group = 0; group < groups; group++) {
      total += Math.floor(Math.log(1 - this.next()) / Math.log(1 - 1 / size))
    }
    return total
  }
}
