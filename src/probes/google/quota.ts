import { setTimeout as delay } from 'node:timers/promises'
import { Mutex, unlessAborted } from '../../lib/index.ts'
import { GoogleFailure } from './failure.ts'

/** At most `limit` requests in any stretch of `windowMs`. */
export interface QuotaWindow {
  limit: number
  windowMs: number
}

/** Counts requests against several windows at once. Times are ms of one clock, whichever. */
export class Quota {
  readonly #windows: readonly QuotaWindow[]
  readonly #longestMs: number
  #taken: number[] = []
  #blockedUntil = Number.NEGATIVE_INFINITY

  constructor(windows: readonly QuotaWindow[]) {
    this.#windows = windows
    this.#longestMs = Math.max(...windows.map(({ windowMs }) => windowMs))
  }

  /** How long the next request has to wait, 0 when it need not. */
  waitMs(now: number): number {
    const waits = this.#windows.map(({ limit, windowMs }) => {
      // The request that has to be out of the window before another comes in.
      const leaving = this.#taken.at(-limit)
      return leaving === undefined ? 0 : leaving + windowMs - now
    })
    return Math.max(0, this.#blockedUntil - now, ...waits)
  }

  take(now: number): void {
    const firstKept = this.#taken.findIndex((time) => time > now - this.#longestMs)
    this.#taken = [...(firstKept < 0 ? [] : this.#taken.slice(firstKept)), now]
  }

  /** Google counts more than we do, other programs of the project included: no request for a while. */
  block(now: number, ms: number): void {
    this.#blockedUntil = Math.max(this.#blockedUntil, now + ms)
  }
}

/** Everybody who asks the same API of the same project, first come, first served. */
export class QuotaQueue {
  readonly #quota: Quota
  readonly #mutex = new Mutex()
  readonly #now: () => number
  #length = 0

  /** @param now ms of a clock that only moves forward */
  constructor(windows: readonly QuotaWindow[], now: () => number = () => performance.now()) {
    this.#quota = new Quota(windows)
    this.#now = now
  }

  /**
   * Waits for a request's turn.
   *
   * @throws GoogleFailure `quota` when it does not come before `signal` is aborted, at once if that is sure
   */
  async turn(signal: AbortSignal, maxWaitMs: number): Promise<void> {
    this.#length++
    try {
      const turn = this.#mutex.run(() => this.#wait(signal, maxWaitMs))
      await unlessAborted(signal, turn)
    } catch (thrown) {
      throw thrown instanceof GoogleFailure ? thrown : this.#tooLong()
    } finally {
      this.#length--
    }
  }

  block(ms: number): void {
    this.#quota.block(this.#now(), ms)
  }

  async #wait(signal: AbortSignal, maxWaitMs: number): Promise<void> {
    signal.throwIfAborted()
    const waitMs = this.#quota.waitMs(this.#now())
    if (waitMs > maxWaitMs) throw this.#tooLong()
    if (waitMs > 0) await delay(waitMs, undefined, { signal })
    this.#quota.take(this.#now())
  }

  #tooLong(): GoogleFailure {
    const seconds = Math.ceil(this.#quota.waitMs(this.#now()) / 1_000)
    return new GoogleFailure(
      'quota',
      `The API's quota is used up: ${this.#length} requests wait, the next may be sent in ${seconds} s`,
    )
  }
}
