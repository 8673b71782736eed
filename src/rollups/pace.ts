/** Share of the usual amounts: each failure halves it, down to this, and each success raises it again. */
const LEAST_SHARE = 1 / 64
const GROWTH = 1.25

/**
 * How much a fold takes at once: less after each failure, and more again with each success. So the database is not asked again
 * for a batch that it could not finish in time.
 */
export class Pace {
  #share = 1

  /** The current share of a usual amount, at least 1. */
  of(usual: number): number {
    return Math.max(1, Math.floor(usual * this.#share))
  }

  slower(): void {
    this.#share = Math.max(LEAST_SHARE, this.#share / 2)
  }

  faster(): void {
    this.#share = Math.min(1, this.#share * GROWTH)
  }
}
