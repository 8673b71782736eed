import { SECOND } from '../lib/index.ts'
import { chunksOf, type Store } from '../store/index.ts'
import { isAside } from './aside.ts'
import { attemptEach } from './attempts.ts'
import { Folder, isFoldConflict } from './fold.ts'
import { foldJournal } from './journal.ts'
import { Pace } from './pace.ts'

/** How long a living node's row waits for its node to fold it, by the database's clock: it may have died just now. */
const STALE_AFTER_MS = 5 * SECOND

export interface OrphanOptions {
  /** Also fold fresh rows of living nodes: one that starts may be the next life of any of them. */
  takeAll?: boolean
  /** Kept from one call to the next, so that what was too much is not tried again. */
  pace?: Pace
}

/** Rows of one stream that somebody has to fold. */
interface Orphans {
  nodeId: string
  lastSeq: number | undefined
  isOfTheLiving: boolean
}

/**
 * Folds the journal rows that nobody else will or does: those of nodes that are no longer there, what folds have set aside, and
 * rows of living nodes that have waited too long. Returns how many rows that were. Any process may do so at
 * any time, several at once too. Costs one small query when there are none.
 *
 * @param livingNodes who fold their own rows
 * @throws StoreError the first one, when all that can be folded has been; the next call goes on
 */
export async function foldOrphans(
  store: Store,
  livingNodes: readonly string[],
  { takeAll = false, pace = new Pace() }: OrphanOptions = {},
): Promise<number> {
  let clients: ReadonlyMap<number, string> = new Map()
  const folder = new Folder(store, (siteNo) => clients.get(siteNo), { pace })
  let folded = 0
  const orphans = await orphansIn(store, livingNodes, takeAll)
  await attemptEach(orphans, async ({ nodeId, lastSeq, isOfTheLiving }) => {
    try {
      // Who lives and folds by himself is left alone as soon as he is met.
      const stretch = { nodeId, lastSeq, ...(isOfTheLiving ? { maxConflicts: 1 } : {}) }
      folded += await foldJournal(store, folder, stretch, async (task) => {
        // Read after the rows: whatever site they are from was there by then.
        clients = await clientsOf(store, [...task.delta.sites.keys()])
      })
    } catch (thrown) {
      // Somebody else folds the same node and is always quicker: it is in good hands, and looked at again the next time.
      if (!isFoldConflict(thrown)) throw thrown
    }
    return true
  })
  return folded
}

/**
 * Where there is something to fold, what was set aside last: it may be much, and is of few sites. Rows that come later are left
 * for the next time, so that there is an end.
 */
async function orphansIn(store: Store, livingNodes: readonly string[], takeAll: boolean): Promise<Orphans[]> {
  const living = new Set(livingNodes)
  const { nowInSql } = store
  const rows = await store.read
    .selectFrom('journal')
    .select(({ fn, lit }) => ['node_id', fn.max<number>('seq').as('last_seq'), lit<number>(0).as('is_begun')])
    .$if(!takeAll && living.size > 0, (journal) =>
      journal.where((eb) =>
        eb.or([
          eb('node_id', 'not in', [...living]),
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
    if (is_begun === 1 && living.has(node_id)) continue
    streams.set(node_id, Math.max(last_seq, streams.get(node_id) ?? 0))
  }
  return [...streams]
    .map(([nodeId, lastSeq]) => ({ nodeId, lastSeq, isOfTheLiving: living.has(nodeId) }))
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
