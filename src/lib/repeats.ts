import { type Clock, MINUTE, monotonicOf } from './clock.ts'

/** How long what comes again is only counted, ms. */
const QUIET_MS = MINUTE
/** What is told apart; with more, all is forgotten, which only costs lines. */
const KEPT = 1_000

/**
 * Lets what comes again and again pass once a minute. While a database is unavailable every loop and every request fails: ten lines a
 * second, a gigabyte a day, in which no one finds the first.
 */
export class Repeats {
  readonly #clock: Clock
  readonly #seen = new Map<string, { passedAt: number; since: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How often it came since it last passed, 0 for something new; null: it does not pass. */
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
