import type { Membership } from '../cluster/index.ts'
import { type Clock, Loop, MINUTE, Mutex, SECOND } from '../lib/index.ts'
import { attemptEach, chunksOf, type Store } from '../store/index.ts'
import { Folder, type FoldTask, isFoldConflict, Pace } from './fold.ts'
import { readFoldTask } from './read.ts'
import { isSpill } from './row.ts'

/** How long to look for the row of a failed commit, ms: a database that lost its connection may still commit. */
const LATE_FOR_MS = MINUTE

/**
 * Folds what this process has committed. It reads the rows back from the journal instead of keeping their sum in memory: so
 * rows of live and dead nodes take one path, a commit whose outcome is unknown needs no special case (its row is there or it is
 * not), and nothing piles up while the store is slow. It is also faster: objects that live for a second among others that die
 * at once defeat the garbage collector. Measured with 1,000 sites, that cost a quarter of all requests.
 */
export class JournalFolder {
  readonly #store: Store
  readonly #folder: Folder
  readonly #clock: Clock
  readonly #nodeId: string
  readonly #turn = new Mutex()
  #settledSeq = 0
  #foldedSeq = 0
  #oldestAt: number | null = null
  /** Until when rows of commits reported as failed may still appear, epoch ms. */
  #lateUntil = 0

  constructor(store: Store, folder: Folder, clock: Clock, nodeId: string) {
    this.#store = store
    this.#folder = folder
    this.#clock = clock
    this.#nodeId = nodeId
  }

  /** When the oldest commit that is not in the rollups was settled, or null. */
  get oldestUnfoldedAt(): number | null {
    return this.#oldestAt
  }

  /** A commit has ended: with success, or with an error after which its row may exist, appear later, or never. */
  onSettled(seq: number, error?: Error): void {
    this.#settledSeq = seq
    this.#oldestAt ??= this.#clock.now()
    if (error !== undefined) this.#lateUntil = this.#clock.now() + LATE_FOR_MS
  }

  /** Folds all that was settled before the call. @throws StoreError; the next call continues. */
  fold(): Promise<void> {
    // One at a time: two folds at once would read the same rows, and the second would not find them to delete.
    return this.#turn.run(() => this.#foldSettled())
  }

  /** Runs `work` while no other fold runs here; its argument `fold` folds all that was settled when it is called. */
  alone<T>(work: (fold: () => Promise<void>) => Promise<T>): Promise<T> {
    return this.#turn.run(() => work(() => this.#foldSettled()))
  }

  async #foldSettled(): Promise<void> {
    const began = this.#clock.now()
    const settled = this.#settledSeq
    if (settled === this.#foldedSeq && began >= this.#lateUntil) return
    await foldJournal(this.#store, this.#folder, { nodeId: this.#nodeId, lastSeq: settled })
    this.#foldedSeq = settled
    this.#oldestAt = this.#settledSeq === settled ? null : began
  }
}

/** How long a live node's row waits for its node to fold it, by the database's clock: the node may have just died. */
const STALE_AFTER_MS = 5 * SECOND
/** Conflicts in a row with another process on the same rows before they are left to it. */
const MAX_CONFLICTS = 10
/** What a node that died left is in the reports within 10 s: 5 until its rows are old enough, and the next round of this. */
const ORPHANS_INTERVAL_MS = 3 * SECOND

/** What `foldJournal` folds. */
interface JournalRange {
  nodeId: string
  /** The last row; all rows when left out. */
  lastSeq?: number | undefined
  /** Conflicts in a row with another process before the rows are left to it. */
  maxConflicts?: number
}

/**
 * Folds a node's journal rows up to row `lastSeq`, and returns how many of them this process folded: others may have been
 * quicker.
 *
 * @param prepare called with each task before it is folded
 * @throws StoreError; calling again continues where it stopped, after a restart too
 */
export async function foldJournal(
  store: Store,
  folder: Folder,
  { nodeId, lastSeq, maxConflicts = MAX_CONFLICTS }: JournalRange,
  prepare: (task: FoldTask) => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  let folded = 0
  let conflicts = 0
  for (;;) {
    const task = await readFoldTask(store, nodeId, { lastSeq, pace: folder.pace })
    if (task === undefined) return folded
    try {
      await prepare(task)
      await folder.fold(task)
      folded += task.journalRows
      conflicts = 0
    } catch (thrown) {
      // After a conflict, go on with what the other process left.
      if (!isFoldConflict(thrown) || ++conflicts >= maxConflicts) throw thrown
    }
  }
}

interface OrphanOptions {
  /** Also fold fresh rows of live nodes: a node that starts may be the restart of any of them. */
  takeAll?: boolean
  /** Kept from one call to the next, so that what was too much is not tried again. */
  pace?: Pace
}

/** Rows of one stream that are due to be folded. */
interface Orphans {
  nodeId: string
  lastSeq: number | undefined
  isOfLiveNode: boolean
}

/**
 * Folds the journal rows that no other node folds: those of dead nodes, what folds have spilled, and rows of live nodes that
 * have waited too long. Returns how many rows that were. Any process may do so at any time, also several at once. Costs one small
 * query when there are none.
 *
 * @param liveNodes nodes that fold their own rows
 * @throws StoreError the first one, after folding all that can be folded; the next call continues
 */
export async function foldOrphans(
  store: Store,
  liveNodes: readonly string[],
  { takeAll = false, pace = new Pace() }: OrphanOptions = {},
): Promise<number> {
  let clients: ReadonlyMap<number, string> = new Map()
  const folder = new Folder(store, (siteNo) => clients.get(siteNo), { pace })
  let folded = 0
  const orphans = await orphansIn(store, liveNodes, takeAll)
  await attemptEach(orphans, async ({ nodeId, lastSeq, isOfLiveNode }) => {
    try {
      // A live node that folds its own rows has priority: the first conflict ends this.
      const range = { nodeId, lastSeq, ...(isOfLiveNode ? { maxConflicts: 1 } : {}) }
      folded += await foldJournal(store, folder, range, async (task) => {
        // Read after the rows: by then every site they belong to exists.
        clients = await clientsOf(store, [...task.delta.sites.keys()])
      })
    } catch (thrown) {
      // Another process folds the same node's rows and is always quicker: leave them to it, and check again next time.
      if (!isFoldConflict(thrown)) throw thrown
    }
    return true
  })
  return folded
}

/**
 * The streams with rows to fold. What was spilled comes last: it may be a lot, and is of few sites. Rows that come later are
 * left for the next time, so that this ends.
 */
async function orphansIn(store: Store, liveNodes: readonly string[], takeAll: boolean): Promise<Orphans[]> {
  const live = new Set(liveNodes)
  const { nowInSql } = store
  const rows = await store.read
    .selectFrom('journal')
    .select(({ fn, lit }) => ['node_id', fn.max<number>('seq').as('last_seq'), lit<number>(0).as('is_begun')])
    .$if(!takeAll && live.size > 0, (journal) =>
      journal.where((eb) =>
        eb.or([
          eb('node_id', 'not in', [...live]),
          ...(nowInSql === undefined ? [] : [eb('written_at', '<=', eb(nowInSql, '-', STALE_AFTER_MS))]),
        ]),
      ),
    )
    .groupBy('node_id')
    .unionAll(
      store.read.selectFrom('folds').select(({ lit }) => ['node_id', 'last_seq', lit<number>(1).as('is_begun')]),
    )
    .execute()
  const streams = new Map<string, number>()
  for (const { node_id, last_seq, is_begun } of rows) {
    if (is_begun === 1 && live.has(node_id)) continue
    streams.set(node_id, Math.max(last_seq, streams.get(node_id) ?? 0))
  }
  return [...streams]
    .map(([nodeId, lastSeq]) => ({ nodeId, lastSeq, isOfLiveNode: live.has(nodeId) }))
    .sort((a, b) => Number(isSpill(a.nodeId)) - Number(isSpill(b.nodeId)))
}

async function clientsOf(store: Store, siteNos: readonly number[]): Promise<Map<number, string>> {
  const clients = new Map<number, string>()
  for (const chunk of chunksOf(siteNos)) {
    const rows = await store.read
      .selectFrom('sites')
      .select(['site_no', 'client_id'])
      .where('site_no', 'in', chunk)
      .execute()
    for (const row of rows) clients.set(row.site_no, row.client_id)
  }
  return clients
}

/**
 * Keeps folding what no other node folds. It runs on every node with upkeep: if it ran on one and that died, no node would do it
 * for half a minute.
 */
export class OrphanFolding {
  readonly loops: readonly [Loop]

  constructor({ store, clock, membership, onError }: OrphanFoldingOptions) {
    const pace = new Pace()
    const tick = async () => void (await foldOrphans(store, await membership.liveNodeIds(), { pace }))
    this.loops = [new Loop({ name: 'orphans', clock, intervalMs: ORPHANS_INTERVAL_MS, tick, onError })]
  }

  start(): void {
    this.loops[0].start()
  }

  async stop(): Promise<void> {
    await this.loops[0].stop()
  }
}

interface OrphanFoldingOptions {
  store: Store
  clock: Clock
  membership: Membership
  onError: (error: Error, loop: string) => void
}
