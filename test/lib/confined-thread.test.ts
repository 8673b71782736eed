import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ConfinedError, type ConfinedErrorKind, ConfinedThread } from '../../src/lib/index.ts'

function confined(t: TestContext, limits: { timeMs?: number; heapMb?: number } = {}): ConfinedThread {
  const { timeMs = 60_000, heapMb = 64 } = limits
  const thread = new ConfinedThread({ module: new URL('./confined-tasks.ts', import.meta.url), timeMs, heapMb })
  t.after(() => thread.close())
  return thread
}

const failsWith = (kind: ConfinedErrorKind, message: RegExp) => (thrown: unknown) => {
  assert.ok(thrown instanceof ConfinedError)
  assert.equal(thrown.kind, kind)
  assert.match(thrown.message, message)
  return true
}

test('tasks are done one after the other, and one that throws fails alone', async (t) => {
  const thread = confined(t)
  const [first, second, third, unknown] = await Promise.allSettled([
    thread.run('double', { n: 2 }),
    thread.run('throwing', {}),
    thread.run('double', { n: 4 }),
    thread.run('unheard of', {}),
  ])
  assert.deepEqual(
    [first, third].map((end) => end?.status === 'fulfilled' && end.value),
    [4, 8],
  )
  assert.ok(second?.status === 'rejected' && unknown?.status === 'rejected')
  failsWith('failed', /^no such page$/)(second.reason)
  failsWith('failed', /no task unheard of/)(unknown.reason)
})

test('a task that never ends is given up for its time, and those that wait are done by the next thread', async (t) => {
  const thread = confined(t, { timeMs: 300 })
  const endless = assert.rejects(thread.run('endless', {}), failsWith('time', /more than 0.3 s/))
  const waiting = thread.run('double', { n: 21 })
  await endless
  assert.equal(await waiting, 42)
})

test('a task that fills its heap ends its thread and nothing else', async (t) => {
  const thread = confined(t, { heapMb: 24 })
  const hoarding = assert.rejects(thread.run('hoarding', {}), failsWith('memory', /more than 24 MB/))
  const waiting = thread.run('double', { n: 3 })
  await hoarding
  assert.equal(await waiting, 6)
})

test('a task without a waiting caller is not begun', async (t) => {
  const thread = confined(t, { timeMs: 300 })
  const endless = assert.rejects(thread.run('endless', {}), failsWith('time', /./))
  const controller = new AbortController()
  const dropped = thread.run('endless', {}, { signal: controller.signal })
  controller.abort(new Error('the run is over'))
  await assert.rejects(dropped, /the run is over/)
  await endless
  assert.equal(await thread.run('double', { n: 1 }), 2)
})

test('buffers are handed over instead of copied, and what cannot cross threads fails alone', async (t) => {
  const thread = confined(t)
  const bytes = new Uint8Array(1_000)
  assert.equal(await thread.run('size', { bytes }, { transfer: [bytes.buffer] }), 1_000)
  assert.equal(bytes.length, 0)
  await assert.rejects(thread.run('double', { n: () => 1 }), failsWith('failed', /could not be cloned/))
  assert.equal(await thread.run('double', { n: 5 }), 10)
})

test('closing ends what runs and what waits', async (t) => {
  const thread = confined(t)
  const ends = ['endless', 'double'].map((task) => assert.rejects(thread.run(task, {}), failsWith('failed', /stops/)))
  await thread.close()
  await Promise.all(ends)
  await assert.rejects(thread.run('double', { n: 1 }), failsWith('failed', /stops/))
})
