/**
 * Requests that fall due at a steady pace, whatever becomes of them: the first at the start, the others one interval apart.
 * An answer's time counts from when its request was due, so that one which had to wait for a slow server is not left out.
 */
export class Arrivals {
  readonly #startedAt: number
  readonly #intervalMs: number
  #count = 0

  /** @param startedAt of the clock that `upTo` is asked by, ms */
  constructor(startedAt: number, perSecond: number) {
    this.#startedAt = startedAt
    this.#intervalMs = 1_000 / perSecond
  }

  /** When those fell due that are due at `now` and were not handed out before, in order. */
  upTo(now: number): number[] {
    const due: number[] = []
    for (let at = this.#dueAt(); at <= now; at = this.#dueAt()) {
      due.push(at)
      this.#count++
    }
    return due
  }

  #dueAt(): number {
    return this.#startedAt + this.#count * this.#intervalMs
  }
}
