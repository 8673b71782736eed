import { type BatchOperation, type Store, StoreError } from '../store/index.ts'
import type { Delta } from './delta.ts'
import { NameBooks } from './names.ts'
import { FoldRows } from './rows.ts'

/** Rows after which a fold commits and lets others write: about 10 ms of the writer's time. */
const ROWS_PER_CHUNK = 4_000

/** Journal rows of one node and what they add up to. */
export interface FoldTask {
  nodeId: string
  /** The rows to delete: all of the node's up to this one … */
  lastSeq: number
  /** … which must be this many. */
  journalRows: number
  /** The sum of those rows. */
  delta: Delta
  /**
   * Sites up to this number are in the rollups already; null when the fold of these rows has not begun. Moved on by every
   * chunk, so that a failed fold can go on.
   */
  siteCursor: number | null
}

/** Client of a site, or undefined when the site is gone and its counts go with it. */
export type ClientOfSite = (siteNo: number) => string | undefined

/**
 * Whether a fold failed because another process folds, or has folded, the same rows. Nothing was written then, and
 * nothing is lost: read the node's rows again to see what is left of them.
 */
export const isFoldConflict = (thrown: unknown): boolean =>
  thrown instanceof StoreError && (thrown.kind === 'unique' || thrown.kind === 'unexpected_changes')

/**
 * Moves journal rows into the rollups, each exactly once, even if several processes fold the same node's rows at the same
 * time (clocks differ, and a node that was thought dead may be alive).
 *
 * The argument. A journal row is durable before its requests are answered. A fold adds the sum of some rows to the
 * rollups and deletes exactly those rows, in transactions cut by ascending site number (chunks). The node's row in
 * `folds` is both their lock and their progress: it says up to which journal row is being folded, and up to which site
 * that is done. Each chunk begins by taking it, from the state in which this process last saw it: the first chunk inserts
 * it, a later one moves its cursor on from the very value it read, the last deletes it. Then:
 *
 * - Of two processes in the same state one comes second; it waits for the first to end, then finds the row there already
 *   (`unique`) or in another state (`unexpected_changes`), and its whole transaction is undone. So each step of a fold,
 *   with its counts, is committed by one process.
 * - Journal rows are deleted only by a last chunk, together with the row in `folds` that says they are being folded. So
 *   while that row stands the journal rows stand, and whoever reads them gets the same sum and may go on after the cursor.
 * - A process may have read the journal rows, and only then begin, after another folded them from first to last. Its
 *   first chunk, alone with the node by then, finds another number of rows than went into its sum, and is undone.
 *
 * A crash leaves the state of the last committed chunk, from which any process goes on.
 *
 * What is not exact: a commit whose outcome ingest was never told (it answered 500) may land while a fold of higher rows
 * is between two chunks. What it holds of the sites up to the cursor is then dropped.
 */
export class Folder {
  readonly #store: Store
  readonly #books: NameBooks
  readonly #clientOf: ClientOfSite
  readonly #rowsPerChunk: number

  constructor(store: Store, clientOf: ClientOfSite, rowsPerChunk = ROWS_PER_CHUNK) {
    this.#store = store
    this.#books = new NameBooks(store)
    this.#clientOf = clientOf
    this.#rowsPerChunk = rowsPerChunk
  }

  /**
   * @throws StoreError; `task.siteCursor` then says how far it came. After one that `isFoldConflict`, or is `unavailable`, the
   * task may be out of date: read it again.
   */
  async fold(task: FoldTask): Promise<void> {
    const done = task.siteCursor ?? 0
    const sites = [...task.delta.sites.keys()].filter((siteNo) => siteNo > done).sort((a, b) => a - b)
    try {
      await this.#foldSites(task, sites)
      this.#books.forgetOldDays(sites)
    } catch (thrown) {
      // The books may hold names that were to be written by the transaction that failed.
      this.#books.forget(sites)
      throw thrown
    }
  }

  async #foldSites(task: FoldTask, sites: readonly number[]): Promise<void> {
    await this.#books.load(task.delta, sites)
    let rows = new FoldRows()
    for (const siteNo of sites) {
      if (rows.count >= this.#rowsPerChunk) {
        const cursor = siteNo - 1
        await this.#store.batch([...this.#moveCursor(task, cursor), ...rows.operations()])
        task.siteCursor = cursor
        rows = new FoldRows()
      }
      const site = task.delta.sites.get(siteNo)
      const clientId = this.#clientOf(siteNo)
      if (site !== undefined && clientId !== undefined) rows.addSite(siteNo, clientId, site, this.#books)
    }
    await this.#store.batch([this.#take(task, task.siteCursor ?? 0), ...rows.operations(), ...this.#finish(task)])
  }

  /** What a chunk begins with that is not the last. */
  #moveCursor(task: FoldTask, cursor: number): BatchOperation[] {
    const take = this.#take(task, cursor)
    return task.siteCursor === null ? [take, this.#findRows(task)] : [take]
  }

  /** Locks the node's fold until the transaction ends, if it is where the task says. */
  #take(task: FoldTask, cursor: number): BatchOperation {
    const { nodeId, lastSeq, siteCursor } = task
    if (siteCursor === null) {
      const begin = this.#store.write
        .insertInto('folds')
        .values({ node_id: nodeId, last_seq: lastSeq, site_cursor: cursor })
      return { kind: 'statement', query: begin.compile() }
    }
    const goOn = this.#store.write
      .updateTable('folds')
      .set({ site_cursor: cursor })
      .where('node_id', '=', nodeId)
      .where('last_seq', '=', lastSeq)
      .where('site_cursor', '=', siteCursor)
    return { kind: 'statement', query: goOn.compile(), expectChanges: 1 }
  }

  /**
   * Undoes the transaction unless the journal holds as many rows as went into the sum. A statement of its own, after the lock
   * was had: one that had to wait for the lock would count the rows that were there before it waited.
   */
  #findRows({ nodeId, lastSeq, journalRows }: FoldTask): BatchOperation {
    const query = this.#store.write
      .updateTable('folds')
      .set({ last_seq: lastSeq })
      .where('node_id', '=', nodeId)
      .where(
        (eb) =>
          eb
            .selectFrom('journal')
            .select((count) => count.fn.countAll<number>().as('rows'))
            .where('node_id', '=', nodeId)
            .where('seq', '<=', lastSeq),
        '=',
        journalRows,
      )
    return { kind: 'statement', query: query.compile(), expectChanges: 1 }
  }

  #finish({ nodeId, lastSeq, journalRows }: FoldTask): BatchOperation[] {
    const rows = this.#store.write.deleteFrom('journal').where('node_id', '=', nodeId).where('seq', '<=', lastSeq)
    const fold = this.#store.write.deleteFrom('folds').where('node_id', '=', nodeId)
    return [
      { kind: 'statement', query: rows.compile(), expectChanges: journalRows },
      { kind: 'statement', query: fold.compile(), expectChanges: 1 },
    ]
  }
}
