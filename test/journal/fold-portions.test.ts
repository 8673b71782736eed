import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Delta, Folder, foldJournal, foldOrphans } from '../../src/journal/index.ts'
import { chunksOf, type Store, StoreError } from '../../src/store/index.ts'
import { addTo, deltaOf, encode, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { openEmptyStore, postgres, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'
import { noteStatementSizes } from '../../testkit/statement-sizes.ts'
import { newDatabase, openOn } from '../store/postgres/support.ts'
import { CONTAINERS, executions, manyTags, NOW, oneEvent, TAGS, tagsOf } from './heavy-support.ts'

test('no statement of a fold writes more than 1,000 rows, however many its transaction has', async (t) => {
  const store = await openEmptyStore(postgres, t)
  const delta = new Delta()
  for (let site = 0; site < 3; site++) addTo(delta, manyTags((await insertSite(store)).site_no, 20, 400))
  await writeJournal(store, 'node', 1, delta)
  const sizes = await noteStatementSizes(store, 'tag_names', 'insert')
  const all = { rowsPerChunk: Number.POSITIVE_INFINITY, heavySite: Number.POSITIVE_INFINITY }
  await foldJournal(store, new Folder(store, () => 'client', all), { nodeId: 'node' })
  // Each site links 1,000 ids a day, and notes that it has more.
  assert.deepEqual(await sizes(), [1_000, 1_000, 1_000, 3])
})

const ROWS = 4_500

/** So many journal rows of one event each. */
async function writeMany(store: Store, siteNo: number): Promise<void> {
  const payload = encode(oneEvent(siteNo))
  const rows = Array.from({ length: ROWS }, (_, index) => ({ node_id: 'node', seq: index + 1, written_at: 0, payload }))
  for (const chunk of chunksOf(rows)) await store.write.insertInto('journal').values(chunk).execute()
}

/** A fold of the node's rows that remembers how many it took at a time. */
function takingNote(store: Store) {
  const taken: number[] = []
  const folder = new Folder(store, () => 'client')
  const fold = () =>
    foldJournal(store, folder, { nodeId: 'node' }, ({ journalRows }) => {
      taken.push(journalRows)
      return Promise.resolve()
    })
  return { taken, fold }
}

testOnEveryEngine(
  'after a fold that was too much the next takes half as many journal rows, down to a few',
  async (store) => {
    const { site_no } = await insertSite(store)
    await writeMany(store, site_no)
    let isTooMuch = true
    const slow: Store = {
      ...store,
      batch: (operations, options) =>
        isTooMuch ? Promise.reject(new StoreError('busy', 'timeout')) : store.batch(operations, options),
    }
    const { taken, fold } = takingNote(slow)
    for (let tries = 0; tries < 8; tries++) await assert.rejects(fold(), /timeout/)
    assert.deepEqual(taken, [4_000, 2_000, 1_000, 500, 250, 125, 62, 62])
    isTooMuch = false
    taken.length = 0
    await fold()
    assert.equal(taken[0], 62)
    for (const [index, rows] of taken.entries()) assert.ok(rows <= 1.25 * (taken[index - 1] ?? 62) + 1, `${taken}`)
    assert.equal(await totalEvents(store, site_no), ROWS)
  },
)

/** Rows of 401 names and 400 ids each; `of` says for each which site sends it, and in which container. */
const writeLargeRows = async (store: Store, of: (row: number) => [siteNo: number, container: number]) => {
  for (let row = 0; row < LARGE_ROWS; row++) {
    const [siteNo, container] = of(row)
    const sent = eventPayload({ timestamp_ms: NOW, container_id: `container ${container}`, tags: tagsOf(400) })
    await writeJournal(store, 'node', row + 1, deltaOf(siteNo, [sent], NOW))
  }
}
const LARGE_ROWS = 20

testOnEveryEngine('a fold ends when one site has thousands of names and ids in it', async (store) => {
  const { site_no } = await insertSite(store)
  await writeLargeRows(store, (row) => [site_no, row])
  const { taken, fold } = takingNote(store)
  await fold()
  assert.deepEqual(taken, [5, 5, 5, 5])
  assert.equal(await totalEvents(store, site_no), LARGE_ROWS)
})

testOnEveryEngine('a fold continues while names repeat, and when many sites have as many together', async (store) => {
  const sites: number[] = []
  for (let site = 0; site < LARGE_ROWS; site++) sites.push((await insertSite(store)).site_no)
  const { taken, fold } = takingNote(store)
  await writeLargeRows(store, () => [sites[0] ?? 0, 0])
  await fold()
  await writeLargeRows(store, (row) => [sites[row] ?? 0, row])
  await fold()
  assert.deepEqual(taken, [LARGE_ROWS, LARGE_ROWS])
})

test('a fold that exceeds the time limit of the server takes fewer journal rows the next time', async (t) => {
  const url = await newDatabase(t)
  const [store, other] = [await openOn(t, url, { limits: { statement: 300 } }), await openOn(t, url)]
  const { site_no } = await insertSite(store)
  await writeMany(store, site_no)
  const { taken, fold } = takingNote(store)
  await other.write.transaction().execute(async (trx) => {
    await sql`lock table minute_parts in share mode`.execute(trx)
    for (let tries = 0; tries < 2; tries++) await assert.rejects(fold(), /statement timeout/)
  })
  await fold()
  assert.deepEqual(taken.slice(0, 3), [4_000, 2_000, 1_000])
  assert.equal(await totalEvents(store, site_no), ROWS)
})

testOnEveryEngine(
  "one site's counts go in by several transactions, and what is cut off between two goes on",
  async (store) => {
    const { site_no, client_id } = await insertSite(store)
    const all = CONTAINERS * TAGS
    await writeJournal(store, 'node', 1, manyTags(site_no))
    await foldJournal(store, new Folder(store, () => client_id), { nodeId: 'node' })
    const pieces = await store.read.selectFrom('journal').select('node_id').execute()
    assert.ok(pieces.length >= 3, `${pieces.length} pieces`)
    assert.deepEqual(new Set(pieces.map(({ node_id }) => node_id)), new Set([`node/1/${site_no}`]))
    let commits = 0
    const cutOff: Store = {
      ...store,
      batch: (operations, options) =>
        ++commits > 2 ? Promise.reject(new StoreError('unavailable', 'cut off')) : store.batch(operations, options),
    }
    await assert.rejects(foldOrphans(cutOff, ['node']), /cut off/)
    const part = await executions(store, site_no, 'tag_rollups')
    assert.ok(part > 0 && part < all, `${part} of ${all}`)
    await foldOrphans(store, ['node'])
    assert.equal(await executions(store, site_no, 'tag_rollups'), all)
  },
)
