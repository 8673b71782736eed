import type { Selectable } from 'kysely'
import { Yielder } from '../lib/index.ts'
import type { FoldTable, Store } from '../store/index.ts'
import { Delta, unitsOf } from './delta.ts'
import { type FoldTask, Pace } from './fold.ts'
import { HEAVY_SITE } from './heavy-sites.ts'
import { addLog, isSpill, type Log } from './row.ts'

/** Journal rows in one fold at most, so that its sum stays small while catching up. */
const ROWS_PER_FOLD = 4_000
/** Sites in one fold from which reading stops: the sum of more would only fill memory (3 kB each), not merge better. */
const SITES_PER_FOLD = 4_000
/**
 * Names and ids in one fold from which reading stops: some 15 MB. Objects that live longer cost the garbage collector tens of ms
 * each time.
 */
const UNITS_PER_FOLD = 40_000
/**
 * The same for one site, so that its fold seldom needs condensing. Beside a site of 75,000 new names a second, the slowest 1 % of
 * the others' requests took 95 to 207 ms with folds of up to 40,000 of its names, and 48 to 107 ms with this limit.
 */
const UNITS_PER_SITE = HEAVY_SITE * (7 / 8)
/**
 * After a count, units are assumed to be at most this share of the limit, so that the next count is far off: counting visits all
 * of them.
 */
const RECOUNTED_SHARE = 3 / 4
/** Journal rows read at once. */
const ROWS_PER_READ = 400
/** Rows in the first read, which shows how long rows are … */
const ROWS_OF_FIRST_READ = 10
/** … and roughly the characters in each further read. */
const CHARACTERS_PER_READ = 400_000
/** Characters parsed without yielding: a few milliseconds. */
const CHARACTERS_PER_TURN = 100_000

type BegunFold = Selectable<FoldTable>

interface ReadOptions {
  /** The first number that may be included; 0 when left out. */
  firstSeq?: number | undefined
  lastSeq?: number | undefined
  pace?: Pace
}

/** Reads the stream's next run of rows and sums it. Rows of an interrupted fold come first, and all of them together. */
export async function readFoldTask(
  store: Store,
  nodeId: string,
  { firstSeq = 0, lastSeq, pace = new Pace() }: ReadOptions = {},
): Promise<FoldTask | undefined> {
  for (;;) {
    const begun = await store.read.selectFrom('folds').selectAll().where('node_id', '=', nodeId).executeTakeFirst()
    const run = new Run(store, nodeId, pace)
    // The cursor of an interrupted fold is only valid for the sum of exactly its rows.
    const task = await (begun === undefined ? run.readNext(firstSeq, lastSeq) : run.readBegun(begun))
    if (task !== undefined || begun === undefined) return task
    // Another process has finished that fold meanwhile, or someone deleted its rows by hand: later rows may still wait.
    await forgetEmptyFold(store, begun)
  }
}

/** A run of a stream's rows as they are read, and their sum. */
class Run {
  readonly #store: Store
  readonly #nodeId: string
  readonly #pace: Pace
  readonly #delta = new Delta()
  #first = 0
  #last = 0
  #rows = 0
  #writtenAt = Number.MAX_SAFE_INTEGER
  /** Numbers and texts read: an upper bound of the units. */
  #items = 0
  #characters = 0

  constructor(store: Store, nodeId: string, pace: Pace) {
    this.#store = store
    this.#nodeId = nodeId
    this.#pace = pace
  }

  async readBegun({ first_seq, last_seq, site_cursor }: BegunFold): Promise<FoldTask | undefined> {
    for (let more = true; more; ) more = await this.#read(Math.max(first_seq, this.#last + 1), last_seq, () => true)
    return this.#task({ firstSeq: first_seq, lastSeq: last_seq, siteCursor: site_cursor })
  }

  /** Stops at the first missing number: a row that lands there later must not fall inside this fold. */
  async readNext(firstSeq: number, lastSeq = Number.MAX_SAFE_INTEGER): Promise<FoldTask | undefined> {
    const follows = (seq: number) => (this.#rows === 0 || seq === this.#last + 1) && !this.#isEnough()
    for (let more = true; more; ) more = await this.#read(Math.max(firstSeq, this.#last + 1), lastSeq, follows)
    return this.#task({ firstSeq: this.#first, lastSeq: this.#last, siteCursor: null })
  }

  #task(fold: Pick<FoldTask, 'firstSeq' | 'lastSeq' | 'siteCursor'>): FoldTask | undefined {
    if (this.#rows === 0) return undefined
    return {
      ...fold,
      nodeId: this.#nodeId,
      journalRows: this.#rows,
      writtenAt: this.#writtenAt,
      delta: this.#delta,
    }
  }

  /** Sums the next rows while `takes` accepts them. Returns false when no more follow. */
  async #read(from: number, to: number, takes: (seq: number) => boolean): Promise<boolean> {
    const limit = this.#rowsToRead()
    const rows = await this.#store.read
      .selectFrom('journal')
      .select(['seq', 'written_at', 'payload'])
      .where('node_id', '=', this.#nodeId)
      .where('seq', '>=', from)
      .where('seq', '<=', to)
      .orderBy('seq')
      .limit(limit)
      .execute()
    const yielder = new Yielder()
    let characters = 0
    for (const { seq, written_at, payload } of rows) {
      if (!takes(seq)) return false
      characters += payload.length
      if (characters > CHARACTERS_PER_TURN) {
        characters = 0
        await yielder.yield()
      }
      const log = JSON.parse(payload) as Log
      addLog(this.#delta, log)
      if (this.#rows === 0) this.#first = seq
      this.#last = seq
      this.#rows++
      this.#items += log.length
      this.#characters += payload.length
      this.#writtenAt = Math.min(this.#writtenAt, written_at)
    }
    return rows.length === limit
  }

  #rowsToRead(): number {
    if (isSpill(this.#nodeId)) return 1
    if (this.#rows === 0) return ROWS_OF_FIRST_READ
    return Math.min(ROWS_PER_READ, Math.ceil((CHARACTERS_PER_READ * this.#rows) / this.#characters))
  }

  #isEnough(): boolean {
    // One spilled piece is already as much as fits a transaction.
    if (isSpill(this.#nodeId)) return this.#rows > 0
    if (this.#rows >= this.#pace.of(ROWS_PER_FOLD)) return true
    if (this.#delta.sites.size >= this.#pace.of(SITES_PER_FOLD)) return true
    if (this.#hasLargeSite()) return true
    const most = this.#pace.of(UNITS_PER_FOLD)
    if (this.#items < most) return false
    // Usually far fewer than items, because names repeat.
    const units = [...this.#delta.sites.values()].reduce((sum, site) => sum + unitsOf(site), 0)
    this.#items = Math.min(units, most * RECOUNTED_SHARE)
    return units >= most
  }

  #hasLargeSite(): boolean {
    const { largest } = this.#delta
    const most = this.#pace.of(UNITS_PER_SITE)
    if (largest === undefined || largest.items < most) return false
    const units = unitsOf(largest)
    if (units >= most) return true
    largest.items = Math.min(units, most * RECOUNTED_SHARE)
    this.#delta.largest = undefined
    return false
  }
}

async function forgetEmptyFold(store: Store, { node_id, first_seq, last_seq }: BegunFold): Promise<void> {
  await store.write
    .deleteFrom('folds')
    .where('node_id', '=', node_id)
    .where('first_seq', '=', first_seq)
    .where('last_seq', '=', last_seq)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('journal')
            .select('journal.seq')
            .where('journal.node_id', '=', node_id)
            .where('seq', '>=', first_seq)
            .where('seq', '<=', last_seq),
        ),
      ),
    )
    .execute()
}
