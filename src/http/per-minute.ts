import { type Clock, MINUTE, SECOND } from '../lib/index.ts'
import { RateLimitedError } from './errors.ts'

/** How often something may be asked for within a minute, for each of its kind separately; of one node. */
export class PerMinute {
  readonly #most: number
  readonly #what: string
  readonly #clock: Clock
  /** The last that asked comes last. */
  readonly #times = new Map<string, readonly number[]>()

  /** @param what it is, for people: `test messages` */
  constructor(most: number, what: string, clock: Clock) {
    this.#most = most
    this.#what = what
    this.#clock = clock
  }

  /** @throws RateLimitedError when it was taken too often in the last minute */
  take(key: string): void {
    const now = this.#clock.now()
    // Times to come are of a clock that was set back.
    const isRecent = (time: number) => time > now - MINUTE && time <= now
    for (const [old, times] of this.#times) {
      if (times.some(isRecent)) break
      this.#times.delete(old)
    }
    const times = (this.#times.get(key) ?? []).filter(isRecent)
    const [oldest = now] = times
    if (times.length >= this.#most) {
      const seconds = Math.ceil((oldest + MINUTE - now) / SECOND)
      throw new RateLimitedError(`${this.#most} ${this.#what} a minute are enough: wait ${seconds} s`, seconds)
    }
    this.#times.delete(key)
    this.#times.set(key, [...times, now])
  }
}
