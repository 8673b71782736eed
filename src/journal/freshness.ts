import { type Clock, Mutex, SECOND } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import type { JournalFolder } from './journal-folder.ts'
import { laneInSql, lanesOf, startOfLane } from './lanes.ts'
import { foldRanges, type JournalRange, nodeUnindexed } from './streams.ts'

/** Reports include everything accepted longer ago than this: folding and reading take another second. */
const FRESH_MS = SECOND

interface FreshnessOptions {
  store: Store
  clock: Clock
  /** Folds this node's own journal; null where the node takes no requests. */
  folder: Pick<JournalFolder, 'oldestUnfoldedAt' | 'oldestUnfoldedOf' | 'foldSite' | 'fold'> | null
  nodeId: string
}

/**
 * Folds the counts that a report is about to show and that still wait in the journal. On busy nodes they wait up to 15 s, so that
 * more of them merge into one row. Costs nothing when nothing waits, and folds at most once a second.
 */
export class Freshness {
  readonly #options: FreshnessOptions
  readonly #turn = new Mutex()
  /** The search that has not begun yet. */
  #next: Promise<readonly Waiting[]> | undefined

  constructor(options: FreshnessOptions) {
    this.#options = options
  }

  /**
   * Resolves when everything accepted for the site until a second ago is in its counts.
   *
   * @param siteNoOf looks up the site's number, undefined if there is no such site; not called when nothing can be waiting
   * @throws StoreError
   */
  async ofSite(siteNoOf: () => Promise<number | undefined>): Promise<void> {
    const { store, folder } = this.#options
    if (!store.isShared && this.#isFresh(folder?.oldestUnfoldedAt)) return
    const siteNo = await siteNoOf()
    if (siteNo === undefined) return
    if (!this.#isFresh(folder?.oldestUnfoldedOf(siteNo))) await folder?.foldSite(siteNo)
    await this.#foldOthers(lanesOf(siteNo))
  }

  /** The same for all sites. @throws StoreError */
  async ofAll(): Promise<void> {
    const { folder } = this.#options
    if (!this.#isFresh(folder?.oldestUnfoldedAt)) await folder?.fold()
    await this.#foldOthers(null)
  }

  #isFresh(oldest: number | null | undefined): boolean {
    // A negative age (the clock was set back) proves nothing: beyond a second it counts as old.
    return oldest === null || oldest === undefined || Math.abs(this.#options.clock.now() - oldest) < FRESH_MS
  }

  /** Folds what other nodes have accepted: they would fold it later, or have died. @param lanes null: all */
  async #foldOthers(lanes: readonly number[] | null): Promise<void> {
    const { store } = this.#options
    if (!store.isShared) return
    const rows = await this.#waitingOfOthers()
    const ranges = rows
      .filter(({ lane }) => lanes?.includes(lane) ?? true)
      .map(
        ({ node_id, lane, last_seq }): JournalRange => ({
          nodeId: node_id,
          firstSeq: startOfLane(lane),
          lastSeq: last_seq,
        }),
      )
    if (ranges.length > 0) await foldRanges(store, ranges)
  }

  /**
   * One search serves all who asked before it began: a page asks for a dozen reports at once, and each search reads the whole journal.
   */
  #waitingOfOthers(): Promise<readonly Waiting[]> {
    this.#next ??= this.#turn.run(() => {
      this.#next = undefined
      return this.#search()
    })
    return this.#next
  }

  async #search(): Promise<Waiting[]> {
    const { store, nodeId } = this.#options
    const { nowInSql } = store
    if (nowInSql === undefined) return []
    const node = nodeUnindexed(store)
    return store.read
      .selectFrom('journal')
      .select((eb) => [
        node.as('node_id'),
        laneInSql(eb.ref('seq')).as('lane'),
        eb.fn.max<number>('seq').as('last_seq'),
      ])
      .where('node_id', '!=', nodeId)
      .groupBy((eb) => [node, laneInSql(eb.ref('seq'))])
      .having((eb) => eb(eb.fn.min('written_at'), '<=', eb(nowInSql, '-', FRESH_MS)))
      .execute()
  }
}

/** A lane of another node with rows that are old enough. */
interface Waiting {
  node_id: string
  lane: number
  last_seq: number
}
