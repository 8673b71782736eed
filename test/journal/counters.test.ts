import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CounterPool } from '../../src/journal/counters.ts'
import { numbersOf } from '../../testkit/deltas.ts'

test('counters of one pool are zero at first and keep to themselves, however many there are and whatever their widths', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 900 }), (widths) => {
      const pool = new CounterPool()
      const all = widths.map((width) => pool.take(width))
      for (const [number, counters] of all.entries()) {
        assert.deepEqual(numbersOf(counters), Array(counters.width).fill(0))
        for (let index = 0; index < counters.width; index++) counters.add(index, number + index + 1)
      }
      for (const [number, counters] of all.entries())
        assert.deepEqual(
          numbersOf(counters),
          Array.from({ length: counters.width }, (_, index) => number + index + 1),
        )
    }),
    { numRuns: 30 },
  )
})

test('counters are added to others and multiplied, exactly up to the largest number of events', () => {
  const pool = new CounterPool()
  const [ours, theirs] = [pool.take(3), pool.take(3)]
  for (const [index, n] of [1, 0, Number.MAX_SAFE_INTEGER - 1].entries()) theirs.add(index, n)
  ours.add(2, 1)
  ours.addAll(theirs)
  assert.deepEqual(numbersOf(ours), [1, 0, Number.MAX_SAFE_INTEGER])
  assert.deepEqual(numbersOf(theirs), [1, 0, Number.MAX_SAFE_INTEGER - 1])
  ours.scale(1_000)
  assert.deepEqual(numbersOf(ours), [1_000, 0, Number.MAX_SAFE_INTEGER * 1_000])
  const list: (string | number)[] = ['name']
  theirs.appendTo(list)
  assert.deepEqual(list, ['name', 1, 0, Number.MAX_SAFE_INTEGER - 1])
})

test('counters that are wider than a chunk have one of their own', () => {
  const pool = new CounterPool()
  const wide = pool.take(10_000)
  wide.add(9_999, 5)
  assert.equal(wide.at(9_999), 5)
})

test('the memory of released counters is zero for the next pool that uses it', () => {
  const [before, after] = [new CounterPool(), new CounterPool()]
  for (const pool of [before, after]) pool.take(256) // the first chunk, which is small and not kept
  const released = before.take(8_192)
  released.add(0, 5)
  before.release()
  const counters = after.take(8_192)
  assert.equal(counters.at(0), 0)
  counters.add(1, 7)
  assert.equal(released.at(1), 7)
  after.release()
})
