import { unlessAborted } from '../unless-aborted.ts'

interface QueuedBody {
  bytes: number
  enter: () => void
}

/** What the bodies of all answers under way may take of memory together: who finds no room waits, first come, first served. */
export class BodyBudget {
  readonly #queue: QueuedBody[] = []
  readonly #size: number
  #free: number

  constructor(bytes: number) {
    this.#size = bytes
    this.#free = bytes
  }

  /**
   * Resolves with what gives the room back, to be called once.
   *
   * @param bytes of which more than there are takes all of them, when nobody else has any
   * @throws what the signal is aborted with
   */
  async take(bytes: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    const mine = Math.min(bytes, this.#size)
    const { promise, resolve } = Promise.withResolvers<void>()
    const body: QueuedBody = { bytes: mine, enter: resolve }
    this.#queue.push(body)
    this.#next()
    try {
      await unlessAborted(signal, promise)
    } catch (thrown) {
      const at = this.#queue.indexOf(body)
      if (at === -1) this.#giveBack(mine)
      else this.#queue.splice(at, 1)
      this.#next()
      throw thrown
    }
    return () => this.#giveBack(mine)
  }

  #giveBack(bytes: number): void {
    this.#free += bytes
    this.#next()
  }

  /** A large one is not passed by small ones behind it: it would wait for ever. */
  #next(): void {
    for (let first = this.#queue[0]; first !== undefined && first.bytes <= this.#free; first = this.#queue[0]) {
      this.#queue.shift()
      this.#free -= first.bytes
      first.enter()
    }
  }
}
