import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { HOUR, Loop } from '../../src/lib/index.ts'
import { MachineClock, NOW, TestClock } from '../../testkit/clock.ts'
import { until } from '../../testkit/until.ts'

/** A loop whose ticks last until they are let go. */
function open(t: TestContext, intervalMs = 1) {
  const clock = new TestClock(1_000_000)
  const errors: string[] = []
  const running: { end: () => void; fail: (error: unknown) => void }[] = []
  let started = 0
  const loop = new Loop({
    name: 'test',
    clock,
    intervalMs,
    tick: () => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      started++
      running.push({ end: resolve, fail: reject })
      return promise
    },
    onError: (error, name) => errors.push(`${name}: ${error.message}`),
  })
  t.after(async () => {
    const stopped = loop.stop()
    for (const { end } of running) end()
    await stopped
  })
  const nextTick = (count: number) => until(`tick ${count}`, () => (started >= count ? running.shift() : undefined))
  return { clock, loop, errors, nextTick, started: () => started }
}

test('ticks follow one another and never overlap', async (t) => {
  const { loop, nextTick, started } = open(t)
  loop.start()
  loop.start()
  const first = await nextTick(1)
  const joined = Promise.all([loop.tick(), loop.tick()])
  assert.equal(started(), 1)
  first.end()
  await joined
  const second = await nextTick(2)
  assert.equal(started(), 2)
  second.end()
})

test('a tick that throws is reported, and the loop goes on', async (t) => {
  const { loop, errors, nextTick } = open(t)
  loop.start()
  const first = await nextTick(1)
  first.fail(new Error('no luck'))
  const second = await nextTick(2)
  second.fail('a text')
  const third = await nextTick(3)
  third.end()
  assert.deepEqual(errors, ['test: no luck', 'test: a text'])
})

test('a direct tick that throws does not reject', async (t) => {
  const { loop, errors, nextTick } = open(t)
  const ticked = loop.tick()
  const first = await nextTick(1)
  first.fail(new Error('no luck'))
  await ticked
  assert.deepEqual(errors, ['test: no luck'])
})

test('stop waits for the tick under way, and no other follows', async (t) => {
  const { loop, nextTick, started } = open(t)
  loop.start()
  const first = await nextTick(1)
  let isStopped = false
  const stopped = loop.stop().then(() => {
    isStopped = true
  })
  await setImmediate()
  assert.equal(isStopped, false)
  first.end()
  await stopped
  const probe = open(t)
  probe.loop.start()
  const later = await probe.nextTick(1)
  later.end()
  assert.equal(started(), 1)
})

test('a tick that throws before it gives a promise does not end the loop', async (t) => {
  let ticks = 0
  const loop = new Loop({
    name: 'test',
    clock: new TestClock(0),
    intervalMs: 1,
    tick: () => {
      ticks++
      throw new Error('no luck')
    },
    onError: () => undefined,
  })
  t.after(() => loop.stop())
  await loop.tick()
  await loop.tick()
  assert.equal(ticks, 2)
  loop.start()
  await until('a tick by the timer', () => (ticks > 2 ? true : undefined))
})

test('a loop that is stopped and started again during a tick has one timer, and stops', async (t) => {
  const { loop, nextTick, started } = open(t)
  loop.start()
  const first = await nextTick(1)
  const stopped = loop.stop()
  loop.start()
  first.end()
  await stopped
  await setImmediate()
  await loop.stop()
  const probe = open(t, 20)
  probe.loop.start()
  const later = await probe.nextTick(1)
  later.end()
  assert.equal(started(), 1)
})

test('a loop that is stopped before it was started has not ticked, and can still be started', async (t) => {
  const { loop, nextTick, started } = open(t)
  await loop.stop()
  assert.equal(started(), 0)
  loop.start()
  const first = await nextTick(1)
  first.end()
  assert.equal(started(), 1)
})

test('a loop lags from when a tick should have ended well', async (t) => {
  const { clock, loop, nextTick } = open(t, 60_000)
  assert.equal(loop.lagMs(), 0)
  loop.start()
  clock.advance(60_000)
  assert.equal(loop.lagMs(), 0)
  clock.advance(1_000)
  assert.equal(loop.lagMs(), 1_000)
  const failing = loop.tick()
  clock.advance(9_000)
  const first = await nextTick(1)
  first.fail(new Error('no luck'))
  await failing
  assert.equal(loop.lagMs(), 10_000)
  const working = loop.tick()
  const second = await nextTick(2)
  second.end()
  await working
  assert.equal(loop.lagMs(), 0)
})

test('a clock that is set makes no loop late, and hides none that is', (t) => {
  const clock = new MachineClock(NOW)
  const options = { name: 'test', clock, intervalMs: 60_000, tick: () => Promise.resolve(), onError: () => undefined }
  const loop = new Loop(options)
  t.after(() => loop.stop())
  loop.start()
  clock.set(NOW + 2 * HOUR)
  assert.equal(loop.lagMs(), 0)
  clock.set(NOW - 2 * HOUR)
  clock.advance(61_000)
  assert.equal(loop.lagMs(), 1_000)
})
