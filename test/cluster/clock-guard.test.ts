import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { ClockGuard } from '../../src/cluster/index.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'
import { MachineClock } from '../../testkit/clock.ts'
import { testOnEveryEngine } from '../../testkit/engines.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')

interface Guarded {
  guard: ClockGuard
  said: string[]
  /** Lets time pass, as the process sees it. */
  pass: (ms: number) => Promise<void>
  /** Ends the process. */
  end: () => Promise<void>
}

async function guardOf(t: TestContext, store: Store, clock: MachineClock): Promise<Guarded> {
  const said: string[] = []
  const guard = await ClockGuard.open({ store, clock, onError: (error) => said.push(error.message) })
  await guard.stop()
  t.after(() => guard.stop())
  const pass = async (ms: number) => {
    clock.advance(ms)
    await guard.loop.tick()
  }
  return { guard, said, pass, end: () => guard.loop.tick() }
}

testOnEveryEngine(
  'a new database believes the clock, and a clock that runs evenly stays believed',
  async (store, t) => {
    const clock = new MachineClock(NOW)
    const { guard, said, pass } = await guardOf(t, store, clock)
    for (let days = 0; days < 400; days++) await pass(DAY)
    clock.set(clock.now() + 50 * MINUTE)
    assert.equal(guard.expiryTime(), clock.now())
    assert.deepEqual([guard.doubt, said], [null, []])
  },
)

testOnEveryEngine('a clock that is set while it is read makes nothing old either', async (store, t) => {
  const clock = new MachineClock(NOW)
  const { guard } = await guardOf(t, store, clock)
  const read = clock.now.bind(clock)
  clock.now = () => {
    clock.now = read
    const before = read()
    clock.set(NOW + DAY)
    return before
  }
  assert.equal(guard.expiryTime(), NOW)
  assert.equal(guard.expiryTime(), null)
})

testOnEveryEngine('a clock that is set ahead or back makes nothing old, from that moment on', async (store, t) => {
  for (const by of [405 * DAY, 24 * HOUR, -24 * HOUR, HOUR + SECOND]) {
    const clock = new MachineClock(NOW)
    const { guard, said } = await guardOf(t, store, clock)
    clock.set(NOW + by)
    assert.equal(guard.expiryTime(), null)
    assert.match(guard.doubt ?? '', by > 0 ? /^The clock was set .* ahead/ : /^The clock was set .* back/)
    assert.equal(said.length, 1)
    await store.write.deleteFrom('clock_checks').execute()
  }
})

testOnEveryEngine('steps that are small by themselves add up', async (store, t) => {
  const clock = new MachineClock(NOW)
  const { guard, pass } = await guardOf(t, store, clock)
  for (let steps = 0; steps < 3; steps++) {
    clock.set(clock.now() + 25 * MINUTE)
    await pass(5 * SECOND)
  }
  assert.equal(guard.expiryTime(), null)
})

testOnEveryEngine('a clock that is put right is believed at once, and for a day nothing is old', async (store, t) => {
  const clock = new MachineClock(NOW)
  const { guard, said, pass } = await guardOf(t, store, clock)
  clock.set(NOW + 405 * DAY)
  await pass(30 * MINUTE)
  clock.set(NOW + 30 * MINUTE)
  assert.equal(guard.doubt, null)
  assert.equal(guard.expiryTime(), null)
  assert.match(said.at(-1) ?? '', /trusted again/)
  await pass(DAY)
  assert.equal(guard.expiryTime(), clock.now())
})

testOnEveryEngine('a wrong clock is not believed because the service was started again', async (store, t) => {
  const clock = new MachineClock(NOW)
  const first = await guardOf(t, store, clock)
  clock.set(NOW + 405 * DAY)
  await first.pass(MINUTE)
  for (let starts = 0; starts < 3; starts++) {
    const { guard, pass } = await guardOf(t, store, clock)
    assert.equal(guard.expiryTime(), null)
    assert.notEqual(guard.doubt, null)
    await pass(HOUR)
  }
})

testOnEveryEngine('a start long after the newest stored time, or before it, makes nothing old', async (store, t) => {
  await guardOf(t, store, new MachineClock(NOW))
  const late = new MachineClock(NOW + 405 * DAY)
  const { guard, said } = await guardOf(t, store, late)
  assert.equal(guard.expiryTime(), null)
  assert.match(
    said[0] ?? '',
    /^The clock is 405 days after the newest time that is stored, so nothing is deleted by age/,
  )
  const early = await guardOf(t, store, new MachineClock(NOW))
  assert.equal(early.guard.expiryTime(), null)
  assert.match(early.said[0] ?? '', /^The clock is 405 days before the newest time that is stored/)
})

testOnEveryEngine('a service that was off for three weeks trusts the clock again automatically', async (store, t) => {
  await guardOf(t, store, new MachineClock(NOW))
  const clock = new MachineClock(NOW + 21 * DAY)
  // It is restarted now and then, and off for a night.
  for (let days = 0; days < 3; days++) {
    const { guard, pass } = await guardOf(t, store, clock)
    assert.notEqual(guard.doubt, null)
    await pass(16 * HOUR)
    assert.equal(guard.expiryTime(), null)
    clock.advance(8 * HOUR)
  }
  const { guard, pass } = await guardOf(t, store, clock)
  assert.equal(guard.doubt, null)
  await pass(DAY)
  assert.equal(guard.expiryTime(), clock.now())
})

testOnEveryEngine('after a night off things expire as much later, and nothing is reported', async (store, t) => {
  await guardOf(t, store, new MachineClock(NOW))
  const clock = new MachineClock(NOW + 9 * HOUR)
  const { guard, said, pass } = await guardOf(t, store, clock)
  assert.deepEqual([guard.doubt, said], [null, []])
  assert.equal(guard.expiryTime(), NOW)
  await pass(DAY)
  assert.equal(guard.expiryTime(), clock.now())
})

testOnEveryEngine(
  'a machine that starts with a wrong clock, which is then corrected, stops its reports at once',
  async (store, t) => {
    await guardOf(t, store, new MachineClock(NOW))
    for (const wrong of [NOW - 300 * DAY, NOW + 300 * DAY]) {
      const clock = new MachineClock(wrong)
      const { guard, pass } = await guardOf(t, store, clock)
      assert.notEqual(guard.doubt, null)
      await pass(10 * SECOND)
      clock.set(NOW + HOUR)
      assert.equal(guard.doubt, null)
      assert.equal(guard.expiryTime(), null)
      await pass(DAY)
      assert.equal(guard.expiryTime(), clock.now())
      await store.write.updateTable('clock_checks').set({ checked_at: NOW }).execute()
    }
  },
)

testOnEveryEngine('what one node finds out holds for the others', async (store, t) => {
  const [one, two] = [new MachineClock(NOW), new MachineClock(NOW)]
  const a = await guardOf(t, store, one)
  const b = await guardOf(t, store, two)
  one.set(NOW + 405 * DAY)
  await a.pass(0)
  await b.pass(MINUTE)
  assert.equal(b.guard.expiryTime(), null)
  assert.equal(b.said.length, 1)
})

testOnEveryEngine(
  "a node whose own clock is far from the database's deletes nothing, and says when it is off",
  async (store, t) => {
    const database = new MachineClock(NOW)
    const wall = { now: NOW + 2 * HOUR }
    const clock = { now: () => database.now(), monotonic: () => database.monotonic(), wall: () => wall.now }
    const said: string[] = []
    const guard = await ClockGuard.open({ store, clock, onError: (error) => said.push(error.message) })
    t.after(() => guard.stop())
    assert.equal(guard.expiryTime(), null)
    assert.match(guard.doubt ?? '', /differ by 120 minutes/)
    assert.match(said[0] ?? '', /^the clock of this machine is 7200 s ahead of the database's/)
    wall.now = NOW
    assert.equal(guard.expiryTime(), NOW)
    // One that drifts later is named too, once.
    for (const ahead of [0, -300, -310]) {
      wall.now = NOW + ahead * SECOND
      await guard.loop.tick()
    }
    assert.equal(said.length, 2)
    assert.match(said[1] ?? '', /^the clock of this machine is 300 s behind the database's/)
  },
)
