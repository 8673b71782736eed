import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, MINUTE } from '../../../src/lib/index.ts'
import { lastDay, SLOT, stretchesOf } from '../../../src/probes/counts/timeline.ts'

const TEN = Date.parse('2026-11-20T10:00:00Z')

for (const minutes of [0, 1, 5, 37, 59]) {
  for (const slotsFor of [HOUR, 2 * HOUR, DAY, 2 * DAY]) {
    test(`at 10:${minutes} with ${slotsFor / HOUR} h of slots, buckets tile the last day and each time finds its own`, () => {
      const end = TEN + minutes * MINUTE
      const { buckets, slotsFrom, indexAt } = lastDay(end, slotsFor)
      assert.equal(buckets[0]?.from, TEN - DAY)
      assert.equal(buckets.at(-1)?.to, end)
      assert.ok(slotsFrom <= Math.max(end - slotsFor, TEN - DAY) && slotsFrom % HOUR === 0)
      for (const [index, { from, to }] of buckets.entries()) {
        assert.equal(to, buckets[index + 1]?.from ?? end)
        if (from < slotsFrom) assert.equal(to - from, HOUR)
        else if (from > slotsFrom) assert.equal(to - from, SLOT)
        for (let time = from; time < to; time += MINUTE) assert.equal(indexAt(time), index)
      }
    })
  }
}

test('hours that follow one another are one stretch', () => {
  assert.deepEqual(stretchesOf([TEN + HOUR, TEN, TEN + 5 * HOUR, TEN]), [
    { from: TEN, to: TEN + 2 * HOUR },
    { from: TEN + 5 * HOUR, to: TEN + 6 * HOUR },
  ])
  assert.deepEqual(stretchesOf([]), [])
})
