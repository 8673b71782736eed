/** A stream of random numbers that its seed decides: the same seed gives the same run again. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to below 1 (mulberry32: fast, and even enough to choose attacks by). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0]
  }

  /** One of a list that may be empty. */
  anyOf<T>(choices: readonly T[]): T | undefined {
    return choices[this.below(choices.length)]
  }

  /** A stream of its own, so that one part draws the same whatever the others draw. */
  fork(): Random {
    return new Random(this.below(2 ** 32))
  }
}
