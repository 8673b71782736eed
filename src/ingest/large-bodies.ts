import { asError, ConfinedThread, FairQueue } from '../lib/index.ts'
import type { BodyTasks, JudgedLarge } from './body-tasks.ts'

/** The largest take 30 ms; this is for a machine that is busy, and for mistakes of ours. */
const JUDGE_MS = 10_000
/** The largest take 20 MB. */
const HEAP_MB = 128

/** A large body that has arrived. */
export interface LargeBody {
  siteNo: number
  /** Called when its turn has come: its bytes, which are given away, or null when its sender has gone. */
  take: () => Uint8Array<ArrayBuffer> | null
  /** Time of acceptance, epoch ms; asked when its turn has come. */
  now: () => number
  /** @param judged null: its reader has died or the service stops, and nothing of it was counted */
  settle: (judged: JudgedLarge | null, now: number) => void
}

/**
 * Reads large bodies in a thread of its own, one after the other, the clients in turn.
 *
 * A megabyte of JSON takes up to 30 ms, in which no other request was answered while the main thread read it: the p99 of healthy senders
 * beside one of such bodies was 55 to 83 ms. The thread hands back texts and numbers, so that an event of 500 tags costs the main
 * thread its bytes and not its objects. It starts with the first large body.
 */
export class LargeBodies {
  readonly #thread: ConfinedThread
  readonly #onError: (error: Error, what: string) => void
  readonly #waiting = new FairQueue<LargeBody>()
  #isBusy = false
  #isClosed = false

  /** @param onError called when the thread has died: of time, of memory, or of a mistake of ours */
  constructor(onError: (error: Error, what: string) => void, module = new URL('./body-tasks.ts', import.meta.url)) {
    this.#onError = onError
    this.#thread = new ConfinedThread({ module, timeMs: JUDGE_MS, heapMb: HEAP_MB })
  }

  judge(clientId: string, body: LargeBody): void {
    this.#waiting.push(clientId, body)
    if (!this.#isBusy) void this.#judgeAll()
  }

  /** What is under way and what waits is settled with null. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread.close()
  }

  async #judgeAll(): Promise<void> {
    this.#isBusy = true
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) {
      const bytes = next.take()
      if (bytes === null) continue
      const now = next.now()
      next.settle(await this.#read({ bytes, siteNo: next.siteNo, now }), now)
    }
    this.#isBusy = false
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
