import assert from 'node:assert/strict'
import type { CommitOutcome } from '../../src/journal/group.ts'
import { GroupCommit } from '../../src/journal/group-commit.ts'
import { addLog, Delta, encodeEntry, type Log } from '../../src/journal/index.ts'
import { type LaneRow, laneOf, startOfLane } from '../../src/journal/lanes.ts'
import type { Store } from '../../src/store/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'
import { steppingStore } from '../../testkit/stepping-store.ts'

const NOW = Date.parse('2026-11-20T10:00:30.000Z')
/** Submissions that may wait for a commit. */
const ROOM = 20_000

const newCommits = (store: Store) =>
  new GroupCommit(store, new TestClock(NOW), 'node', {
    laneOf: () => 1,
    onSettled: (_rows, error) => assert.ifError(error),
  })

/** Submits an event for each key, and returns the outcome of each. */
function submit(commits: GroupCommit, keys: readonly (string | undefined)[]): CommitOutcome[] {
  const outcomes: CommitOutcome[] = []
  for (const [index, idempotencyKey] of keys.entries()) {
    const settle = (outcome: CommitOutcome) => {
      outcomes[index] = outcome
    }
    commits.submit({ siteNo: 1, idempotencyKey, bytes: 200, settle }, eventPayload({ timestamp_ms: NOW }))
  }
  return outcomes
}

async function submitAll(commits: GroupCommit, keys: readonly (string | undefined)[]): Promise<CommitOutcome[]> {
  const outcomes = submit(commits, keys)
  await commits.drain()
  return outcomes
}

/** Requests in the journal: the fourth number of each entry. */
async function journalled(store: Store): Promise<number> {
  const rows = await store.read.selectFrom('journal').select('payload').orderBy('seq').execute()
  return rows.reduce((sum, { payload }) => sum + (payload.match(/"purchase"/g)?.length ?? 0), 0)
}

testOnEveryEngine('new keys, taken keys and none in one group come out each as it should', async (store) => {
  const commits = newCommits(store)
  assert.deepEqual(await submitAll(commits, ['a', undefined, 'b']), ['committed', 'committed', 'committed'])
  assert.equal(await journalled(store), 3)
  // One taken key among new ones: nothing of the others may be lost, or counted twice.
  assert.deepEqual(await submitAll(commits, ['c', 'b', undefined]), ['committed', 'duplicate', 'committed'])
  assert.equal(await journalled(store), 5)
  assert.deepEqual(await submitAll(commits, ['d', 'd', 'e']), ['committed', 'duplicate', 'committed'])
  assert.equal(await journalled(store), 7)
  assert.deepEqual(await submitAll(commits, ['a', 'c']), ['duplicate', 'duplicate'])
  assert.equal(await journalled(store), 7)
  assert.deepEqual(commits.totals, { commits: 4, committed: 7, duplicates: 4, failed: 0 })
})

testOnEveryEngine('while a commit is held up there is room for so many, then the next is refused', async (store) => {
  const held = Promise.withResolvers<void>()
  const commits = newCommits(steppingStore(store, () => held.promise))
  const first = submit(commits, new Array(ROOM).fill(undefined))
  // A part of them is in the commit that is held up; as many more find room.
  const inCommit = ROOM - commits.waiting
  const second = submit(commits, new Array(inCommit + 2).fill(undefined))
  assert.deepEqual(second.slice(inCommit), ['refused', 'refused'])
  assert.equal(commits.waiting, ROOM)

  held.resolve()
  await commits.drain()
  assert.equal(first.filter((outcome) => outcome === 'committed').length, ROOM)
  assert.equal(second.filter((outcome) => outcome === 'committed').length, inCommit)
  assert.deepEqual(await submitAll(commits, [undefined]), ['committed'])
  assert.deepEqual(commits.totals.failed, 0)
})

testOnEveryEngine('a light submission is committed before the heavy ones that came earlier', async (store) => {
  const commits = newCommits(store)
  const settled: number[] = []
  const submitBytes = (bytes: number) => {
    const submission = { siteNo: 1, idempotencyKey: undefined, bytes, settle: () => settled.push(bytes) }
    commits.submit(submission, eventPayload({ timestamp_ms: NOW }))
  }
  for (let i = 0; i < 32; i++) submitBytes(30_000)
  submitBytes(200)
  await commits.drain()
  assert.equal(settled.length, 33)
  assert.ok(settled.indexOf(200) < 10, `after ${settled.indexOf(200)} others`)
  assert.equal(commits.totals.commits, 4)
})

testOnEveryEngine(
  'entries that are text already are journalled beside the others, and once for each key',
  async (store) => {
    const commits = newCommits(store)
    const outcomes: CommitOutcome[] = []
    const submitSite = (siteNo: number, isEncoded: boolean, idempotencyKey?: string) => {
      const plain = eventPayload({ timestamp_ms: NOW, event_name: `“site ${siteNo}”` })
      const payload = isEncoded ? encodeEntry(siteNo, plain, NOW) : plain
      const settle = (outcome: CommitOutcome) => void outcomes.push(outcome)
      commits.submit({ siteNo, idempotencyKey, bytes: 200, settle }, payload)
    }
    const requests = async () => {
      const delta = new Delta()
      const rows = await store.read.selectFrom('journal').select('payload').execute()
      for (const { payload } of rows) addLog(delta, JSON.parse(payload) as Log)
      return Array.from(delta.sites, ([siteNo, { usage }]) => [siteNo, [...usage.values()][0]?.requests]).toSorted()
    }
    submitSite(1, true)
    submitSite(2, true)
    await commits.drain()
    assert.deepEqual(
      await requests(),
      [
        [1, 1],
        [2, 1],
      ],
      'texts alone',
    )
    submitSite(1, false)
    // So many of one site are added up, which those that are text are not.
    for (let i = 0; i < 9; i++) submitSite(3, false)
    submitSite(3, true)
    submitSite(4, true, 'key')
    submitSite(4, true, 'key')
    await commits.drain()
    submitSite(4, true, 'key')
    submitSite(5, false, 'key')
    await commits.drain()
    assert.deepEqual(await requests(), [
      [1, 2],
      [2, 1],
      [3, 10],
      [4, 1],
      [5, 1],
    ])
    assert.equal(outcomes.filter((outcome) => outcome === 'duplicate').length, 2)
    assert.equal(outcomes.filter((outcome) => outcome === 'committed').length, 15)
  },
)

testOnEveryEngine('a commit writes one row in each lane that it has something for', async (store) => {
  const settled: LaneRow[] = []
  const commits = new GroupCommit(store, new TestClock(NOW), 'node', {
    laneOf: (siteNo) => laneOf(siteNo, 4),
    onSettled: (rows, error) => {
      assert.ifError(error)
      settled.push(...rows)
    },
  })
  const submitSites = async (siteNos: readonly number[], idempotencyKey?: string) => {
    settled.length = 0
    for (const siteNo of siteNos) {
      const submission = { siteNo, idempotencyKey, bytes: 200, settle: () => undefined }
      commits.submit(submission, eventPayload({ timestamp_ms: NOW }))
    }
    await commits.drain()
    return settled.map(({ lane, seq, siteNos: of }) => [lane, seq - startOfLane(lane), of])
  }
  assert.deepEqual(await submitSites([4, 8, 5, 4]), [
    [4, 1, [4, 8, 4]],
    [5, 1, [5]],
  ])
  assert.deepEqual(await submitSites([5, 6], 'key'), [
    [5, 2, [5]],
    [6, 1, [6]],
  ])
  // Of lane 5 nothing is new: no number is missing from its rows afterwards.
  assert.deepEqual(await submitSites([5, 7], 'key'), [[7, 1, [7]]])
  assert.deepEqual(await submitSites([5]), [[5, 3, [5]]])
  const rows = await store.read.selectFrom('journal').select('seq').orderBy('seq').execute()
  const numbersOf = (lane: number, count: number) => Array.from({ length: count }, (_, i) => startOfLane(lane) + i + 1)
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    [4, 5, 6, 7].flatMap((lane) => numbersOf(lane, lane === 5 ? 3 : 1)),
  )
})
