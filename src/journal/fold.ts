import { type BatchOperation, type Store, StoreError } from '../store/index.ts'
import { type Delta, type SiteDelta, unitsOf } from './delta.ts'
import { condense, HEAVY_SITE, spill } from './heavy-sites.ts'
import { NameBooks } from './names.ts'
import { PartMerges } from './part-merges.ts'
import { isSpill } from './row.ts'
import { FoldRows } from './rows.ts'

/**
 * Rows after which a fold commits. SQLite has one writer, so ingest's commits wait for a chunk: 60 rows, of some 20 sites, take it about a
 * millisecond. On PostgreSQL nothing waits, and more commits cost more: 1,000 rows instead of 2,000 took a tenth more of its processor time.
 */
const ROWS_PER_CHUNK: Readonly<Record<Store['engine'], number>> = { sqlite: 60, postgres: 2_000 }
/** What a spilled piece costs, in rows. */
const ROWS_PER_PIECE = 100

/** A run of journal rows of one stream and their sum. */
export interface FoldTask {
  /** The stream: a node's own rows, or what a fold of them spilled. */
  nodeId: string
  /** First row of the run … */
  firstSeq: number
  /** … and its last. */
  lastSeq: number
  /** Rows in the run: one for each number, unless an older version began the fold. */
  journalRows: number
  /** When the first row was written, epoch ms. */
  writtenAt: number
  /** The sum of the rows. */
  delta: Delta
  /**
   * Sites up to this number are already in the rollups; null until the first chunk is committed. Each chunk advances it, so that
   * a failed fold can resume.
   */
  siteCursor: number | null
}

/** Returns the client of a site, or undefined when the site was deleted; its counts are then dropped. */
export type ClientOfSite = (siteNo: number) => string | undefined

export interface FolderOptions {
  /** Rows after which a fold commits. */
  rowsPerChunk?: number
  /** Units from which a site is spilled; `Infinity` where no process would fold the pieces later. */
  heavySite?: number
  /** How much to take at once; pass it on to the next folder. */
  pace?: Pace
}

/**
 * Whether a fold failed because another process is folding, or has folded, the same rows. Nothing was written or lost: read the
 * node's rows again to see which are left.
 */
export const isFoldConflict = (thrown: unknown): boolean =>
  thrown instanceof StoreError && (thrown.kind === 'unique' || thrown.kind === 'unexpected_changes')

/**
 * Moves journal rows into the rollups, each exactly once, even if several processes fold the same node's rows at the same time
 * (clocks differ, and a node believed dead may be alive), and even if a commit lands long after its sender got an error.
 *
 * The argument. A journal row is durable before its requests are answered. The rows of a fold are a run: one for each number from
 * its first to its last. A number belongs to one row for ever, so no row can join a run that was found whole, however late it
 * lands: its number lies before the run, after it, or in a gap between runs, and it gets a fold of its own.
 *
 * A fold adds the sum of a run to the rollups and deletes the run, in transactions cut by ascending site number (chunks). The
 * node's row in `folds` is both the lock and the progress: which run is being folded, and up to which site that is done. Each
 * chunk begins by taking that row in the state in which this process last saw it: the first chunk inserts it, a later one moves
 * the cursor on from the very value it read, the last deletes it. Then:
 *
 * - Of two processes in the same state one comes second. It waits for the first to end, then finds the row already there
 *   (`unique`) or in another state (`unexpected_changes`), and its whole transaction is rolled back. So each step of a fold, with
 *   its counts, is committed by one process.
 * - Only a last chunk deletes journal rows, together with the row in `folds` that says they are being folded. So while that row
 *   exists the run exists, and any process that reads it gets the same sum and may continue after the cursor.
 * - A process may read the journal rows and begin only after another has folded all of them. Its first chunk, which holds the
 *   lock alone by then, does not find the whole run and is rolled back.
 *
 * A crash leaves the state of the last committed chunk, from which any process continues.
 *
 * A site whose counts are too many for one transaction, even after `condense` has applied the caps on names, is spilled: its
 * chunk writes them back to the journal, in small pieces and under a stream of their own, instead of into the rollups. The
 * argument still holds, because counts leave the run in the transaction that puts them elsewhere. The sites after it do not wait
 * for it.
 */
export class Folder {
  readonly pace: Pace
  /** Which minutes it has added several parts to. */
  readonly merges = new PartMerges()
  readonly #store: Store
  readonly #books: NameBooks
  readonly #clientOf: ClientOfSite
  readonly #rowsPerChunk: number
  readonly #heavySite: number

  constructor(store: Store, clientOf: ClientOfSite, options: FolderOptions = {}) {
    this.#store = store
    this.#books = new NameBooks(store)
    this.#clientOf = clientOf
    this.#rowsPerChunk = options.rowsPerChunk ?? ROWS_PER_CHUNK[store.engine]
    this.#heavySite = options.heavySite ?? HEAVY_SITE
    this.pace = options.pace ?? new Pace()
  }

  /**
   * Folds the task's rows.
   *
   * @throws StoreError; `task.siteCursor` then says how far it got. After `isFoldConflict` or `unavailable` the task may be out
   * of date: read it again.
   */
  async fold(task: FoldTask): Promise<void> {
    const done = task.siteCursor ?? 0
    const sites = [...task.delta.sites.keys()].filter((siteNo) => siteNo > done).sort((a, b) => a - b)
    try {
      await this.#books.load(task.delta, sites)
      await this.#foldSites(task, sites)
      for (const siteNo of sites) this.merges.note(siteNo, task.delta.sites.get(siteNo)?.cells ?? [])
      this.#books.forgetOldDays(sites)
      this.pace.faster()
    } catch (thrown) {
      // The books may hold names that the failed transaction did not write.
      this.#books.forget(sites)
      if (!isFoldConflict(thrown)) this.pace.slower()
      throw thrown
    }
  }

  async #foldSites(task: FoldTask, sites: readonly number[]): Promise<void> {
    let rows = new FoldRows()
    let spills: BatchOperation[] = []
    for (const siteNo of sites) {
      if (rows.count + spills.length * ROWS_PER_PIECE >= this.pace.of(this.#rowsPerChunk)) {
        const cursor = siteNo - 1
        await this.#store.batch([...this.#moveCursor(task, cursor), ...rows.operations(), ...spills], {
          isRepeatable: true,
        })
        task.siteCursor = cursor
        rows = new FoldRows()
        spills = []
      }
      const site = task.delta.sites.get(siteNo)
      const clientId = this.#clientOf(siteNo)
      if (site === undefined || clientId === undefined) continue
      if (!this.#isHeavy(task, site)) {
        await rows.addSite(siteNo, clientId, site, this.#books)
        continue
      }
      const condensed = await condense(siteNo, site, this.#books, rows)
      if (this.#isHeavy(task, condensed)) {
        rows.addUsage(clientId, condensed)
        spills.push(...(await spill(this.#store, { ...task, siteNo, site: condensed })))
      } else await rows.addSite(siteNo, clientId, condensed, this.#books)
    }
    const last = [this.#take(task, task.siteCursor ?? 0), ...rows.operations(), ...spills, ...this.#finish(task)]
    await this.#store.batch(last, { isRepeatable: true })
  }

  #isHeavy({ nodeId }: FoldTask, site: SiteDelta): boolean {
    return !isSpill(nodeId) && unitsOf(site) > this.#heavySite
  }

  /** The first operations of every chunk but the last. */
  #moveCursor(task: FoldTask, cursor: number): BatchOperation[] {
    const take = this.#take(task, cursor)
    return task.siteCursor === null ? [take, this.#findRows(task)] : [take]
  }

  /** Locks the node's fold until the transaction ends, provided that it is in the state the task has. */
  #take(task: FoldTask, cursor: number): BatchOperation {
    const { nodeId, firstSeq, lastSeq, siteCursor } = task
    if (siteCursor === null) {
      const begin = this.#store.write
        .insertInto('folds')
        .values({ node_id: nodeId, first_seq: firstSeq, last_seq: lastSeq, site_cursor: cursor })
      return { kind: 'statement', query: begin.compile() }
    }
    const goOn = this.#store.write
      .updateTable('folds')
      .set({ site_cursor: cursor })
      .where('node_id', '=', nodeId)
      .where('first_seq', '=', firstSeq)
      .where('last_seq', '=', lastSeq)
      .where('site_cursor', '=', siteCursor)
    return { kind: 'statement', query: goOn.compile(), expectChanges: 1 }
  }

  /**
   * Rolls back the transaction unless the journal holds the whole run. This is a separate statement, after the lock is held: a
   * statement that waited for the lock would count the rows from before its wait.
   */
  #findRows({ nodeId, firstSeq, lastSeq, journalRows }: FoldTask): BatchOperation {
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
            .where('seq', '>=', firstSeq)
            .where('seq', '<=', lastSeq),
        '=',
        journalRows,
      )
    return { kind: 'statement', query: query.compile(), expectChanges: 1 }
  }

  #finish({ nodeId, firstSeq, lastSeq, journalRows }: FoldTask): BatchOperation[] {
    const rows = this.#store.write
      .deleteFrom('journal')
      .where('node_id', '=', nodeId)
      .where('seq', '>=', firstSeq)
      .where('seq', '<=', lastSeq)
    const fold = this.#store.write.deleteFrom('folds').where('node_id', '=', nodeId)
    return [
      { kind: 'statement', query: rows.compile(), expectChanges: journalRows },
      { kind: 'statement', query: fold.compile(), expectChanges: 1 },
    ]
  }
}

/** Share of the usual amount: each failure halves it down to `LEAST_SHARE`, each success multiplies it by `GROWTH`. */
const LEAST_SHARE = 1 / 64
const GROWTH = 1.25

/**
 * How much a fold takes at once: less after each failure, more again after each success. So a batch that the database could not
 * finish in time is not repeated unchanged.
 */
export class Pace {
  #share = 1

  /** The current share of a usual amount, at least 1. */
  of(usual: number): number {
    return Math.max(1, Math.floor(usual * this.#share))
  }

  slower(): void {
    this.#share = Math.max(LEAST_SHARE, this.#share / 2)
  }

  faster(): void {
    this.#share = Math.min(1, this.#share * GROWTH)
  }
}
