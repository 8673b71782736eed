import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseClock, DEAD_AFTER_MS } from '../../src/cluster/index.ts'
import { DAY, HOUR, SECOND } from '../../src/lib/index.ts'
import { MachineClock } from '../../testkit/clock.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')

/** A machine whose clock is `aheadMs` ahead of the database's, and takes `wayMs` to each side of a question. */
async function follow(aheadMs: number, wayMs = 0) {
  const machine = new MachineClock(NOW + aheadMs)
  const database = new MachineClock(NOW)
  const pass = (ms: number) => {
    machine.advance(ms)
    database.advance(ms)
  }
  const way = { ms: wayMs }
  const clock = await DatabaseClock.open(machine, () => {
    pass(way.ms)
    const theirs = database.now()
    pass(way.ms)
    return Promise.resolve(theirs)
  })
  return { clock, machine, database, pass, way }
}

test("time is the database's, however the machine's clock is set", async () => {
  const { clock, machine, database, pass } = await follow(30 * SECOND)
  assert.equal(clock.now(), NOW)
  pass(HOUR)
  assert.equal(clock.now(), NOW + HOUR)
  machine.set(NOW + 405 * DAY)
  pass(SECOND)
  assert.equal(clock.now(), database.now())
  assert.equal(clock.wall(), NOW + 405 * DAY + SECOND)
  await clock.correct()
  assert.equal(clock.now(), database.now())
  assert.equal(clock.isSettled, true)
})

test('a slow answer does not move time', async () => {
  const { clock, database, way } = await follow(0, 5)
  way.ms = 20 * SECOND
  await clock.correct()
  assert.equal(clock.now(), database.now())
  assert.equal(clock.isSettled, true)
})

test('drift is followed, and a clock that is set unsettles time until every node has had the time to beat', async () => {
  const { clock, database, pass } = await follow(0)
  database.advance(20)
  await clock.correct()
  assert.equal(clock.now(), database.now())
  assert.equal(clock.isSettled, true)
  for (const by of [HOUR, -HOUR]) {
    database.set(database.now() + by)
    await clock.correct()
    assert.equal(clock.now(), database.now())
    assert.equal(clock.isSettled, false)
    pass(DEAD_AFTER_MS)
    assert.equal(clock.isSettled, true)
  }
})
