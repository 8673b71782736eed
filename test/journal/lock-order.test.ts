import assert from 'node:assert/strict'
import { Folder, foldJournal } from '../../src/journal/index.ts'
import type { BatchOperation, Store } from '../../src/store/index.ts'
import { deltaOf, eventPayload, writeJournal } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')

/** The tables whose rows a fold locks, each by when it is first touched. */
const LOCKS = [
  'folds',
  'minute_parts',
  'dirty_buckets',
  'site_containers',
  'tag_names',
  'daily_names',
  'client_usage',
  'journal',
]

const tableOf = (operation: BatchOperation): string =>
  operation.kind === 'upsert'
    ? operation.spec.table
    : (/(?:insert into|update|delete from) "(\w+)"/.exec(operation.query.sql)?.[1] ?? operation.query.sql)

testOnEveryEngine('a fold locks tables in one order, whatever it writes', async (store) => {
  const batches: string[][] = []
  const watched: Store = {
    ...store,
    batch(operations) {
      batches.push([...new Set(operations.map(tableOf))])
      return store.batch(operations)
    },
  }
  const folder = new Folder(watched, () => 'client', { rowsPerChunk: 1 })
  const fold = async (seq: number, siteNos: readonly number[], tags: boolean) => {
    for (const [i, siteNo] of siteNos.entries()) {
      const event = eventPayload({ timestamp_ms: NOW + i, ...(tags ? {} : { tags: [] }) })
      await writeJournal(store, 'node', seq + i, deltaOf(siteNo, [event], NOW))
    }
    await foldJournal(watched, folder, { nodeId: 'node' })
  }
  // New names before all else, then known ones, then a chunk of known and new ones.
  await fold(1, [1], true)
  await fold(2, [1], true)
  await fold(3, [3], false)
  await fold(4, [1, 2, 3], true)
  assert.equal(batches.length, 6)
  assert.deepEqual(batches[0], LOCKS)
  for (const tables of batches) {
    const places = tables.map((table) => LOCKS.indexOf(table))
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    )
  }
})
