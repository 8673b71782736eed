import { chunksOf, type FoldTable, type Store } from '../store/index.ts'
import { Delta } from './delta.ts'
import { Folder, type FoldTask, isFoldConflict } from './fold.ts'
import { addLog, type Log } from './log.ts'

/** Journal rows that go into one fold at most, so that its sum stays small when there is much to catch up with. */
const ROWS_PER_FOLD = 2_000
/** Sites in one fold from which reading stops: the sum of more would only fill memory (3 kB each), not merge any better. */
const SITES_PER_FOLD = 4_000
/** Journal rows read and added up without a pause: a few milliseconds, then requests get their turn. */
const ROWS_PER_READ = 50
/** How often in a row another process may be quicker with the same rows before they are left to it. */
const MAX_CONFLICTS = 10

/**
 * Folds what the journal holds of a node up to row `lastSeq`, and returns how many rows this process folded of them: others
 * may have been quicker.
 *
 * @throws StoreError; calling again goes on where it stopped, after a restart too
 */
export async function foldJournal(store: Store, folder: Folder, nodeId: string, lastSeq?: number): Promise<number> {
  let folded = 0
  await eachTask(store, nodeId, lastSeq, async (task) => {
    await folder.fold(task)
    folded += task.journalRows
  })
  return folded
}

/**
 * Folds every journal row of nodes that are no longer there, and returns how many rows that were. Any process may do so at
 * any time, several at once too, and even for a node that lives after all. Costs one small query when there are none.
 *
 * @param livingNodes whose rows are left alone: they fold them themselves
 * @throws StoreError; the next call goes on
 */
export async function foldOrphans(store: Store, livingNodes: readonly string[]): Promise<number> {
  let clients: ReadonlyMap<number, string> = new Map()
  const folder = new Folder(store, (siteNo) => clients.get(siteNo))
  let folded = 0
  const leftAlone = [...livingNodes]
  for (;;) {
    const nodeId = await firstNodeInJournal(store, leftAlone)
    if (nodeId === undefined) return folded
    leftAlone.push(nodeId)
    try {
      await eachTask(store, nodeId, undefined, async (task) => {
        // Read after the rows: whatever site they are from was there by then.
        clients = await clientsOf(store, [...task.delta.sites.keys()])
        await folder.fold(task)
        folded += task.journalRows
      })
    } catch (thrown) {
      // Somebody else folds the same node and is always quicker: it is in good hands, and looked at again the next time.
      if (!isFoldConflict(thrown)) throw thrown
    }
  }
}

/** Hands over the node's rows, fold by fold, until there are none left; after a conflict whatever the other left of them. */
async function eachTask(
  store: Store,
  nodeId: string,
  lastSeq: number | undefined,
  fold: (task: FoldTask) => Promise<void>,
): Promise<void> {
  let conflicts = 0
  for (;;) {
    const task = await readFoldTask(store, nodeId, lastSeq)
    if (task === undefined) return
    try {
      await fold(task)
      conflicts = 0
    } catch (thrown) {
      if (!isFoldConflict(thrown) || ++conflicts >= MAX_CONFLICTS) throw thrown
    }
  }
}

/** The node's next rows and their sum; the rows of a fold that was cut off come first, and all together. */
export async function readFoldTask(store: Store, nodeId: string, lastSeq?: number): Promise<FoldTask | undefined> {
  for (;;) {
    const begun = await store.read.selectFrom('folds').selectAll().where('node_id', '=', nodeId).executeTakeFirst()
    const task = await readRows(store, nodeId, begun, lastSeq)
    if (task !== undefined || begun === undefined) return task
    // Another process has finished that fold since, or its rows were taken out by hand: there may be others behind it.
    await forgetEmptyFold(store, begun)
  }
}

async function readRows(
  store: Store,
  nodeId: string,
  begun: FoldTable | undefined,
  lastSeq = Number.MAX_SAFE_INTEGER,
): Promise<FoldTask | undefined> {
  // The cursor of a fold that was cut off belongs to the sum of exactly its rows.
  const end = begun?.last_seq ?? lastSeq
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
  return { nodeId, lastSeq: begun?.last_seq ?? last, journalRows, delta, siteCursor: begun?.site_cursor ?? null }
}

async function forgetEmptyFold(store: Store, { node_id, last_seq }: FoldTable): Promise<void> {
  await store.write
    .deleteFrom('folds')
    .where('node_id', '=', node_id)
    .where('last_seq', '=', last_seq)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('journal')
            .select('journal.seq')
            .where('journal.node_id', '=', node_id)
            .where('seq', '<=', last_seq),
        ),
      ),
    )
    .execute()
}

/** A node with rows in the journal, or with a fold that was begun; none of `others`. */
async function firstNodeInJournal(store: Store, others: readonly string[]): Promise<string | undefined> {
  const holders = (table: 'journal' | 'folds') => {
    const nodes = store.read.selectFrom(table).select('node_id')
    return others.length === 0 ? nodes : nodes.where('node_id', 'not in', others)
  }
  const { node_id } = await store.read
    .selectFrom(holders('journal').unionAll(holders('folds')).as('holder'))
    .select(({ fn }) => fn.min<string | null>('node_id').as('node_id'))
    .executeTakeFirstOrThrow()
  return node_id ?? undefined
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
