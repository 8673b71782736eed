import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Kept, Mutex } from '../../src/lib/index.ts'

test('one at a time, in the order of asking, however long each takes', async () => {
  const mutex = new Mutex()
  const log: string[] = []
  const work = (name: string, turns: number) =>
    mutex.run(async () => {
      log.push(`${name} begins`)
      for (let turn = 0; turn < turns; turn++) await setImmediate()
      log.push(`${name} ends`)
      return name
    })
  assert.deepEqual(await Promise.all([work('a', 3), work('b', 0), work('c', 1)]), ['a', 'b', 'c'])
  assert.deepEqual(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('work that throws gives the resource back, and the error to its caller only', async () => {
  const mutex = new Mutex()
  const failing = mutex.run(() => Promise.reject(new Error('no luck')))
  const next = mutex.run(() => Promise.resolve('fine'))
  await assert.rejects(failing, /no luck/)
  assert.equal(await next, 'fine')
})

test('acquire waits until the one before has released', async () => {
  const mutex = new Mutex()
  const release = await mutex.acquire()
  let isMine = false
  const second = mutex.acquire().then((releaseSecond) => {
    isMine = true
    return releaseSecond
  })
  await setImmediate()
  assert.equal(isMine, false)
  release()
  const releaseSecond = await second
  releaseSecond()
  await mutex.run(() => Promise.resolve())
})

/** Counts its reads and fails where the test says so. */
function counting(failing: readonly number[] = []) {
  let reads = 0
  const kept = new Kept(5, () => {
    reads += 1
    return failing.includes(reads) ? Promise.reject(new Error('away')) : Promise.resolve(reads)
  })
  return { kept, reads: () => reads }
}

test('however many ask at once, it is read once', async () => {
  const { kept, reads } = counting()
  assert.deepEqual(await Promise.all([kept.get(0), kept.get(0), kept.get(4)]), [1, 1, 1])
  assert.equal(reads(), 1)
})

test('it is read again when it is no longer fresh, and when the clock was set back', async () => {
  const { kept } = counting()
  const values: number[] = []
  for (const now of [100, 104, 105, 109, 110, 50, 54]) values.push(await kept.get(now))
  assert.deepEqual(values, [1, 1, 2, 2, 3, 4, 4])
})

test('a failure goes to the callers that waited for it; the next one reads again', async () => {
  const { kept, reads } = counting([1])
  const waiting = [kept.get(0), kept.get(0)]
  for (const { status } of await Promise.allSettled(waiting)) assert.equal(status, 'rejected')
  assert.equal(reads(), 1)
  assert.equal(await kept.get(0), 2)
})
