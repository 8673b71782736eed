import { SECOND } from '../lib/index.ts'
import { chunksOf, type Store } from '../store/index.ts'
import { isAside } from './aside.ts'
import { attemptEach } from './attempts.ts'
import { Folder, isFoldConflict } from './fold.ts'
import { foldJournal } from './journal.ts'
import { Pace } from './pace.ts'

/** How long a live node's row waits for its node to fold it, by the database's clock: the node may have just died. */
const STALE_AFTER_MS = 5 * SECOND

export interface OrphanOptions {
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
 * Folds the journal rows that no other node folds: those of dead nodes, what folds have set aside, and rows of live nodes that
 * have waited too long. Returns how many rows that were. Any process may do so at any time, also several at once. Costs one small
 * query when there are none.
 *
 * @param liveNodes nodes that fold their own rows
 * @throws StoreError the first one, after folding all that can be folded; the next call goes on
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
 * The streams with rows to fold. What was set aside comes last: it may be a lot, and is of few sites. Rows that come later are
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
    .sort((a, b) => Number(isAside(a.nodeId)) - Number(isAside(b.nodeId)))
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
