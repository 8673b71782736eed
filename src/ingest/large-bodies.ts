import { asError, type Clock, ConfinedThread, FairQueue, monotonicOf, SECOND, systemClock } from '../lib/index.ts'
import type { BodyTasks, JudgedLarge } from './body-tasks.ts'

/** The largest bodies take 30 ms; the rest allows for a busy machine and for bugs. */
const JUDGE_MS = 10_000
/** The largest bodies take 20 MB. */
const HEAP_MB = 128

/** How many bytes of one client's large bodies may be read. */
export interface Pace {
  atOnce: number
  aSecond: number
}

/**
 * A batch of 200 events takes a fiftieth of `atOnce`, so nothing that a tag really sends waits. 150 events of 500 tags a second
 * took half of the core that the service shared with PostgreSQL, and made the p99 of healthy senders 4.5 times as long; at 1 MB a
 * second it was still 2.1 to 4.5 times.
 */
const PACE: Pace = { atOnce: 1_048_576, aSecond: 524_288 }
/** How often to look whether clients ahead of their pace may continue. */
const HELD_MS = 20

/** A large body that has arrived. */
export interface LargeBody {
  siteNo: number
  size: number
  /** Called when its turn comes. Returns its bytes, which then belong to the thread, or null when the sender has gone. */
  take: () => Uint8Array<ArrayBuffer> | null
  /** Time of acceptance, epoch ms; asked when its turn comes. */
  now: () => number
  /** @param judged null when the thread died or the service stops; nothing of the body was counted */
  settle: (judged: JudgedLarge | null, now: number) => void
}

interface Waiting {
  clientId: string
  body: LargeBody
}

/**
 * Reads large bodies in a thread, one after the other, the clients in turn and each at its pace.
 *
 * 1 MB of JSON takes up to 30 ms. When the main thread read it, no other request was answered meanwhile: the p99 of healthy
 * senders beside one such sender was 55 to 83 ms. The thread hands back texts and numbers, so that an event of 500 tags costs the
 * main thread its bytes and not its objects. The thread starts with the first large body.
 */
export class LargeBodies {
  readonly #thread: ConfinedThread
  readonly #onError: (error: Error, what: string) => void
  readonly #waiting = new FairQueue<Waiting>()
  readonly #pace: Pace
  readonly #clock: Clock
  /** For each client that sent some lately: the bytes by which it was ahead of its pace at the monotonic time `at`. */
  readonly #ahead = new Map<string, { bytes: number; at: number }>()
  #isBusy = false
  #isClosed = false
  #held: NodeJS.Timeout | undefined

  /** @param onError called when the thread died: out of time, out of memory, or by a bug */
  constructor(
    onError: (error: Error, what: string) => void,
    settings: { module?: URL; pace?: Pace; clock?: Clock } = {},
  ) {
    this.#onError = onError
    const { module = new URL('./body-tasks.ts', import.meta.url), pace = PACE, clock = systemClock } = settings
    this.#pace = pace
    this.#clock = clock
    this.#thread = new ConfinedThread({ module, timeMs: JUDGE_MS, heapMb: HEAP_MB })
  }

  judge(clientId: string, body: LargeBody): void {
    this.#waiting.push(clientId, { clientId, body })
    if (!this.#isBusy) void this.#judgeAll()
  }

  /** Settles everything under way and waiting with null. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread.close()
    if (!this.#isBusy) await this.#judgeAll()
  }

  async #judgeAll(): Promise<void> {
    clearTimeout(this.#held)
    this.#isBusy = true
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const bytes = next.body.take()
      if (bytes === null) continue
      this.#spend(next.clientId, next.body.size)
      const now = next.body.now()
      next.body.settle(await this.#read({ bytes, siteNo: next.body.siteNo, now }), now)
    }
    this.#isBusy = false
    if (this.#waiting.size > 0) this.#held = setTimeout(() => void this.#judgeAll(), HELD_MS).unref()
  }

  /** The next body of the client whose turn it is; clients too far ahead of their pace wait. */
  #next(): Waiting | undefined {
    return this.#waiting.take((clientId) => this.#isClosed || this.#aheadOf(clientId) < this.#pace.atOnce)
  }

  /** How many bytes a client is ahead of its pace now. */
  #aheadOf(clientId: string): number {
    const ahead = this.#ahead.get(clientId)
    if (ahead === undefined) return 0
    const left = ahead.bytes - ((monotonicOf(this.#clock) - ahead.at) / SECOND) * this.#pace.aSecond
    if (left > 0) return left
    this.#ahead.delete(clientId)
    return 0
  }

  #spend(clientId: string, size: number): void {
    this.#ahead.set(clientId, { bytes: this.#aheadOf(clientId) + size, at: monotonicOf(this.#clock) })
  }

  async #read(body: Parameters<BodyTasks['judge']>[0]): Promise<JudgedLarge | null> {
    try {
      return (await this.#thread.run('judge', body, { transfer: [body.bytes.buffer] })) as JudgedLarge
    } catch (thrown) {
      if (!this.#isClosed) this.#onError(asError(thrown), 'a large body')
      return null
    }
  }
}
