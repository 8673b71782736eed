import type { BatchOperation, Store } from '../store/index.ts'
import type { Delta } from './delta.ts'
import { dayOf, NameBooks } from './names.ts'
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
  /** Sites up to this number are in the rollups already; moved on by every chunk, so that a failed fold can go on. */
  siteCursor: number
}

/** Client of a site, or undefined when the site is gone and its counts go with it. */
export type ClientOfSite = (siteNo: number) => string | undefined

/**
 * Moves journal rows into the rollups, each exactly once.
 *
 * The argument. A journal row is durable before its requests are answered. A fold adds the sum of some rows to the
 * rollups and deletes exactly those rows in one transaction, so at every moment a count is either in the journal or in
 * the rollups. A large fold is cut into chunks by ascending site number; each chunk's transaction also moves the node's
 * cursor in `folds`, and the last one deletes the rows and the cursor. After a crash the rows are read back, give the same sum, and
 * sites up to the cursor are left out. If the last chunk does not find as many rows as went into the sum, somebody else
 * wrote or folded under this node's name: it rolls back, and the caller reads the journal again.
 */
export class Folder {
  readonly #store: Store
  readonly #books: NameBooks
  readonly #clientOf: ClientOfSite

  constructor(store: Store, clientOf: ClientOfSite) {
    this.#store = store
    this.#books = new NameBooks(store)
    this.#clientOf = clientOf
  }

  /** @throws StoreError; `task.siteCursor` then says how far it came. */
  async fold(task: FoldTask): Promise<void> {
    const sites = [...task.delta.sites.keys()].filter((siteNo) => siteNo > task.siteCursor).sort((a, b) => a - b)
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
    await this.#books.load(siteDays(task.delta, sites))
    let rows = new FoldRows()
    for (const siteNo of sites) {
      if (rows.count >= ROWS_PER_CHUNK) {
        const cursor = siteNo - 1
        await this.#store.batch([...rows.operations(), this.#moveCursor(task, cursor)])
        task.siteCursor = cursor
        rows = new FoldRows()
      }
      const site = task.delta.sites.get(siteNo)
      const clientId = this.#clientOf(siteNo)
      if (site !== undefined && clientId !== undefined) rows.addSite(siteNo, clientId, site, this.#books)
    }
    await this.#store.batch([...rows.operations(), ...this.#finish(task)])
  }

  #moveCursor(task: FoldTask, cursor: number): BatchOperation {
    const query = this.#store.write
      .insertInto('folds')
      .values({ node_id: task.nodeId, last_seq: task.lastSeq, site_cursor: cursor })
      .onConflict((conflict) => conflict.column('node_id').doUpdateSet({ last_seq: task.lastSeq, site_cursor: cursor }))
      .compile()
    return { kind: 'statement', query }
  }

  #finish(task: FoldTask): BatchOperation[] {
    const rows = this.#store.write
      .deleteFrom('journal')
      .where('node_id', '=', task.nodeId)
      .where('seq', '<=', task.lastSeq)
    const cursor = this.#store.write.deleteFrom('folds').where('node_id', '=', task.nodeId)
    return [
      { kind: 'statement', query: rows.compile(), expectChanges: task.journalRows },
      { kind: 'statement', query: cursor.compile() },
    ]
  }
}

function* siteDays(delta: Delta, sites: readonly number[]): Generator<{ siteNo: number; day: number }> {
  for (const siteNo of sites) {
    for (const cell of delta.sites.get(siteNo)?.cells ?? []) yield { siteNo, day: dayOf(cell.minute) }
  }
}
