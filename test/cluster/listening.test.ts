import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Listening, lastListenedAt, readOutages, removeOldOutages } from '../../src/cluster/index.ts'
import { type Clock, DAY, HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import { chunksOf, type Store } from '../../src/store/index.ts'
import { MachineClock, TestClock } from '../../testkit/clock.ts'
import { openEmptyStore, postgres, testOnEveryEngine } from '../../testkit/engines.ts'
import { noteStatementSizes } from '../../testkit/statement-sizes.ts'
import { asShared, joinNode } from './support.ts'

const NOW = Date.parse('2026-11-20T10:00:00.000Z')

/** A process that takes events; `trouble` can be set while it runs. */
function process(store: Store, clock: Clock) {
  const health: { trouble: string | null } = { trouble: null }
  const errors: string[] = []
  const onError = (error: Error) => errors.push(error.message)
  const { loop } = new Listening({ store, clock, trouble: () => health.trouble, onError })
  return { beat: () => loop.tick(), health, errors }
}

/** Outages as minutes after `NOW`. */
const outagesOf = async (store: Store) =>
  (await readOutages(store.read, 0, NOW + 9_999 * DAY)).map(({ from, to }) => [
    (from - NOW) / MINUTE,
    (to - NOW) / MINUTE,
  ])

testOnEveryEngine('an outage lasts from the last beat before it to the first one after it', async (store) => {
  const clock = new TestClock(NOW)
  const first = process(store, clock)
  await first.beat()
  clock.advance(5 * SECOND)
  await first.beat()
  assert.deepEqual(await outagesOf(store), [])
  clock.set(NOW + MINUTE)
  await first.beat()
  clock.advance(3 * HOUR)
  const next = process(store, clock)
  await next.beat()
  await next.beat()
  assert.deepEqual(await outagesOf(store), [[1, 181]])
  assert.deepEqual([first.errors, next.errors], [[], []])
})

testOnEveryEngine('a process that listens on makes the death of another no outage', async (store) => {
  const clock = new TestClock(NOW)
  const [dies, stays] = [process(store, clock), process(store, clock)]
  await dies.beat()
  for (let minute = 0; minute < 10; minute++) {
    await stays.beat()
    clock.advance(9 * SECOND)
  }
  await process(store, clock).beat()
  assert.deepEqual(await outagesOf(store), [])
})

testOnEveryEngine('several processes that come back at once write down one outage', async (store) => {
  const clock = new TestClock(NOW)
  await process(store, clock).beat()
  clock.advance(HOUR)
  await Promise.all(Array.from({ length: 4 }, () => process(store, clock).beat()))
  assert.deepEqual(await outagesOf(store), [[0, 60]])
})

testOnEveryEngine('the time in which events could not be written is an outage too', async (store) => {
  const clock = new TestClock(NOW)
  const { beat, health } = process(store, clock)
  await beat()
  health.trouble = 'disk full'
  for (let minute = 0; minute < 20; minute++) {
    clock.advance(MINUTE)
    await beat()
  }
  health.trouble = null
  await beat()
  assert.deepEqual(await outagesOf(store), [[0, 20]])
})

testOnEveryEngine('a machine that slept is an outage', async (store) => {
  const clock = new MachineClock(NOW)
  const { beat } = process(store, clock)
  await beat()
  clock.set(NOW + HOUR)
  await beat()
  assert.deepEqual(await outagesOf(store), [[0, 60]])
})

testOnEveryEngine(
  'an outage stays when the clock was ahead at its end, as of a machine that starts before NTP runs',
  async (store) => {
    const clock = new MachineClock(NOW)
    await process(store, clock).beat()
    clock.set(NOW + 10 * MINUTE + HOUR)
    const { beat } = process(store, clock)
    await beat()
    assert.deepEqual(await outagesOf(store), [[0, 70]])
    clock.set(NOW + 11 * MINUTE)
    await beat()
    assert.deepEqual(await outagesOf(store), [[0, 11]])
  },
)

testOnEveryEngine('a clock that was ahead leaves no outage of what is still to come', async (store) => {
  const clock = new MachineClock(NOW)
  const { beat } = process(store, clock)
  await beat()
  clock.set(NOW + 400 * DAY)
  await beat()
  clock.set(NOW + MINUTE)
  await beat()
  // What came in that minute was counted in the future.
  assert.deepEqual(await outagesOf(store), [[0, 1]])
  clock.advance(HOUR)
  await process(store, clock).beat()
  assert.deepEqual(await outagesOf(store), [[0, 61]])
})

/** One a day, each an hour long, from `NOW` on. */
async function insertOutages(store: Store, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, day) => ({
    began_at: NOW + day * DAY,
    ended_at: NOW + day * DAY + HOUR,
  }))
  for (const chunk of chunksOf(rows)) await store.write.insertInto('outages').values(chunk).execute()
}

test('thousands of outages that are still to come are forgotten in one beat, some at a time', async (t) => {
  const store = await openEmptyStore(postgres, t)
  const clock = new MachineClock(NOW + 9_000 * DAY)
  const { beat, errors } = process(store, clock)
  await beat()
  await insertOutages(store, 4_500)
  const sizes = await noteStatementSizes(store, 'outages', 'delete')
  clock.set(NOW + DAY + 2 * HOUR)
  await beat()
  assert.deepEqual(await outagesOf(store), [
    [0, 60],
    [24 * 60, 25 * 60],
  ])
  assert.deepEqual(await sizes(), [2_000, 2_000, 498])
  assert.deepEqual(errors, [])
  // The beat has come to its end: from now on the time continues from there.
  clock.advance(2 * DAY)
  await beat()
  assert.deepEqual((await outagesOf(store)).at(-1), [26 * 60, 74 * 60])
})

testOnEveryEngine('old outages go some at a time, the oldest first, and those that are not old stay', async (store) => {
  await insertOutages(store, 4_500)
  const count = async () => (await store.read.selectFrom('outages').select('began_at').execute()).length
  const before = NOW + 4_100 * DAY
  assert.equal(await removeOldOutages(store, before), true)
  assert.equal(await count(), 2_500)
  assert.equal((await readOutages(store.read, 0, before))[0]?.from, NOW + 2_000 * DAY)
  assert.equal(await removeOldOutages(store, before), true)
  assert.equal(await removeOldOutages(store, before), false)
  assert.equal(await count(), 400)
})

testOnEveryEngine('a service that dies again and again was not there', async (store) => {
  const clock = new TestClock(NOW)
  await process(store, clock).beat()
  for (let round = 0; round < 30; round++) {
    clock.advance(20 * SECOND)
    await process(store, clock).beat()
  }
  assert.deepEqual(await outagesOf(store), [[0, 10]])
})

testOnEveryEngine('who last listened is known of processes that left, too', async (store, t) => {
  const clock = new TestClock(NOW)
  assert.equal(await lastListenedAt(store.read), null)
  const { membership } = await joinNode(t, asShared(store), clock, { role: 'ingest' })
  await joinNode(t, asShared(store), clock, { role: 'worker' })
  await process(store, clock).beat()
  clock.advance(MINUTE)
  await membership.beat()
  assert.equal(await lastListenedAt(store.read), NOW, 'a machine that wakes up has written no outage yet')
  await process(store, clock).beat()
  assert.equal(await lastListenedAt(store.read), NOW + MINUTE)
  await membership.leave()
  assert.equal(await lastListenedAt(store.read), NOW + MINUTE)
})
