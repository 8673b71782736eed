import assert from 'node:assert/strict'
import { Delta, Folder, foldJournal, foldOrphans, readFoldTask } from '../../src/journal/index.ts'
import { NAMES_PER_DAY, OTHER } from '../../src/rollups/index.ts'
import { type Store, StoreError } from '../../src/store/index.ts'
import { countsIn } from '../../testkit/counts.ts'
import { addTo, deltaOf, eventPayload, totalEvents, writeJournal } from '../../testkit/deltas.ts'
import { testLogic, testOnEveryEngine } from '../../testkit/engines.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
/** For sites that are not in the store. */
const client = () => 'client-1'

const journalRows = async (store: Store) => (await store.read.selectFrom('journal').select('seq').execute()).length

const oneEvent = (siteNo: number) => deltaOf(siteNo, [eventPayload({ timestamp_ms: NOW })], NOW)

/** The same store, with a `batch` that fails on the given calls, before or after the transaction was made. */
function failingOn(store: Store, calls: readonly number[]): Store {
  let call = 0
  return {
    ...store,
    batch(operations) {
      call++
      return calls.includes(call) ? Promise.reject(new StoreError('full', 'no room')) : store.batch(operations)
    },
  }
}

/** So many sites that a fold of all of them takes several transactions. */
const MANY_SITES = 2_000
const manySites = () => {
  const delta = new Delta()
  for (let siteNo = 1; siteNo <= MANY_SITES; siteNo++) addTo(delta, oneEvent(siteNo))
  return delta
}

async function sitesNotCountedOnce(store: Store): Promise<number[]> {
  const rows = await store.read.selectFrom(countsIn(store.read, 'event_rollups')).select(['site_no', 'total']).execute()
  const totals = new Map(rows.map((row) => [row.site_no, row.total]))
  return Array.from({ length: MANY_SITES }, (_, i) => i + 1).filter((siteNo) => totals.get(siteNo) !== 1)
}

testOnEveryEngine('a fold moves what the journal holds into the rollups and empties it', async (store) => {
  await writeJournal(store, 'node', 1, oneEvent(7))
  await writeJournal(store, 'node', 2, oneEvent(7))
  const task = await readFoldTask(store, 'node')
  assert.ok(task)
  await new Folder(store, client).fold(task)
  assert.equal(await totalEvents(store, 7), 2)
  assert.equal(await journalRows(store), 0)
  const tags = await store.read
    .selectFrom(countsIn(store.read, 'tag_rollups'))
    .select(['tag_key', 'success', 'timeout', 'executions', 'total_ms', 'le_100', 'le_5000'])
    .orderBy('tag_key')
    .execute()
  assert.deepEqual(tags, [
    { tag_key: 'GA4', success: 2, timeout: 0, executions: 2, total_ms: 168, le_100: 2, le_5000: 0 },
    { tag_key: 'tag_31', success: 0, timeout: 2, executions: 2, total_ms: 10_000, le_100: 0, le_5000: 2 },
  ])
  const usage = await store.read.selectFrom('client_usage').selectAll().execute()
  assert.deepEqual(usage, [{ client_id: 'client-1', month: 202611, events: 2, requests: 2 }])
})

testLogic('a fold releases the memory of its sum once it is written', async (store) => {
  await writeJournal(store, 'node', 1, manySites())
  let sum = new Delta()
  const prepare = ({ delta }: { delta: Delta }) => {
    sum = delta
    return Promise.resolve()
  }
  await foldJournal(store, new Folder(store, client), { nodeId: 'node' }, prepare)
  assert.equal((await sitesNotCountedOnce(store)).length, 0)
  const [event] = sum.site(MANY_SITES).cells.flatMap(({ events }) => [...events.values()])
  assert.equal(event?.counts.at(0), 0)
})

testOnEveryEngine('counts of a site that was deleted meanwhile are dropped with their journal rows', async (store) => {
  await writeJournal(store, 'node', 1, oneEvent(7))
  assert.equal(await foldOrphans(store, []), 1)
  assert.equal(await totalEvents(store, 7), 0)
  assert.equal(await journalRows(store), 0)
})

testOnEveryEngine('a fold that fails half way and is tried again counts every site once', async (store) => {
  await writeJournal(store, 'node', 1, manySites())
  const task = await readFoldTask(store, 'node')
  assert.ok(task)
  const folder = new Folder(failingOn(store, [2, 3]), client)
  await assert.rejects(folder.fold(task), /no room/)
  await assert.rejects(folder.fold(task), /no room/)
  assert.equal(await journalRows(store), 1)
  await folder.fold(task)
  assert.deepEqual(await sitesNotCountedOnce(store), [])
  assert.equal(await journalRows(store), 0)
})

testOnEveryEngine(
  'a fold cut off by a crash is finished by the next process, each site counted once',
  async (store) => {
    await writeJournal(store, 'dead', 1, manySites())
    await writeJournal(store, 'dead', 2, manySites())
    const task = await readFoldTask(store, 'dead')
    assert.ok(task)
    // The process ends after its second transaction; more rows of its had been committed by then.
    await assert.rejects(new Folder(failingOn(store, [3]), client).fold(task))
    await writeJournal(store, 'dead', 3, oneEvent(1))
    assert.equal(await foldJournal(store, new Folder(store, client), { nodeId: 'dead' }), 3)
    const rows = await store.read
      .selectFrom(countsIn(store.read, 'event_rollups'))
      .select(['site_no', 'total'])
      .execute()
    assert.deepEqual(
      rows.filter((row) => row.total !== (row.site_no === 1 ? 3 : 2)),
      [],
    )
    assert.equal(rows.length, MANY_SITES)
    assert.deepEqual(await store.read.selectFrom('folds').selectAll().execute(), [])
  },
)

testOnEveryEngine('rows of a live node are left to it', async (store) => {
  await writeJournal(store, 'alive', 1, oneEvent(7))
  assert.equal(await foldOrphans(store, ['alive']), 0)
  assert.equal(await journalRows(store), 1)
})

testOnEveryEngine('a fold whose journal rows are not all there changes nothing', async (store) => {
  await writeJournal(store, 'node', 1, oneEvent(7))
  const task = await readFoldTask(store, 'node')
  assert.ok(task)
  await store.write.deleteFrom('journal').execute()
  await assert.rejects(new Folder(store, client).fold(task), { kind: 'unexpected_changes' })
  assert.equal(await totalEvents(store, 7), 0)
})

testOnEveryEngine('names over the daily cap are counted together, across restarts and days', async (store) => {
  const names = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) =>
      eventPayload({ timestamp_ms: NOW, event_name: `event ${from + i}`, tags: [] }),
    )
  const fold = async (seq: number, delta: Delta) => {
    await writeJournal(store, 'node', seq, delta)
    // A new folder knows nothing of earlier names, like a process after its restart.
    await foldJournal(store, new Folder(store, client), { nodeId: 'node' })
  }
  await fold(1, deltaOf(7, names(0, NAMES_PER_DAY - 1), NOW))
  await fold(2, deltaOf(7, names(NAMES_PER_DAY - 2, NAMES_PER_DAY + 10), NOW))
  const rows = await store.read
    .selectFrom(countsIn(store.read, 'event_rollups'))
    .select(['event_name', 'events'])
    .execute()
  assert.equal(rows.length, NAMES_PER_DAY + 1)
  assert.equal(rows.find((row) => row.event_name === OTHER)?.events, 10)
  assert.equal(rows.find((row) => row.event_name === `event ${NAMES_PER_DAY - 2}`)?.events, 2)

  const tomorrow = NOW + 86_400_000
  await fold(3, deltaOf(7, [eventPayload({ timestamp_ms: tomorrow, event_name: 'new day', tags: [] })], tomorrow))
  const fresh = await store.read
    .selectFrom(countsIn(store.read, 'event_rollups'))
    .select('events')
    .where('event_name', '=', 'new day')
    .execute()
  assert.deepEqual(fresh, [{ events: 1 }])
})

testOnEveryEngine('one fold books events of three days, in whatever order they came', async (store) => {
  const midnight = Date.parse('2026-11-20T00:00:00.000Z')
  const day = 86_400_000
  for (const [index, days] of [
    [0, 1, 2],
    [1, 0, 2],
    [2, 1, 0],
  ].entries()) {
    const delta = new Delta()
    for (const offset of days) {
      const time = midnight + offset * day
      addTo(delta, deltaOf(7, [eventPayload({ timestamp_ms: time })], time))
    }
    await writeJournal(store, 'node', index + 1, delta)
    await foldJournal(store, new Folder(store, client), { nodeId: 'node' })
  }
  assert.equal(await totalEvents(store, 7), 9)
})

testOnEveryEngine('a failed fold over the cap that is tried again still adds up', async (store) => {
  const events = Array.from({ length: NAMES_PER_DAY + 20 }, (_, i) =>
    eventPayload({ timestamp_ms: NOW, event_name: `event ${i}` }),
  )
  await writeJournal(store, 'node', 1, deltaOf(7, events, NOW))
  const task = await readFoldTask(store, 'node')
  assert.ok(task)
  const folder = new Folder(failingOn(store, [1, 2]), client)
  await assert.rejects(folder.fold(task))
  await assert.rejects(folder.fold(task))
  await folder.fold(task)
  assert.equal(await totalEvents(store, 7), events.length)
  const tag = await store.read
    .selectFrom(countsIn(store.read, 'tag_rollups'))
    .select('executions')
    .where('tag_key', '=', 'GA4')
    .execute()
  assert.deepEqual(tag, [{ executions: events.length }])
})

testOnEveryEngine('names that a database cannot hold are counted under a readable form', async (store) => {
  const delta = deltaOf(7, [eventPayload({ timestamp_ms: NOW, event_name: 'a\0b\ud800', container_id: 'c\0' })], NOW)
  await writeJournal(store, 'node', 1, delta)
  await foldJournal(store, new Folder(store, client), { nodeId: 'node' })
  const rows = await store.read
    .selectFrom(countsIn(store.read, 'event_rollups'))
    .select(['event_name', 'container_id'])
    .execute()
  assert.deepEqual(rows, [{ event_name: 'a\ufffdb\ufffd', container_id: 'c\ufffd' }])
})

testOnEveryEngine('the ids of named tags are linked to their names', async (store) => {
  await writeJournal(store, 'node', 1, oneEvent(7))
  await foldJournal(store, new Folder(store, client), { nodeId: 'node' })
  const rows = await store.read.selectFrom('tag_names').select(['container_id', 'tag_id', 'tag_name']).execute()
  assert.deepEqual(rows, [{ container_id: 'GTM-ABC1234', tag_id: '12', tag_name: 'GA4' }])
})
