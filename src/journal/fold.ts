import { type BatchOperation, type Store, StoreError } from '../store/index.ts'
import { type Delta, type SiteDelta, unitsOf } from './delta.ts'
import { condense, HEAVY_SITE, spill } from './heavy-sites.ts'
import { NameBooks } from './names.ts'
import { isSpill } from './row.ts'
import { FoldRows } from './rows.ts'

/** Rows after which a fold commits and lets others write: 5 to 15 ms of the writer's time. */
const ROWS_PER_CHUNK = 2_000
/** The cost of a piece that is spilled, in rows. */
const ROWS_PER_PIECE = 100

/** Journal rows of one stream and what they add up to. */
export interface FoldTask {
  /** The stream: a node's own, or what a fold of it spilled. */
  nodeId: string
  /** The rows: all of the stream from here … */
  firstSeq: number
  /** … to here … */
  lastSeq: number
  /** … which are this many: one per number, unless an older version began the fold. */
  journalRows: number
  /** When the first of them was written, epoch ms. */
  writtenAt: number
  /** The sum of those rows. */
  delta: Delta
  /**
   * Sites up to this number are in the rollups already; null when the fold of these rows has not begun. Every chunk moves it on,
   * so that a failed fold can resume.
   */
  siteCursor: number | null
}

/** Client of a site, or undefined when the site was deleted and its counts go with it. */
export type ClientOfSite = (siteNo: number) => string | undefined

export interface FolderOptions {
  /** Rows after which a fold commits. */
  rowsPerChunk?: number
  /** Units of a site from which it is spilled; `Infinity` where no process would fold it later. */
  heavySite?: number
  /** How much to take at once; share it between consecutive folders. */
  pace?: Pace
}

/**
 * Whether a fold failed because another process folds, or has folded, the same rows. Nothing was written and nothing is lost:
 * read the node's rows again to see what is left of them.
 */
export const isFoldConflict = (thrown: unknown): boolean =>
  thrown instanceof StoreError && (thrown.kind === 'unique' || thrown.kind === 'unexpected_changes')

/**
 * Moves journal rows into the rollups, each exactly once, even if several processes fold the same node's rows at the same
 * time (clocks differ, and a node that was thought dead may be alive), and even if a commit lands long after its sender got the
 * answer that it had failed.
 *
 * The argument. A journal row is durable before its requests are answered. The rows of a fold are a run: one for each number
 * from its first to its last. A number belongs to one row for ever, so no row can join a run that was found whole, however late
 * it lands: its number is before, behind, or in a gap between runs, and it gets a fold of its own.
 *
 * A fold adds the sum of a run to the rollups and deletes the run, in transactions cut by ascending site number (chunks). The
 * node's row in `folds` is both their lock and their progress: it says which run is being folded, and up to which site
 * that is done. Each chunk begins by taking it, from the state in which this process last saw it: the first chunk inserts
 * it, a later one moves its cursor on from the very value it read, the last deletes it. Then:
 *
 * - Of two processes in the same state one comes second; it waits for the first to end, then finds the row there already
 *   (`unique`) or in another state (`unexpected_changes`), and its whole transaction is undone. So each step of a fold,
 *   with its counts, is committed by one process.
 * - Journal rows are deleted only by a last chunk, together with the row in `folds` that says they are being folded. So
 *   while that row exists the run exists, and any process that reads it gets the same sum and may go on after the cursor.
 * - A process may have read the journal rows, and only then begin, after another folded them from first to last. Its
 *   first chunk, which holds the lock alone by then, does not find the whole run, and is undone.
 *
 * A crash leaves the state of the last committed chunk, from which any process continues.
 *
 * A site whose counts are too many for one transaction, even after the caps of its names have condensed them (`condense`), is
 * spilled: its chunk writes them back to the journal, in small pieces and under a stream of their own, instead of into the
 * rollups. The argument still holds: counts leave the run in the transaction that puts them elsewhere. The sites after it do
 * not wait for it.
 */
export class Folder {
  readonly pace: Pace
  readonly #store: Store
  readonly #books: NameBooks
  readonly #clientOf: ClientOfSite
  readonly #rowsPerChunk: number
  readonly #heavySite: number

  constructor(store: Store, clientOf: ClientOfSite, options: FolderOptions = {}) {
    this.#store = store
    this.#books = new NameBooks(store)
    this.#clientOf = clientOf
    this.#rowsPerChunk = options.rowsPerChunk ?? ROWS_PER_CHUNK
    this.#heavySite = options.heavySite ?? HEAVY_SITE
    this.pace = options.pace ?? new Pace()
  }

  /**
   * @throws StoreError; `task.siteCursor` then says how far it got. After one that `isFoldConflict`, or is `unavailable`, the
   * task may be out of date: read it again.
   */
  async fold(task: FoldTask): Promise<void> {
    const done = task.siteCursor ?? 0
    const sites = [...task.delta.sites.keys()].filter((siteNo) => siteNo > done).sort((a, b) => a - b)
    try {
      await this.#books.load(task.delta, sites)
      await this.#foldSites(task, sites)
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
        await this.#store.batch([...this.#moveCursor(task, cursor), ...rows.operations(), ...spills])
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
    await this.#store.batch(last)
  }

  #isHeavy({ nodeId }: FoldTask, site: SiteDelta): boolean {
    return !isSpill(nodeId) && unitsOf(site) > this.#heavySite
  }

  /** The beginning of every chunk but the last. */
  #moveCursor(task: FoldTask, cursor: number): BatchOperation[] {
    const take = this.#take(task, cursor)
    return task.siteCursor === null ? [take, this.#findRows(task)] : [take]
  }

  /** Locks the node's fold until the transaction ends, if it is where the task says. */
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
   * Undoes the transaction unless the journal holds the whole run. A statement of its own, after the lock is held: a statement
   * that had to wait for the lock would count the rows that were there before it waited.
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

/** Share of the usual amounts: each failure halves it, down to this, and each success raises it again. */
const LEAST_SHARE = 1 / 64
const GROWTH = 1.25

/**
 * How much a fold takes at once: less after each failure, and more again with each success. So the database is not asked again
 * for a batch that it could not finish in time.
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
