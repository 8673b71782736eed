import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram } from '../lib/histogram.ts'

test('a percentile of small values is exact', () => {
  const histogram = new Histogram()
  for (let value = 1; value <= 100; value++) histogram.record(value)
  assert.equal(histogram.percentile(0.5), 50)
  assert.equal(histogram.percentile(0.99), 99)
  assert.equal(histogram.percentile(1), 100)
})

test('a percentile of large values is at most 1/64 too high and never too low', () => {
  for (const value of [128, 129, 1_000, 65_535, 65_536, 1_234_567, 2 ** 31 - 1]) {
    const histogram = new Histogram()
    histogram.record(value)
    histogram.record(2 ** 31 - 1)
    const median = histogram.percentile(0.5)
    assert.ok(median >= value && median <= value * (1 + 1 / 64), `${value} came back as ${median}`)
  }
})

test('the largest value is kept exactly', () => {
  const histogram = new Histogram()
  histogram.record(1_001)
  assert.equal(histogram.max, 1_001)
  assert.equal(histogram.percentile(0.99), 1_001)
})

test('an empty histogram answers 0', () => {
  assert.equal(new Histogram().percentile(0.99), 0)
})
