import type { ServerResponse } from 'node:http'
import { FairQueue } from '../lib/index.ts'
import { RateLimitedError } from './errors.ts'

/** How much of one kind of work is done at once. */
export interface SlotLimits {
  /** Over all callers. */
  total: number
  perCaller: number
  /** A caller of whom so many wait has one slot only, and that for an eighth of the time. Never when absent. */
  flood?: number
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
/** After each answer a caller that floods waits for so many times what it took. */
const PAUSES = 7
const LONGEST_PAUSE_MS = 10_000

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
    if (this.#queue.waiting(caller) >= this.#limits.waiting) return Promise.reject(REFUSAL)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (this.#queue.remove(caller, waiting)) reject(REFUSAL)
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
    const most = this.#isFlood(caller) ? 1 : perCaller
    return this.#total < total && (this.#taken.get(caller) ?? 0) < most && this.#mayBegin(caller)
  }

  #give(caller: string): () => void {
    this.#total++
    this.#taken.set(caller, (this.#taken.get(caller) ?? 0) + 1)
    const since = performance.now()
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      // Others may have the slot at once.
      this.#total--
      if (this.#isFlood(caller)) {
        const pauseMs = Math.min(LONGEST_PAUSE_MS, PAUSES * (performance.now() - since))
        setTimeout(() => this.#leave(caller), pauseMs).unref()
        this.fill()
      } else this.#leave(caller)
    }
  }

  #leave(caller: string): void {
    const left = (this.#taken.get(caller) ?? 1) - 1
    if (left === 0) this.#taken.delete(caller)
    else this.#taken.set(caller, left)
    this.fill()
  }

  #isFlood(caller: string): boolean {
    const { flood } = this.#limits
    return flood !== undefined && this.#queue.waiting(caller) >= flood
  }
}

/** One for all: a stack for each took more than the rest of its answer, and thousands may be refused in a second. */
const REFUSAL = new RateLimitedError(
  'Too many requests from this address are in progress or waiting; try again in a moment',
  RETRY_AFTER_SECONDS,
)

/** What may be under way to readers, and how long. */
export interface UnreadLimits {
  /** Bytes from which an answer counts; below, the system takes it whole. */
  counted: number
  /** Bytes of a caller from which nothing more is begun for it. */
  perCaller: number
  /** Bytes over all callers; above, the answer that is the longest under way is cut. */
  total: number
  /** Longest time without a byte read, ms. */
  stalledMs: number
  /** Longest time for an answer, ms. */
  longestMs: number
}

interface Unread {
  caller: string
  bytes: number
  timer: NodeJS.Timeout
}

/** Answers that have been written and not been read. */
export class UnreadAnswers {
  readonly #limits: UnreadLimits
  readonly #onRead: () => void
  /** The longest under way first. */
  readonly #answers = new Map<ServerResponse, Unread>()
  readonly #byCaller = new Map<string, number>()
  #total = 0

  /** @param onRead called when a caller may have room again */
  constructor(limits: UnreadLimits, onRead: () => void) {
    this.#limits = limits
    this.#onRead = onRead
  }

  /** Whether a caller has read enough to be given more. */
  hasRoomFor(caller: string): boolean {
    return (this.#byCaller.get(caller) ?? 0) < this.#limits.perCaller
  }

  /** An answer of so many bytes is about to be sent. */
  add(response: ServerResponse, caller: string, bytes: number): void {
    const { counted, total, stalledMs, longestMs } = this.#limits
    if (bytes < counted || isGone(response)) return
    // Node restarts this time with every byte that leaves, and that of idle connections after the answer.
    response.setTimeout(stalledMs, () => response.destroy())
    const timer = setTimeout(() => response.destroy(), longestMs).unref()
    this.#answers.set(response, { caller, bytes, timer })
    this.#change(caller, bytes)
    onceGone(response, () => this.#remove(response))
    while (this.#total > total) {
      const [longest] = this.#answers.keys()
      if (longest === undefined) return
      longest.destroy()
      this.#remove(longest)
    }
  }

  #remove(response: ServerResponse): void {
    const unread = this.#answers.get(response)
    if (unread === undefined) return
    this.#answers.delete(response)
    clearTimeout(unread.timer)
    this.#change(unread.caller, -unread.bytes)
    this.#onRead()
  }

  #change(caller: string, bytes: number): void {
    this.#total += bytes
    const left = (this.#byCaller.get(caller) ?? 0) + bytes
    if (left === 0) this.#byCaller.delete(caller)
    else this.#byCaller.set(caller, left)
  }
}

/** Whether this response can no longer reach its caller. */
export const isGone = (response: ServerResponse): boolean => response.closed || response.req.socket.destroyed

/**
 * Calls `act` once when the response is over: sent whole, cut, or never begun because its connection ended. Node emits `close` only
 * on a response that has the connection, which one behind another's answer (pipelining) has not yet.
 */
export function onceGone(response: ServerResponse, act: () => void): void {
  const { socket } = response.req
  const end = () => {
    response.off('close', end)
    socket.off('close', end)
    act()
  }
  if (isGone(response)) {
    act()
    return
  }
  response.once('close', end)
  socket.once('close', end)
}
