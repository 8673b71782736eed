import { unlessAborted } from '../unless-aborted.ts'

interface QueuedBody {
  bytes: number
  enter: () => void
}

/** The memory that the bodies of all answers under way may take together: when it is used up, bodies wait, first come, first served. */
export class BodyBudget {
  readonly #queue: QueuedBody[] = []
  readonly #size: number
  #free: number

  constructor(bytes: number) {
    this.#size = bytes
    this.#free = bytes
  }

  /**
   * Resolves with a function that releases the bytes; call it once.
   *
   * @param bytes more than the whole budget waits until it is all free, and takes all of it
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

  /** Small bodies never overtake a large one: it would wait for ever. */
  #next(): void {
    for (let first = this.#queue[0]; first !== undefined && first.bytes <= this.#free; first = this.#queue[0]) {
      this.#queue.shift()
      this.#free -= first.bytes
      first.enter()
    }
  }
}
