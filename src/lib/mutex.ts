/** First come, first served exclusive access to one resource. */
export class Mutex {
  #tail: Promise<void> = Promise.resolve()

  /** Resolves with the function that gives the resource back; call it exactly once. */
  async acquire(): Promise<() => void> {
    const before = this.#tail
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#tail = promise
    await before
    return resolve
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire()
    try {
      return await work()
    } finally {
      release()
    }
  }
}
