import { type Clock, HOUR, MINUTE, SECOND } from '../lib/index.ts'
import { RateLimitedError } from './errors.ts'

const SPANS = { 'a minute': MINUTE, 'an hour': HOUR } as const

/** How often something may be asked for within a minute or an hour, for each of its kind separately; of one node. */
export class Allowance {
  readonly #most: number
  readonly #what: string
  readonly #clock: Clock
  readonly #span: keyof typeof SPANS
  /** The last that asked comes last. */
  readonly #times = new Map<string, readonly number[]>()

  /** @param what it is, for people: `test messages` */
  constructor(most: number, what: string, clock: Clock, span: keyof typeof SPANS = 'a minute') {
    this.#most = most
    this.#what = what
    this.#clock = clock
    this.#span = span
  }

  /**
   * @param count how much of it is asked for at once, and taken wholly or not at all
   * @throws RateLimitedError when it was taken too often of late
   */
  take(key: string, count = 1): void {
    const now = this.#clock.now()
    const span = SPANS[this.#span]
    // Times to come are of a clock that was set back.
    const isRecent = (time: number) => time > now - span && time <= now
    for (const [old, times] of this.#times) {
      if (times.some(isRecent)) break
      this.#times.delete(old)
    }
    const times = (this.#times.get(key) ?? []).filter(isRecent)
    if (times.length + count > this.#most) {
      const free = times[times.length + count - this.#most - 1] ?? now
      const seconds = Math.ceil((free + span - now) / SECOND)
      throw new RateLimitedError(`${this.#most} ${this.#what} ${this.#span} are enough: wait ${seconds} s`, seconds)
    }
    this.#times.delete(key)
    this.#times.set(key, [...times, ...Array<number>(count).fill(now)])
  }
}
