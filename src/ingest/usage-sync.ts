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

/** Brings what the other nodes have accepted into this node's count of each client's quota. */
export class UsageSync {
  readonly #options: UsageSyncOptions
  #allAt: number

  constructor(options: UsageSyncOptions) {
    this.#options = options
    this.#allAt = options.clock.now()
  }

  /** @throws StoreError; the meters then go on counting from what they know. */
  async tick(): Promise<void> {
    const { clock, folder } = this.#options
    const now = clock.now()
    const isForAll = Math.abs(now - this.#allAt) >= ALL_INTERVAL_MS
    const ids = this.#due(isForAll)
    if (ids.length === 0) return
    // Nobody else may fold in between: those events would be in the store's count, and counted as new here as well.
    await folder.alone(async (fold) => {
      const marks = this.#mark(ids)
      await fold()
      for (const chunk of chunksOf([...marks.keys()])) await this.#correct(chunk, marks)
    })
    if (isForAll) this.#allAt = now
  }

  #due(isForAll: boolean): string[] {
    const ids: string[] = []
    for (const [id, meter] of this.#options.meters) {
      const isDue = meter.takeNewEvents() || isForAll
      if (isDue && meter.limits.eventsPerMonth !== null) ids.push(id)
    }
    return ids
  }

  #mark(ids: readonly string[]): Map<string, UsageMark> {
    const marks = new Map<string, UsageMark>()
    const now = this.#options.clock.now()
    for (const id of ids) {
      const meter = this.#options.meters.get(id)
      if (meter !== undefined) marks.set(id, meter.markUsage(now))
    }
    return marks
  }

  async #correct(ids: readonly string[], marks: ReadonlyMap<string, UsageMark>): Promise<void> {
    const { store, clock, meters } = this.#options
    const month = monthOf(clock.now())
    const rows = await store.read
      .selectFrom('client_usage')
      .select(['client_id', countOf('events').as('events')])
      .where('month', '=', month)
      .where('client_id', 'in', ids)
      .execute()
    const stored = new Map(rows.map((row) => [row.client_id, row.events]))
    for (const id of ids) {
      const mark = marks.get(id)
      // A month that began while the store was asked is not the one that was asked for.
      if (mark?.month === month) meters.get(id)?.correctUsage(stored.get(id) ?? 0, mark, clock.now())
    }
  }
}
