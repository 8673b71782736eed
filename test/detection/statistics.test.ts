import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { binomialTail, median, robustSpread, varianceBound, wilson } from '../../src/detection/statistics.ts'

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

/** Worked out exactly, with whole numbers. */
const TAILS: readonly [hits: number, trials: number, share: number, tail: number][] = [
  [0, 10, 0.3, 1],
  [10, 10, 0.5, 1 / 1_024],
  [1, 2, 0.5, 0.75],
  [3, 5, 0.5, 0.5],
  [2, 20, 0.05, 1 - 0.95 ** 20 - 20 * 0.05 * 0.95 ** 19],
  [11, 10, 0.5, 0],
  [1, 10, 0, 0],
  [3, 10, 1, 1],
]
for (const [hits, trials, share, tail] of TAILS) {
  test(`at least ${hits} of ${trials} at ${share} have the chance ${tail.toPrecision(3)}`, () => {
    assert.ok(Math.abs(binomialTail(hits, trials, share) - tail) < 1e-12)
  })
}

test('the tails of very many trials are neither lost nor over 1, whichever side of the mean they begin at', () => {
  const near = binomialTail(5_000, 100_000, 0.05)
  assert.ok(near > 0.49 && near < 0.52, String(near))
  assert.equal(binomialTail(1_000, 100_000, 0.05), 1)
  assert.ok(binomialTail(6_000, 100_000, 0.05) < 1e-30)
})

/** 0.1 % quantiles of the chi-squared distribution from tables: 1.479 of 10 degrees of freedom, 11.588 of 30, 61.918 of 100. */
const BOUNDS: readonly [freedom: number, quantile: number][] = [
  [10, 1.479],
  [30, 11.588],
  [100, 61.918],
]
for (const [freedom, quantile] of BOUNDS) {
  test(`a variance known by ${freedom} degrees of freedom may be ${(freedom / quantile).toFixed(1)} times as large`, () => {
    const bound = varianceBound(freedom)
    // The approximation is off by 7 % at ten, by 1 % at thirty.
    assert.ok(Math.abs(bound / (freedom / quantile) - 1) < 0.08, String(bound))
  })
}

test('a variance known by one degree of freedom may be any', () => assert.ok(varianceBound(1) > 1e6))
