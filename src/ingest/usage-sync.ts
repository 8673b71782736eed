import type { JournalFolder } from '../journal/index.ts'
import { type Clock, monthOf, SECOND } from '../lib/index.ts'
import { chunksOf, countOf, type Store } from '../store/index.ts'
import type { ClientMeter, UsageSnapshot } from './limits.ts'

export interface UsageSyncOptions {
  store: Store
  clock: Clock
  folder: JournalFolder
  /** Every client's meter by client id; read again every time. */
  meters: ReadonlyMap<string, ClientMeter>
}

/**
 * A quota can be exceeded by what nodes accept before they know of each other's events: until the fold, one second, and until the
 * next sync, another two. Busy nodes fold later; each may exceed the quota by `MUCH_AT_ONCE`, 1 %.
 */
export const USAGE_SYNC_INTERVAL_MS = 2 * SECOND
/** Clients that send nothing to this node are corrected this seldom: a rough figure is enough until they do. */
const ALL_INTERVAL_MS = 30 * SECOND

/**
 * Corrects this node's usage of each client's quota by what the store has counted: what other nodes have accepted, and, when a
 * clock is set back to an earlier month, what was accepted in that month.
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

  /** @throws StoreError; the meters then continue from what they know */
  async tick(): Promise<void> {
    const { store, clock, folder } = this.#options
    const now = clock.now()
    const month = monthOf(now)
    // A node with a database of its own knows everything that was accepted.
    if (!store.isShared && month === this.#month) return
    const isForAll = month !== this.#month || Math.abs(now - this.#allAt) >= ALL_INTERVAL_MS
    const ids = this.#due(isForAll, now)
    // No other fold may run in between: its events would be in the store's count and count as new here as well.
    if (ids.length > 0) await folder.alone((fold) => this.#correct(ids, now, fold))
    if (isForAll) {
      this.#allAt = now
      this.#month = month
    }
  }

  #due(isForAll: boolean, now: number): string[] {
    const ids: string[] = []
    // A busy node folds a site's counts once there are several to merge. Folding them here every two seconds would defeat that.
    const mayWait = this.#options.folder.isBusy
    for (const [id, meter] of this.#options.meters) {
      const isDue = (mayWait && !meter.isQuotaInSight(now) ? false : meter.takeNewEvents()) || isForAll
      if (isDue && meter.limits.eventsPerMonth !== null) ids.push(id)
    }
    return ids
  }

  async #correct(ids: readonly string[], now: number, fold: () => Promise<void>): Promise<void> {
    const { store, meters } = this.#options
    const snapshots = new Map<string, UsageSnapshot>()
    for (const id of ids) {
      const meter = meters.get(id)
      if (meter !== undefined) snapshots.set(id, meter.snapshotUsage(now))
    }
    await fold()
    for (const chunk of chunksOf([...snapshots.keys()])) {
      const rows = await store.read
        .selectFrom('client_usage')
        .select(['client_id', countOf('events').as('events')])
        .where('month', '=', monthOf(now))
        .where('client_id', 'in', chunk)
        .execute()
      const stored = new Map(rows.map((row) => [row.client_id, row.events]))
      for (const id of chunk) {
        const snapshot = snapshots.get(id)
        if (snapshot !== undefined) meters.get(id)?.correctUsage(stored.get(id) ?? 0, snapshot)
      }
    }
  }
}
