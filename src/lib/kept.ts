/** A cached value: read at most once per interval, however many callers ask for it. */
export class Kept<T> {
  readonly #read: (now: number) => Promise<T>
  readonly #freshMs: number
  #latest: { at: number; value: Promise<T> } | null = null

  /** @param freshMs how long an answer may be given again */
  constructor(freshMs: number, read: (now: number) => Promise<T>) {
    this.#freshMs = freshMs
    this.#read = read
  }

  /** @param now epoch ms */
  get(now: number): Promise<T> {
    // A clock that was set back must not make an answer last.
    if (this.#latest !== null && Math.abs(now - this.#latest.at) < this.#freshMs) return this.#latest.value
    const latest = { at: now, value: this.#read(now) }
    this.#latest = latest
    // A failure goes to the callers that wait for it; the next one tries again.
    latest.value.catch(() => {
      if (this.#latest === latest) this.#latest = null
    })
    return latest.value
  }
}
