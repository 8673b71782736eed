import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Mutex } from '../../src/lib/index.ts'

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
