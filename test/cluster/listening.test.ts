import assert from 'node:assert/strict'
import { Listening, lastListenedAt, readOutages } from '../../src/cluster/index.ts'
import { type Clock, DAY, HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { MachineClock, TestClock } from '../support/clock.ts'
import { testOnEveryEngine } from '../support/engines.ts'
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
  (await readOutages(store.read, 0, NOW + 900 * DAY)).map(({ from, to }) => [
    (from - NOW) / MINUTE,
    (to - NOW) / MINUTE,
  ])

testOnEveryEngine('from the last beat before to the first one after nobody listened', async (store) => {
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

testOnEveryEngine('a clock that was ahead leaves no outage of what is still to come', async (store) => {
  const clock = new MachineClock(NOW)
  const { beat } = process(store, clock)
  await beat()
  clock.set(NOW + 400 * DAY)
  await beat()
  clock.set(NOW + MINUTE)
  await beat()
  assert.deepEqual(await outagesOf(store), [])
  clock.advance(HOUR)
  await process(store, clock).beat()
  assert.deepEqual(await outagesOf(store), [[1, 61]])
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
  assert.equal(await lastListenedAt(store.read), NOW + MINUTE)
  await membership.leave()
  assert.equal(await lastListenedAt(store.read), NOW)
})
