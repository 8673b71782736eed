/** Work that waits until the sandbox's code has returned: promise reactions and callLater, in one order. */
export class Jobs {
  readonly #queue: (() => void)[] = []
  readonly #onError: (error: unknown) => void
  #depth = 0

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  add(job: () => void): void {
    this.#queue.push(job)
  }

  /** Calls into the sandbox. When the outermost call has returned, or thrown, the jobs run. */
  run<T>(call: () => T): T {
    this.#depth++
    try {
      return call()
    } finally {
      this.#depth--
      if (this.#depth === 0) this.drain()
    }
  }

  /** Runs the jobs now, those that they add too. What a job throws goes to `onError`. */
  drain(): void {
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
      try {
        job()
      } catch (error) {
        this.#onError(error)
      }
    }
  }
}
