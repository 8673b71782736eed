import type { ServerResponse } from 'node:http'
import { FairQueue } from '../lib/index.ts'
import { RateLimitedError } from './errors.ts'
import { onceGone } from './gone.ts'

/** How much of one kind of work is done at once. */
export interface PlaceLimits {
  /** Over all callers. */
  total: number
  perCaller: number
  /** Requests of a caller that may wait for a place; one more is refused. */
  waiting: number
  /** Longest wait, ms. */
  patienceMs: number
}

interface Waiting {
  caller: string
  response: ServerResponse
  resolve: (release: (() => void) | null) => void
  reject: (refusal: RateLimitedError) => void
  timer: NodeJS.Timeout
}

const RETRY_AFTER_SECONDS = 5

/** Places in which requests are worked on. Who finds none waits, the callers in turn. */
export class Places {
  readonly #limits: PlaceLimits
  readonly #mayBegin: (caller: string) => boolean
  readonly #queue = new FairQueue<Waiting>()
  readonly #taken = new Map<string, number>()
  #total = 0

  /** @param mayBegin whether a caller may be given a place now for all that others know; `look` when it changes */
  constructor(limits: PlaceLimits, mayBegin: (caller: string) => boolean = () => true) {
    this.#limits = limits
    this.#mayBegin = mayBegin
  }

  /**
   * Resolves with what gives the place back (more than once does no harm), or with null when the caller of `response` has gone.
   *
   * @throws RateLimitedError when too many of this caller wait, or it takes too long.
   */
  take(caller: string, response: ServerResponse): Promise<(() => void) | null> {
    if (this.#hasRoomFor(caller)) return Promise.resolve(this.#give(caller))
    if (this.#queue.waiting(caller) >= this.#limits.waiting) return Promise.reject(refusal())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (this.#queue.remove(caller, waiting)) reject(refusal())
      }, this.#limits.patienceMs).unref()
      const waiting: Waiting = { caller, response, resolve, reject, timer }
      this.#queue.push(caller, waiting)
      onceGone(response, () => {
        clearTimeout(timer)
        if (this.#queue.remove(caller, waiting)) resolve(null)
      })
    })
  }

  /** Gives free places to those who wait. */
  look(): void {
    for (;;) {
      const next = this.#queue.take((caller) => this.#hasRoomFor(caller))
      if (next === undefined) return
      clearTimeout(next.timer)
      next.resolve(this.#give(next.caller))
    }
  }

  #hasRoomFor(caller: string): boolean {
    const { total, perCaller } = this.#limits
    return this.#total < total && (this.#taken.get(caller) ?? 0) < perCaller && this.#mayBegin(caller)
  }

  #give(caller: string): () => void {
    this.#total++
    this.#taken.set(caller, (this.#taken.get(caller) ?? 0) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#total--
      const left = (this.#taken.get(caller) ?? 1) - 1
      if (left === 0) this.#taken.delete(caller)
      else this.#taken.set(caller, left)
      this.look()
    }
  }
}

const refusal = (): RateLimitedError =>
  new RateLimitedError(
    'Too many requests of this address are worked on or wait; try again in a moment',
    RETRY_AFTER_SECONDS,
  )
