import type { Store } from '../store/index.ts'
import { Delta } from './delta.ts'
import type { Folder, FoldTask } from './fold.ts'
import { addLog, type Log } from './log.ts'

/** Journal rows that go into one fold at most, so that its sum stays small when there is much to catch up with. */
const ROWS_PER_FOLD = 2_000
/** Sites in one fold from which reading stops: the sum of more would only fill memory (3 kB each), not merge any better. */
const SITES_PER_FOLD = 4_000
/** Journal rows read and added up without a pause: a few milliseconds, then requests get their turn. */
const ROWS_PER_READ = 50

/**
 * Folds what the journal holds of a node up to row `lastSeq`, and returns how many rows that were.
 *
 * @throws StoreError; calling again goes on where it stopped, after a restart too
 */
export async function foldJournal(store: Store, folder: Folder, nodeId: string, lastSeq?: number): Promise<number> {
  let folded = 0
  for (;;) {
    const task = await readFoldTask(store, nodeId, lastSeq)
    if (task === undefined) return folded
    await folder.fold(task)
    folded += task.journalRows
  }
}

/**
 * Folds every journal row of nodes that are no longer there, and returns how many rows that were.
 *
 * @param livingNodes whose rows are left alone: they fold them themselves
 */
export async function foldOrphans(store: Store, folder: Folder, livingNodes: readonly string[]): Promise<number> {
  const nodes = await store.read.selectFrom('journal').select('node_id').distinct().execute()
  let folded = 0
  for (const { node_id } of nodes) {
    if (!livingNodes.includes(node_id)) folded += await foldJournal(store, folder, node_id)
  }
  return folded
}

/** The node's next rows and their sum; the rows of a fold that was cut off come first, and all together. */
export async function readFoldTask(store: Store, nodeId: string, lastSeq?: number): Promise<FoldTask | undefined> {
  const begun = await store.read.selectFrom('folds').selectAll().where('node_id', '=', nodeId).executeTakeFirst()
  // The cursor of a fold that was cut off belongs to the sum of exactly its rows.
  const end = begun?.last_seq ?? lastSeq ?? Number.MAX_SAFE_INTEGER
  const delta = new Delta()
  let journalRows = 0
  let last = 0
  const isEnough = () => begun === undefined && (journalRows >= ROWS_PER_FOLD || delta.sites.size >= SITES_PER_FOLD)
  while (!isEnough()) {
    const rows = await store.read
      .selectFrom('journal')
      .select(['seq', 'payload'])
      .where('node_id', '=', nodeId)
      .where('seq', '>', last)
      .where('seq', '<=', end)
      .orderBy('seq')
      .limit(ROWS_PER_READ)
      .execute()
    for (const row of rows) addLog(delta, JSON.parse(row.payload) as Log)
    journalRows += rows.length
    last = rows.at(-1)?.seq ?? last
    if (rows.length < ROWS_PER_READ) break
  }
  if (journalRows === 0) return undefined
  return { nodeId, lastSeq: last, journalRows, delta, siteCursor: begun?.site_cursor ?? 0 }
}
