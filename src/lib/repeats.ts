import { type Clock, MINUTE, monotonicOf } from './clock.ts'

/** How long repetitions are only counted, ms. */
const QUIET_MS = MINUTE
/** Most texts told apart; beyond that all are dropped, which only costs extra lines. */
const KEPT = 1_000

/**
 * Lets repetitions through once a minute. While a database is unavailable every loop and every request fails: ten lines a second,
 * a gigabyte a day, in which no one finds the first.
 */
export class Repeats {
  readonly #clock: Clock
  readonly #seen = new Map<string, { passedAt: number; since: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How often it was held back since it last passed, 0 for something new; null when it is held back now. */
  passes(what: string): number | null {
    const now = monotonicOf(this.#clock)
    const seen = this.#seen.get(what)
    if (seen !== undefined && now - seen.passedAt < QUIET_MS) {
      seen.since++
      return null
    }
    if (this.#seen.size >= KEPT) this.#seen.clear()
    this.#seen.set(what, { passedAt: now, since: 0 })
    return seen?.since ?? 0
  }
}
