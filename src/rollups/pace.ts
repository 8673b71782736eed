/** Shares of the usual amounts: each failure halves it, down to here, and each success adds to it again. */
const LEAST_SHARE = 1 / 64
const GROWTH = 1.25

/**
 * How much a fold takes at once. What the database could not do in time it is not asked again as a whole: less after each
 * failure, and more again while all goes well.
 */
export class Pace {
  #share = 1

  /** The part of a usual amount that is right now, at least 1. */
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
