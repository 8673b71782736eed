import type { ServerResponse } from 'node:http'
import { FairQueue } from '../lib/index.ts'
import { RateLimitedError } from './errors.ts'
import { onceGone } from './gone.ts'

/** How much of one kind of work is done at once. */
export interface SlotLimits {
  /** Over all callers. */
  total: number
  perCaller: number
  /** Requests of a caller that may wait for a slot; one more is refused. */
  waiting: number
  /** Longest wait, ms. */
  patienceMs: number
}

interface QueuedRequest {
  caller: string
  response: ServerResponse
  resolve: (release: (() => void) | null) => void
  reject: (refusal: RateLimitedError) => void
  timer: NodeJS.Timeout
}

const RETRY_AFTER_SECONDS = 5

/** Slots for requests that are worked on at once. Who finds none waits, the callers in turn. */
export class RequestSlots {
  readonly #limits: SlotLimits
  readonly #mayBegin: (caller: string) => boolean
  readonly #queue = new FairQueue<QueuedRequest>()
  readonly #taken = new Map<string, number>()
  #total = 0

  /** @param mayBegin whether a caller may be given a slot now for all that others know; call `fill` when it changes */
  constructor(limits: SlotLimits, mayBegin: (caller: string) => boolean = () => true) {
    this.#limits = limits
    this.#mayBegin = mayBegin
  }

  /**
   * Resolves with what gives the slot back (more than once does no harm), or with null when the caller of `response` has gone.
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
      const waiting: QueuedRequest = { caller, response, resolve, reject, timer }
      this.#queue.push(caller, waiting)
      onceGone(response, () => {
        clearTimeout(timer)
        if (this.#queue.remove(caller, waiting)) resolve(null)
      })
    })
  }

  /** Gives free slots to those who wait. */
  fill(): void {
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
      this.fill()
    }
  }
}

const refusal = (): RateLimitedError =>
  new RateLimitedError(
    'Too many requests of this address are worked on or wait; try again in a moment',
    RETRY_AFTER_SECONDS,
  )
