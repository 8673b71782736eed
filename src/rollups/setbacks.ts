import { HOUR, MINUTE } from '../lib/index.ts'

const FIRST_WAIT_MS = MINUTE
const LONGEST_WAIT_MS = HOUR

/** What did not work is left alone for a while, twice as long each time. */
export class Setbacks {
  readonly #waits = new Map<string, { until: number; waitMs: number }>()

  /** How many things wait, or did until lately. */
  get size(): number {
    return this.#waits.size
  }

  isResting(what: string, now: number): boolean {
    return now < (this.#waits.get(what)?.until ?? 0)
  }

  failed(what: string, now: number): void {
    const before = this.#waits.get(what)?.waitMs ?? FIRST_WAIT_MS / 2
    this.#waits.delete(what)
    const waitMs = Math.min(LONGEST_WAIT_MS, before * 2)
    this.#waits.set(what, { until: now + waitMs, waitMs })
    // What has not been tried for long is gone.
    for (const [name, { until }] of this.#waits) {
      if (until >= now - LONGEST_WAIT_MS) break
      this.#waits.delete(name)
    }
  }

  succeeded(what: string): void {
    this.#waits.delete(what)
  }
}
