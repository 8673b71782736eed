/** Random numbers that depend only on a seed (mulberry32), so that a run can be repeated. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 up to, but not including, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next()
  }

  /** Log-uniform: as likely between 1 and 10 as between 10 and 100. */
  logBetween(low: number, high: number): number {
    return low * (high / low) ** this.next()
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.below(values.length)] ?? values[0]
  }

  /** One of a list that may be empty. */
  anyOf<T>(values: readonly T[]): T | undefined {
    return values[this.below(values.length)]
  }

  /** A separate stream, so that a part's numbers do not depend on other parts. */
  fork(): Random {
    return new Random(this.below(2 ** 32))
  }
}
