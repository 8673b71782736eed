import assert from 'node:assert/strict'
import { Delta, Folder, foldOrphans } from '../../src/journal/index.ts'
import { JournalFolder } from '../../src/journal/journal-folder.ts'
import { startOfLane } from '../../src/journal/lanes.ts'
import { MINUTE, SECOND } from '../../src/lib/index.ts'
import { type Store, StoreError } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { addTo, deltaOf, eventPayload, mixedRow, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { postgres, testOnEveryEngine } from '../../testkit/engines.ts'
import { insertSite } from '../../testkit/sites.ts'

/** It is unknown whether the row is there. */
const UNKNOWN = new StoreError('unavailable', 'Connection terminated unexpectedly')
const NOW = Date.parse('2026-11-20T10:00:30.000Z')

testOnEveryEngine('folds that are asked for at the same time count each row once', async (store) => {
  const clock = new TestClock(NOW)
  const folder = new JournalFolder(store, new Folder(store, () => 'client'), clock, 'node')
  for (let seq = 1; seq <= 5; seq++) {
    await writeJournal(store, 'node', seq, deltaOf(7, [eventPayload({ timestamp_ms: NOW })], NOW))
    folder.onSettled([mixedRow(seq)])
  }
  await Promise.all([folder.fold(), folder.fold(), folder.fold()])
  assert.equal(await totalEvents(store, 7), 5)
  assert.equal(folder.oldestUnfoldedAt, null)
})

testOnEveryEngine('a row whose commit is still under way is left for the next fold', async (store) => {
  const clock = new TestClock(NOW)
  const folder = new JournalFolder(store, new Folder(store, () => 'client'), clock, 'node')
  const event = deltaOf(7, [eventPayload({ timestamp_ms: NOW })], NOW)
  await writeJournal(store, 'node', 1, event)
  folder.onSettled([mixedRow(1)])
  await writeJournal(store, 'node', 2, event)
  await folder.fold()
  assert.equal(await totalEvents(store, 7), 1)
  folder.onSettled([mixedRow(2)])
  await folder.fold()
  assert.equal(await totalEvents(store, 7), 2)
})

testOnEveryEngine('a commit that was reported as failed counts when its row is there after all', async (store) => {
  const folder = new JournalFolder(store, new Folder(store, () => 'client'), new TestClock(NOW), 'node')
  folder.onSettled([mixedRow(1)], UNKNOWN)
  await folder.fold()
  assert.equal(await totalEvents(store, 7), 0)
  await writeJournal(store, 'node', 2, deltaOf(7, [eventPayload({ timestamp_ms: NOW })], NOW))
  folder.onSettled([mixedRow(2)], UNKNOWN)
  await folder.fold()
  assert.equal(await totalEvents(store, 7), 1)
})

testOnEveryEngine(
  'a row that lands within a minute of its failed commit counts without another commit',
  async (store) => {
    const { site_no, client_id } = await insertSite(store)
    const clock = new TestClock(NOW)
    const folder = new JournalFolder(store, new Folder(store, () => client_id), clock, 'node')
    const event = deltaOf(site_no, [eventPayload({ timestamp_ms: NOW })], NOW)
    folder.onSettled([mixedRow(1)], UNKNOWN)
    await folder.fold()
    clock.advance(MINUTE - 1)
    await writeJournal(store, 'node', 1, event)
    await folder.fold()
    assert.equal(await totalEvents(store, site_no), 1)
    // One that takes longer is found as what others have left is found.
    folder.onSettled([mixedRow(2)], UNKNOWN)
    await folder.fold()
    clock.advance(MINUTE)
    await writeJournal(store, 'node', 2, event)
    await folder.fold()
    assert.equal(await totalEvents(store, site_no), 1)
    await foldOrphans(store, [])
    assert.equal(await totalEvents(store, site_no), 2)
  },
)

testOnEveryEngine(
  'a fold reads on where the last one ended, and for a minute after a failed commit from the first row',
  async (store) => {
    const clock = new TestClock(NOW)
    const folder = new JournalFolder(store, new Folder(store, () => 'client'), clock, 'node')
    const event = deltaOf(7, [eventPayload({ timestamp_ms: NOW })], NOW)
    const write = (seq: number) => writeJournal(store, 'node', seq, event)
    const settle = async (seq: number, error?: Error) => {
      folder.onSettled([mixedRow(seq)], error)
      await folder.fold()
    }
    await write(2)
    await settle(2)
    // No commit failed, so there cannot be such a row. It shows what the fold reads.
    await write(1)
    await write(3)
    await settle(3)
    assert.equal(await totalEvents(store, 7), 2)
    await settle(4, UNKNOWN)
    assert.equal(await totalEvents(store, 7), 3)
    await write(4)
    await settle(5, UNKNOWN)
    assert.equal(await totalEvents(store, 7), 4)
    clock.advance(MINUTE)
    await write(5)
    await settle(6)
    assert.equal(await totalEvents(store, 7), 4)
  },
  // On SQLite deleted rows cost the next reader nothing, and no other node would find what is passed over.
  [postgres],
)

testOnEveryEngine('a node that others took for dead continues with what they left', async (store) => {
  const { site_no, client_id } = await insertSite(store)
  const folder = new JournalFolder(store, new Folder(store, () => client_id), new TestClock(NOW), 'node')
  const event = deltaOf(site_no, [eventPayload({ timestamp_ms: NOW })], NOW)
  for (let seq = 1; seq <= 6; seq++) {
    await writeJournal(store, 'node', seq, event)
    folder.onSettled([mixedRow(seq)])
    if (seq % 2 === 0) await foldOrphans(store, [])
    else await Promise.all([folder.fold(), foldOrphans(store, []), foldOrphans(store, [])])
    await folder.fold()
    assert.equal(folder.oldestUnfoldedAt, null)
    assert.equal(await totalEvents(store, site_no), seq)
  }
})

/** Commits one request of each of these sites on a node that is busy: so many more wait that no lane is folded at once. */
async function commit(store: Store, folder: JournalFolder, siteNos: readonly number[], nth: number): Promise<void> {
  const lanes = Map.groupBy(siteNos, (siteNo) => folder.laneOf(siteNo))
  for (const [lane, ofLane] of lanes) {
    const seq = startOfLane(lane) + nth
    const delta = new Delta()
    for (const siteNo of ofLane) addTo(delta, deltaOf(siteNo, [eventPayload({ timestamp_ms: NOW })], NOW))
    await writeJournal(store, 'node', seq, delta)
    folder.onSettled([{ lane, seq, siteNos: ofLane, characters: 0 }])
  }
}

const BUSY_SITES = Array.from({ length: 2_500 }, (_, index) => index + 1)

testOnEveryEngine(
  'a busy node folds a site when it has sent several requests or waited, and all in the end',
  async (store) => {
    const clock = new TestClock(NOW)
    const folder = new JournalFolder(store, new Folder(store, () => 'client'), clock, 'node')
    await commit(store, folder, BUSY_SITES, 1)
    await folder.foldDue()
    assert.equal(await totalEvents(store, 1), 0)
    assert.equal(folder.isBusy, true)
    // From now on there are lanes.
    const lanes = new Set(BUSY_SITES.map((siteNo) => folder.laneOf(siteNo)))
    assert.equal(lanes.size, 4)
    await commit(store, folder, BUSY_SITES, 1)
    await folder.foldSite(1)
    assert.equal(await totalEvents(store, 1), 2)
    assert.equal(await totalEvents(store, 2), 1, 'its first event was in a row with that of site 1')
    assert.equal(folder.oldestUnfoldedOf(2), NOW)
    clock.advance(8 * SECOND)
    await folder.foldDue()
    await folder.foldDue()
    assert.equal(await totalEvents(store, 2), 2)
    assert.equal(folder.oldestUnfoldedAt, null)
    assert.equal(folder.isBusy, false)
    assert.equal(folder.laneOf(1), folder.laneOf(2), 'one lane again')
  },
)

testOnEveryEngine('what a fold could not write is still known to wait', async (store) => {
  let isFull = true
  const failing: Store = {
    ...store,
    batch: (...batch) => (isFull ? Promise.reject(new StoreError('full', 'disk full')) : store.batch(...batch)),
  }
  const clock = new TestClock(NOW)
  const folder = new JournalFolder(failing, new Folder(failing, () => 'client'), clock, 'node')
  await commit(store, folder, BUSY_SITES, 1)
  await assert.rejects(folder.foldSite(1), /disk full/)
  assert.equal(folder.oldestUnfoldedOf(1), NOW)
  clock.advance(8 * SECOND)
  await assert.rejects(folder.foldDue(), /disk full/)
  isFull = false
  await folder.foldSite(1)
  assert.equal(await totalEvents(store, 1), 1)
  assert.equal(folder.oldestUnfoldedAt, null)
})

testOnEveryEngine('a report waits for a fold of its site that is under way', async (store) => {
  const [isBegun, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow: Store = {
    ...store,
    batch: async (...batch) => {
      isBegun.resolve()
      await mayGoOn.promise
      return store.batch(...batch)
    },
  }
  const folder = new JournalFolder(slow, new Folder(slow, () => 'client'), new TestClock(NOW), 'node')
  await commit(store, folder, [1, 2], 1)
  const due = folder.foldDue()
  await isBegun.promise
  assert.equal(folder.oldestUnfoldedOf(1), NOW)
  const asked = folder.foldSite(1)
  mayGoOn.resolve()
  await asked
  assert.equal(await totalEvents(store, 1), 1)
  await due
  assert.equal(folder.oldestUnfoldedOf(1), null)
})

testOnEveryEngine(
  'what many folds added to a minute is merged when it is over, and counts as before',
  async (store) => {
    const { site_no, client_id } = await insertSite(store)
    const clock = new TestClock(NOW)
    const folder = new JournalFolder(store, new Folder(store, () => client_id), clock, 'node')
    for (let seq = 1; seq <= 9; seq++) {
      if (seq > 1 && seq % 3 === 1) clock.advance(MINUTE)
      const now = clock.now()
      await writeJournal(store, 'node', seq, deltaOf(site_no, [eventPayload({ timestamp_ms: now })], now))
      folder.onSettled([mixedRow(seq)])
      await folder.foldDue()
    }
    const parts = await store.read.selectFrom('minute_parts').select('bucket').orderBy('bucket').execute()
    const minute = NOW - (NOW % MINUTE)
    // The last two minutes may still get parts.
    assert.deepEqual(
      parts.map(({ bucket }) => (bucket - minute) / MINUTE),
      [0, 1, 1, 1, 2, 2, 2],
    )
    assert.equal(await totalEvents(store, site_no), 9)
  },
)
