import { asError, type Clock } from '../lib/index.ts'
import type { Store } from '../store/index.ts'

/** The one row that is rewritten. */
const CHECK_ROW = 1

/**
 * Tracks whether the store takes writes. The commits report it; while they fail a small probe write does, so that the service
 * notices when writing works again even if no requests arrive.
 */
export class WriteHealth {
  readonly #store: Store
  readonly #clock: Clock
  #trouble: string | null = null

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The error of the last write, or null. */
  get trouble(): string | null {
    return this.#trouble
  }

  succeeded(): void {
    this.#trouble = null
  }

  failed(error: Error): void {
    this.#trouble = error.message
  }

  /** Tries a write while writes fail; costs nothing otherwise. */
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
