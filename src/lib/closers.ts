type Close = () => Promise<void> | void

/** Closes what was opened, last in, first out. A closer that fails does not keep the others from running. */
export class Closers {
  readonly #closers: Close[] = []

  add(close: Close): void {
    this.#closers.push(close)
  }

  /** @throws the first error a closer threw, after all have run. */
  async closeAll(): Promise<void> {
    const errors: unknown[] = []
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close()
      } catch (thrown) {
        errors.push(thrown)
      }
    }
    if (errors.length > 0) throw errors[0]
  }
}
