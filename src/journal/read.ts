import type { Selectable } from 'kysely'
import { Yielder } from '../lib/index.ts'
import type { FoldTable, Store } from '../store/index.ts'
import { Delta, unitsOf } from './delta.ts'
import { type FoldTask, Pace } from './fold.ts'
import { HEAVY_SITE } from './heavy-sites.ts'
import { addLog, isSpill, type Log } from './row.ts'

/** Journal rows that go into one fold at most, so that its sum stays small when there is much to catch up with. */
const ROWS_PER_FOLD = 4_000
/** Sites in one fold from which reading stops: the sum of more would only fill memory (3 kB each), not merge any better. */
const SITES_PER_FOLD = 4_000
/** Names and ids in one fold from which reading stops: some 15 MB. Longer-lived objects cost the garbage collector tens of ms each time. */
const UNITS_PER_FOLD = 40_000
/**
 * The same of a single site, whose fold then seldom needs to be condensed. Beside a site of 75,000 new names a second the slowest
 * hundredth of the others' requests took 95 to 207 ms with folds of up to 40,000 of its names, 48 to 107 ms with these.
 */
const UNITS_PER_SITE = HEAVY_SITE * (7 / 8)
/** Count them again only after this share of them, because counting visits all of them. */
const RECOUNTED_SHARE = 3 / 4
/** Journal rows read at once. */
const ROWS_PER_READ = 400
/** Rows of the first read, which shows how long rows are … */
const ROWS_OF_FIRST_READ = 10
/** … and approximate characters of the others. */
const CHARACTERS_PER_READ = 400_000
/** Characters summed without yielding: a few milliseconds. */
const CHARACTERS_PER_TURN = 100_000

type BegunFold = Selectable<FoldTable>

interface ReadOptions {
  /** The first number that may be in it; 0 when left out. */
  firstSeq?: number | undefined
  lastSeq?: number | undefined
  pace?: Pace
}

/** The stream's next run of rows and its sum; the rows of a fold that was cut off come first, and all together. */
export async function readFoldTask(
  store: Store,
  nodeId: string,
  { firstSeq = 0, lastSeq, pace = new Pace() }: ReadOptions = {},
): Promise<FoldTask | undefined> {
  for (;;) {
    const begun = await store.read.selectFrom('folds').selectAll().where('node_id', '=', nodeId).executeTakeFirst()
    const run = new Run(store, nodeId, pace)
    // The cursor of a fold that was cut off belongs to the sum of exactly its rows.
    const task = await (begun === undefined ? run.readNext(firstSeq, lastSeq) : run.readBegun(begun))
    if (task !== undefined || begun === undefined) return task
    // Another process has finished that fold since, or someone deleted its rows by hand: there may be rows behind it.
    await forgetEmptyFold(store, begun)
  }
}

/** A run of rows of one stream as they are read, and their sum. */
class Run {
  readonly #store: Store
  readonly #nodeId: string
  readonly #pace: Pace
  readonly #delta = new Delta()
  #first = 0
  #last = 0
  #rows = 0
  #writtenAt = Number.MAX_SAFE_INTEGER
  /** Numbers and texts read: never fewer than there are units. */
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

  /** Up to the first missing number: a row that lands there later must not fall into the middle of a fold. */
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

  /** Sums the next rows while `takes` accepts them; false when there are no more such rows. */
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
    // A piece that was spilled is as much as fits a transaction.
    if (isSpill(this.#nodeId)) return this.#rows > 0
    if (this.#rows >= this.#pace.of(ROWS_PER_FOLD)) return true
    if (this.#delta.sites.size >= this.#pace.of(SITES_PER_FOLD)) return true
    if (this.#hasLargeSite()) return true
    const most = this.#pace.of(UNITS_PER_FOLD)
    if (this.#items < most) return false
    // Mostly far fewer, because the same names repeat.
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
