import { HOUR, MINUTE } from '../lib/index.ts'

const FIRST_WAIT_MS = MINUTE
const LONGEST_WAIT_MS = HOUR

/** Exponential backoff: what failed is not tried again for a while, twice as long each time. */
export class Backoff {
  readonly #waits = new Map<string, { until: number; waitMs: number }>()

  /** How many things are blocked, or were until recently. */
  get size(): number {
    return this.#waits.size
  }

  isBlocked(what: string, now: number): boolean {
    return now < (this.#waits.get(what)?.until ?? 0)
  }

  failed(what: string, now: number): void {
    const before = this.#waits.get(what)?.waitMs ?? FIRST_WAIT_MS / 2
    this.#waits.delete(what)
    const waitMs = Math.min(LONGEST_WAIT_MS, before * 2)
    this.#waits.set(what, { until: now + waitMs, waitMs })
    // What was not tried for long no longer exists.
    for (const [name, { until }] of this.#waits) {
      if (until >= now - LONGEST_WAIT_MS) break
      this.#waits.delete(name)
    }
  }

  succeeded(what: string): void {
    this.#waits.delete(what)
  }
}
