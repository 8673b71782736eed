import { type Clock, monthOf, SECOND } from '../lib/index.ts'
import { chunksOf, countOf, type Store } from '../store/index.ts'
import type { JournalFolder } from './journal-folder.ts'
import type { ClientMeter, UsageMark } from './limits.ts'

export interface UsageSyncOptions {
  store: Store
  clock: Clock
  folder: JournalFolder
  /** The meter of every client by its id; looked at anew every time. */
  meters: ReadonlyMap<string, ClientMeter>
}

/**
 * A quota can be exceeded by what the nodes accept while they do not know of each other: until their folds, one second, and
 * until the next of these, another two.
 */
export const USAGE_SYNC_INTERVAL_MS = 2 * SECOND
/** Of clients that send nothing to this node it is enough to know the use roughly, until they do. */
const ALL_INTERVAL_MS = 30 * SECOND

/**
 * Brings what the store has counted into this node's count of each client's quota: what the other nodes have accepted, and what was
 * accepted of a month that this process has not been in yet, by a clock that was set back to it.
 */
export class UsageSync {
  readonly #options: UsageSyncOptions
  #allAt: number
  #month: number

  constructor(options: UsageSyncOptions) {
    this.#options = options
    this.#allAt = options.clock.now()
    this.#month = monthOf(this.#allAt)
  }

  /** @throws StoreError; the meters then go on counting from what they know. */
  async tick(): Promise<void> {
    const { store, clock, folder } = this.#options
    const now = clock.now()
    const month = monthOf(now)
    // One that has its database to itself knows what it has accepted.
    if (!store.isShared && month === this.#month) return
    const isForAll = month !== this.#month || Math.abs(now - this.#allAt) >= ALL_INTERVAL_MS
    const ids = this.#due(isForAll)
    // Nobody else may fold in between: those events would be in the store's count, and counted as new here as well.
    if (ids.length > 0) await folder.alone((fold) => this.#correct(ids, now, fold))
    if (isForAll) {
      this.#allAt = now
      this.#month = month
    }
  }

  #due(isForAll: boolean): string[] {
    const ids: string[] = []
    for (const [id, meter] of this.#options.meters) {
      const isDue = meter.takeNewEvents() || isForAll
      if (isDue && meter.limits.eventsPerMonth !== null) ids.push(id)
    }
    return ids
  }

  async #correct(ids: readonly string[], now: number, fold: () => Promise<void>): Promise<void> {
    const { store, meters } = this.#options
    const marks = new Map<string, UsageMark>()
    for (const id of ids) {
      const meter = meters.get(id)
      if (meter !== undefined) marks.set(id, meter.markUsage(now))
    }
    await fold()
    for (const chunk of chunksOf([...marks.keys()])) {
      const rows = await store.read
        .selectFrom('client_usage')
        .select(['client_id', countOf('events').as('events')])
        .where('month', '=', monthOf(now))
        .where('client_id', 'in', chunk)
        .execute()
      const stored = new Map(rows.map((row) => [row.client_id, row.events]))
      for (const id of chunk) {
        const mark = marks.get(id)
        if (mark !== undefined) meters.get(id)?.correctUsage(stored.get(id) ?? 0, mark)
      }
    }
  }
}
