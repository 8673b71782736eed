import { sql } from 'kysely'
import type { Membership } from '../cluster/index.ts'
import { type Clock, Loop, SECOND } from '../lib/index.ts'
import { attemptEach, chunksOf, type Store, unindexed } from '../store/index.ts'
import { Folder, type FoldTask, isFoldConflict, Pace } from './fold.ts'
import { LONGEST_WAIT_MS } from './lanes.ts'
import { readFoldTask } from './read.ts'
import { isSpill } from './row.ts'

/**
 * After this time by the database's clock, other nodes fold a live node's rows, as the node may have just died. Reports do not
 * wait for that, see `Freshness`.
 */
const STALE_AFTER_MS = LONGEST_WAIT_MS + 5 * SECOND
/** Consecutive conflicts with another process after which the rows are left to it. */
const MAX_CONFLICTS = 10
/** How often to fold what dead nodes left, so that it is in the rollups soon after they are known to be dead. */
const ORPHANS_INTERVAL_MS = 3 * SECOND

/** The rows that `foldJournal` folds. */
export interface JournalRange {
  nodeId: string
  /** The first row; 0 when left out. */
  firstSeq?: number
  /** The last row; all rows when left out. */
  lastSeq?: number | undefined
  /** Consecutive conflicts with another process after which the rows are left to it. */
  maxConflicts?: number
}

/**
 * Folds a node's journal rows up to `lastSeq`, and returns how many this process folded: others may have been quicker.
 *
 * @param prepare called with each task before it is folded @throws StoreError; another call continues where this one stopped,
 * also after a restart
 */
export async function foldJournal(
  store: Store,
  folder: Folder,
  { nodeId, firstSeq, lastSeq, maxConflicts = MAX_CONFLICTS }: JournalRange,
  prepare: (task: FoldTask) => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  let folded = 0
  let conflicts = 0
  for (;;) {
    const task = await readFoldTask(store, nodeId, { firstSeq, lastSeq, pace: folder.pace })
    if (task === undefined) return folded
    try {
      await prepare(task)
      await folder.fold(task)
      task.delta.release()
      folded += task.journalRows
      conflicts = 0
    } catch (thrown) {
      // After a conflict, continue with what the other process left.
      if (!isFoldConflict(thrown) || ++conflicts >= maxConflicts) throw thrown
    }
  }
}

interface OrphanOptions {
  /** Also fold fresh rows of live nodes: a node that starts may be the restart of any of them. */
  takeAll?: boolean
  /** Kept between calls, so that an amount that was too much is not tried again. */
  pace?: Pace
}

/**
 * Folds the journal rows that no other node folds: those of dead nodes, what folds have spilled, and rows of live nodes that have
 * waited too long. Returns the number of rows. Any process may do so at any time, even several at once. Costs one small query
 * when there are none.
 *
 * @param liveNodes nodes that fold their own rows @throws StoreError the first one, after folding all that can be folded; the
 * next call continues
 */
export async function foldOrphans(
  store: Store,
  liveNodes: readonly string[],
  { takeAll = false, pace = new Pace() }: OrphanOptions = {},
): Promise<number> {
  return foldRanges(store, await orphansIn(store, liveNodes, takeAll), pace)
}

/**
 * Folds journal rows of any nodes, and returns how many this process folded. Rows that another process folds at the same time are
 * left to it after `maxConflicts`.
 *
 * @throws StoreError the first one, after folding all that can be folded
 */
export async function foldRanges(
  store: Store,
  ranges: readonly JournalRange[],
  pace: Pace = new Pace(),
): Promise<number> {
  let clients: ReadonlyMap<number, string> = new Map()
  const folder = new Folder(store, (siteNo) => clients.get(siteNo), { pace })
  let folded = 0
  await attemptEach(ranges, async (range) => {
    try {
      folded += await foldJournal(store, folder, range, async (task) => {
        // Read after the rows: by then every site they belong to exists.
        clients = await clientsOf(store, [...task.delta.sites.keys()])
      })
    } catch (thrown) {
      if (!isFoldConflict(thrown)) throw thrown
    }
    return true
  })
  return folded
}

/**
 * The streams with rows to fold. Spilled ones come last: they may be large, and concern few sites. Rows that arrive later are
 * left for the next time, so that this ends.
 */
async function orphansIn(store: Store, liveNodes: readonly string[], takeAll: boolean): Promise<JournalRange[]> {
  const live = new Set(liveNodes)
  const { nowInSql } = store
  const node = nodeUnindexed(store)
  const rows = await store.read
    .selectFrom('journal')
    .select(({ fn, lit }) => [node.as('node_id'), fn.max<number>('seq').as('last_seq'), lit<number>(0).as('is_begun')])
    .$if(!takeAll && live.size > 0, (journal) =>
      journal.where((eb) =>
        eb.or([
          eb('node_id', 'not in', [...live]),
          ...(nowInSql === undefined ? [] : [eb('written_at', '<=', eb(nowInSql, '-', STALE_AFTER_MS))]),
        ]),
      ),
    )
    .groupBy(node)
    .unionAll(
      store.read.selectFrom('folds').select(({ lit }) => ['node_id', 'last_seq', lit<number>(1).as('is_begun')]),
    )
    .execute()
  const streams = new Map<string, number>()
  for (const { node_id, last_seq, is_begun } of rows) {
    if (is_begun === 1 && live.has(node_id)) continue
    streams.set(node_id, Math.max(last_seq, streams.get(node_id) ?? 0))
  }
  return (
    [...streams]
      // A live node has priority on its own rows: give up at the first conflict.
      .map(([nodeId, lastSeq]) => ({ nodeId, lastSeq, ...(live.has(nodeId) ? { maxConflicts: 1 } : {}) }))
      .sort((a, b) => Number(isSpill(a.nodeId)) - Number(isSpill(b.nodeId)))
  )
}

/**
 * The node of a journal row, to group by. PostgreSQL would read each row through the index for its order, and so each deleted one
 * that a backup keeps from being cleared away: 320,000 took 9 s, and all pages of the table in a row 0.4 s. SQLite has no such rows.
 */
export const nodeUnindexed = ({ isShared }: Pick<Store, 'isShared'>) =>
  isShared ? unindexed('node_id') : sql.ref<string>('node_id')

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
 * Keeps folding what no other node folds. It runs on every node with upkeep: on a single one, that node's death
 * would stop it for half a minute.
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
