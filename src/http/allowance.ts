import { type Clock, HOUR, MINUTE } from '../lib/index.ts'
import { mustWait } from './errors.ts'

const SPANS = { 'a minute': MINUTE, 'an hour': HOUR } as const

/** Limits how often something may be requested within a minute or an hour, for each key separately. Counted per node. */
export class Allowance {
  readonly #most: number
  readonly #what: string
  readonly #clock: Clock
  readonly #span: keyof typeof SPANS
  /** Requests by key, the latest last. */
  readonly #times = new Map<string, readonly number[]>()

  /** @param what its name for people: `test messages` */
  constructor(most: number, what: string, clock: Clock, span: keyof typeof SPANS = 'a minute') {
    this.#most = most
    this.#what = what
    this.#clock = clock
    this.#span = span
  }

  /**
   * @param count how much is requested at once; granted in full or not at all
   * @throws RateLimitedError when it was requested too often recently
   */
  take(key: string, count = 1): void {
    const now = this.#clock.now()
    const span = SPANS[this.#span]
    // Times in the future come from a clock that was set back.
    const isRecent = (time: number) => time > now - span && time <= now
    for (const [old, times] of this.#times) {
      if (times.some(isRecent)) break
      this.#times.delete(old)
    }
    const times = (this.#times.get(key) ?? []).filter(isRecent)
    if (times.length + count > this.#most) {
      const free = times[times.length + count - this.#most - 1] ?? now
      throw mustWait(`At most ${this.#most} ${this.#what} ${this.#span}`, free + span - now)
    }
    this.#times.delete(key)
    this.#times.set(key, [...times, ...Array<number>(count).fill(now)])
  }
}
