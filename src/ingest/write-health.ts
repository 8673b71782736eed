import { asError, type Clock } from '../lib/index.ts'
import type { Store } from '../store/index.ts'

/** The one row that is rewritten. */
const CHECK_ROW = 1

/**
 * Knows whether the store takes writes: told by the commits, and while they fail by a small write of its own, so that
 * the service notices by itself when writing works again even if nobody sends anything.
 */
export class WriteHealth {
  readonly #store: Store
  readonly #clock: Clock
  #trouble: string | null = null

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** What went wrong with the last write, or null. */
  get trouble(): string | null {
    return this.#trouble
  }

  succeeded(): void {
    this.#trouble = null
  }

  failed(error: Error): void {
    this.#trouble = error.message
  }

  /** Tries a write while there is trouble; costs nothing otherwise. */
  async check(): Promise<void> {
    if (this.#trouble === null) return
    const now = this.#clock.now()
    const query = this.#store.write
      .insertInto('write_checks')
      .values({ id: CHECK_ROW, checked_at: now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ checked_at: now }))
      .compile()
    try {
      await this.#store.batch([{ kind: 'statement', query }], { isUrgent: true })
      this.succeeded()
    } catch (thrown) {
      this.failed(asError(thrown))
    }
  }
}
