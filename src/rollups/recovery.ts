import type { Kysely, Store, Tables } from '../store/index.ts'
import { Delta } from './delta.ts'
import type { Folder, FoldTask } from './fold.ts'

/** Journal rows read into memory at a time. */
const ROWS_PER_ROUND = 1_000

/**
 * Folds every journal row of nodes that are no longer there, and returns how many rows that were.
 *
 * @param livingNodes whose rows are left alone: they fold them from memory.
 * @param onProgress called with the rows folded so far.
 */
export async function foldOrphans(
  store: Store,
  folder: Folder,
  livingNodes: readonly string[],
  onProgress?: (rows: number) => void,
): Promise<number> {
  let folded = 0
  for (const nodeId of await nodesWithRows(store.read, livingNodes)) {
    for (let rows = await foldNext(store, folder, nodeId); rows > 0; rows = await foldNext(store, folder, nodeId)) {
      folded += rows
      onProgress?.(folded)
    }
  }
  return folded
}

async function nodesWithRows(db: Kysely<Tables>, livingNodes: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom('journal').select('node_id').distinct().execute()
  return rows.map((row) => row.node_id).filter((nodeId) => !livingNodes.includes(nodeId))
}

/** Folds the node's next rows; the rows of a fold that was cut off come first, and all together. */
async function foldNext(store: Store, folder: Folder, nodeId: string): Promise<number> {
  const task = await readFoldTask(store, nodeId)
  if (task === undefined) return 0
  await folder.fold(task)
  return task.journalRows
}

/** What the journal holds of a node to be folded next, at most up to row `lastSeq`. */
export async function readFoldTask(store: Store, nodeId: string, lastSeq?: number): Promise<FoldTask | undefined> {
  return store.read.transaction().execute((snapshot) => readTask(snapshot, nodeId, lastSeq))
}

async function readTask(db: Kysely<Tables>, nodeId: string, lastSeq?: number): Promise<FoldTask | undefined> {
  const begun = await db.selectFrom('folds').selectAll().where('node_id', '=', nodeId).executeTakeFirst()
  let query = db.selectFrom('journal').select(['seq', 'payload']).where('node_id', '=', nodeId).orderBy('seq')
  if (lastSeq !== undefined) query = query.where('seq', '<=', lastSeq)
  // The cursor of a fold that was cut off belongs to the sum of exactly those rows.
  query = begun === undefined ? query.limit(ROWS_PER_ROUND) : query.where('seq', '<=', begun.last_seq)
  const rows = await query.execute()
  const last = rows.at(-1)
  if (last === undefined) return undefined
  const delta = new Delta()
  for (const row of rows) delta.absorb(Delta.decode(row.payload))
  return { nodeId, lastSeq: last.seq, journalRows: rows.length, delta, siteCursor: begun?.site_cursor ?? 0 }
}
