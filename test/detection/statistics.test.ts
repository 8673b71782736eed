import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { median, robustSpread, wilson } from '../../src/detection/statistics.ts'

const MEDIANS: readonly [values: number[], middle: number][] = [
  [[3], 3],
  [[3, 1], 2],
  [[9, 1, 5], 5],
  [[1, 100, 2, 3], 2.5],
]
for (const [values, middle] of MEDIANS) {
  test(`the median of ${values.join(', ')} is ${middle}`, () => assert.equal(median(values), middle))
}

test('nothing has no median', () => assert.ok(Number.isNaN(median([]))))

test('one value that is far off does not move the robust spread', () => {
  assert.equal(robustSpread([10, 12, 14, 1_000], 13), 1.4826 * 2)
})

/** Worked out with the formula in Newcombe (1998), Statistics in Medicine 17:857, table I, and by hand. */
const INTERVALS: readonly [hits: number, trials: number, low: number, high: number][] = [
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
  [0, 0, 0, 1],
]
for (const [hits, trials, low, high] of INTERVALS) {
  test(`${hits} of ${trials} are a share from ${low} to ${high}`, () => {
    const interval = wilson(hits, trials)
    assert.deepEqual([interval.low.toFixed(4), interval.high.toFixed(4)], [low.toFixed(4), high.toFixed(4)])
  })
}

test('a Wilson interval holds the share that was seen, and narrows with more trials', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.nat(1_000), (hits, misses) => {
      fc.pre(hits + misses > 0)
      const [few, many] = [wilson(hits, hits + misses), wilson(10 * hits, 10 * (hits + misses))]
      const share = hits / (hits + misses)
      assert.ok(few.low <= share + 1e-12 && share <= few.high + 1e-12)
      assert.ok(many.low >= few.low - 1e-12 && many.high <= few.high + 1e-12)
    }),
  )
})
