import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Closers } from '../../src/lib/index.ts'

test('what was opened last is closed first, each after the one before', async () => {
  const closers = new Closers()
  const log: string[] = []
  closers.add(() => void log.push('store'))
  closers.add(async () => {
    await setImmediate()
    log.push('ingest')
  })
  closers.add(() => void log.push('http'))
  await closers.closeAll()
  assert.deepEqual(log, ['http', 'ingest', 'store'])
  await closers.closeAll()
  assert.equal(log.length, 3)
})

test('one that fails does not keep the others from closing, and the first error is thrown', async () => {
  const closers = new Closers()
  const log: string[] = []
  const closer = (name: string, fails: boolean) => () => {
    log.push(name)
    if (fails) throw new Error(name)
  }
  closers.add(closer('a', false))
  closers.add(closer('b', true))
  closers.add(closer('c', false))
  closers.add(() => Promise.reject(new Error('d')))
  await assert.rejects(closers.closeAll(), /^Error: d$/)
  assert.deepEqual(log, ['c', 'b', 'a'])
})
