import { asError, type Clock, ConfinedThread, FairQueue, monotonicOf, SECOND, systemClock } from '../lib/index.ts'
import type { BodyTasks, JudgedLarge } from './body-tasks.ts'

/** The largest take 30 ms; this is for a machine that is busy, and for mistakes of ours. */
const JUDGE_MS = 10_000
/** The largest take 20 MB. */
const HEAP_MB = 128

/** What may be read of one client's large bodies, bytes. */
export interface Pace {
  atOnce: number
  aSecond: number
}

/**
 * What a batch of 200 events takes is a fiftieth of it, so nothing that a tag sends for real waits. Events of 500 tags, 150 in a second,
 * took half of the core that the service shared with PostgreSQL, and the p99 of healthy senders was 4.5 times that alone; at a megabyte a
 * second it still was 2.1 to 4.5 times.
 */
const PACE: Pace = { atOnce: 1_048_576, aSecond: 524_288 }
/** How often what waits for its pace is looked at. */
const HELD_MS = 20

/** A large body that has arrived. */
export interface LargeBody {
  siteNo: number
  size: number
  /** Called when its turn has come: its bytes, which are given away, or null when its sender has gone. */
  take: () => Uint8Array<ArrayBuffer> | null
  /** Time of acceptance, epoch ms; asked when its turn has come. */
  now: () => number
  /** @param judged null: its reader has died or the service stops, and nothing of it was counted */
  settle: (judged: JudgedLarge | null, now: number) => void
}

interface Waiting {
  clientId: string
  body: LargeBody
}

/**
 * Reads large bodies in a thread of its own, one after the other, the clients in turn and each at its pace.
 *
 * A megabyte of JSON takes up to 30 ms, in which no other request was answered while the main thread read it: the p99 of healthy senders
 * beside one of such bodies was 55 to 83 ms. The thread hands back texts and numbers, so that an event of 500 tags costs the main
 * thread its bytes and not its objects. It starts with the first large body.
 */
export class LargeBodies {
  readonly #thread: ConfinedThread
  readonly #onError: (error: Error, what: string) => void
  readonly #waiting = new FairQueue<Waiting>()
  readonly #pace: Pace
  readonly #clock: Clock
  /** Of each client that sent some lately: the bytes beyond its pace at the time, which is monotonic. */
  readonly #ahead = new Map<string, { bytes: number; at: number }>()
  #isBusy = false
  #isClosed = false
  #held: NodeJS.Timeout | undefined

  /** @param onError called when the thread has died: of time, of memory, or of a mistake of ours */
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

  /** What is under way and what waits is settled with null. */
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

  /** The next body of the client whose turn it is; clients that have had their share wait. */
  #next(): Waiting | undefined {
    return this.#waiting.take((clientId) => this.#isClosed || this.#aheadOf(clientId) < this.#pace.atOnce)
  }

  /** By how many bytes a client is ahead of its pace now. */
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
