import type { ServerResponse } from 'node:http'
import { FairQueue, SECOND } from '../lib/index.ts'
import { mustWait, type RateLimitedError } from './errors.ts'

/** How much work of one kind is done at once. */
export interface SlotLimits {
  /** Over all callers. */
  total: number
  perCaller: number
  /** Waiting requests from which a caller gets only one slot, and for an eighth of the time. Never when left out. */
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

const RETRY_AFTER_MS = 5 * SECOND
/** How many times as long as its last request took a flooding caller waits after each answer. */
const PAUSES = 7
const LONGEST_PAUSE_MS = 10_000

/** Slots for requests handled at the same time. Without a free one a request waits, the callers in turn. */
export class RequestSlots {
  readonly #limits: SlotLimits
  readonly #mayBegin: (caller: string) => boolean
  readonly #queue = new FairQueue<QueuedRequest>()
  readonly #taken = new Map<string, number>()
  #total = 0

  /** @param mayBegin a further condition for giving a caller a slot; call `fill` when it changes */
  constructor(limits: SlotLimits, mayBegin: (caller: string) => boolean = () => true) {
    this.#limits = limits
    this.#mayBegin = mayBegin
  }

  /**
   * Resolves to a function that gives the slot back (calling it twice does no harm), or to null when the caller of `response` has
   * gone.
   *
   * @throws RateLimitedError when too many requests of this caller wait, or the wait takes too long
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

  /** Gives free slots to waiting requests. */
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

/** One shared error: a stack for each took more than the rest of the answer, and thousands may be refused in a second. */
const REFUSAL = mustWait('Too many requests from this address are in progress or waiting', RETRY_AFTER_MS)

/** How much may be on its way to readers, and for how long. */
export interface UnreadLimits {
  /** Bytes from which an answer counts; smaller ones fit into the system's buffers. */
  counted: number
  /** Unread bytes of a caller from which nothing more is begun for it. */
  perCaller: number
  /** Unread bytes over all callers, beyond which the oldest answer is cut. */
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

/** Answers that were written but not read yet. */
export class UnreadAnswers {
  readonly #limits: UnreadLimits
  readonly #onRead: () => void
  /** The oldest first. */
  readonly #answers = new Map<ServerResponse, Unread>()
  readonly #byCaller = new Map<string, number>()
  #total = 0

  /** @param onRead called when a caller may have room again */
  constructor(limits: UnreadLimits, onRead: () => void) {
    this.#limits = limits
    this.#onRead = onRead
  }

  /** Whether a caller has read enough to get more. */
  hasRoomFor(caller: string): boolean {
    return (this.#byCaller.get(caller) ?? 0) < this.#limits.perCaller
  }

  /** An answer of this many bytes is about to be sent. */
  add(response: ServerResponse, caller: string, bytes: number): void {
    const { counted, total, stalledMs, longestMs } = this.#limits
    if (bytes < counted || isGone(response)) return
    // Node restarts this timeout with every byte sent, and restores that of idle connections after the answer.
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
 * Calls `act` once when the response has ended: sent, cut, or never begun because its connection ended. Node emits `close` only
 * on a response that has the connection, which one queued behind another's answer (pipelining) does not have yet.
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
