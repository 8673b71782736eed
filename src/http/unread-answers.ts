import type { ServerResponse } from 'node:http'
import { isGone, onceGone } from './gone.ts'

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
