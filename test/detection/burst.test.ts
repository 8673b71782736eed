import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchSize, batchSizeOfHours, burstSize, burstSizeOfWeeks } from '../../src/detection/burst.ts'

/** Counts whose neighbours differ by `2 · amplitude` throughout. */
const alternating = (mean: number, amplitude: number, length = 72) =>
  Array.from({ length }, (_, index) => mean + (index % 2 === 0 ? amplitude : -amplitude))

test('even counts come one by one', () => assert.equal(burstSize(alternating(100, 0), 1), 1))

test('counts that differ four times as much as chance lets them come in fours', () => {
  // Neighbours of independent events differ by √(2 · mean) on average.
  const amplitude = Math.sqrt(4 * 2 * 1_000) / 2
  const size = burstSize(alternating(1_000, amplitude), 1)
  assert.ok(size > 4 && size < 6, String(size))
})

test('a fault that begins and one that ends do not look like bursts', () => {
  const counts = alternating(100, 5).map((count, index) => (index >= 30 && index < 40 ? 0 : count))
  assert.ok(burstSize(counts, 1) < 2)
})

test('what is known from before counts while there are few counts', () => {
  assert.equal(burstSize([], 6), 6)
  assert.ok(burstSize([1, 0, 2], 6) > 5)
  assert.ok(burstSize(alternating(1_000, 0), 6) < 1.1)
})

test('weeks that differ by chance say how large bursts are, and one week with an outage does not', () => {
  const week = alternating(10, 4, 27)
  const other = alternating(10, -4, 27)
  const outage = week.map(() => 0)
  const size = burstSizeOfWeeks([week, other, week, other]).usual
  assert.ok(size <= burstSizeOfWeeks([week, other, other, outage]).usual + 0.1)
  assert.equal(burstSizeOfWeeks([week]).usual, 1)
  assert.equal(burstSizeOfWeeks([]).usual, 1)
})

const BATCHES: readonly [what: string, counts: readonly number[], size: number][] = [
  ['full batches of different number', [50, 100, 150, 200, 100, 50, 250, 100, 150], 50],
  ['a batch now and then', [50, 0, 50, 0, 0, 50, 50, 0, 50, 50, 50, 50], 50],
  ['events one by one', [51, 100, 149, 200, 101, 50, 250, 100, 150], 1],
  ['the same count all the time', Array.from({ length: 72 }, () => 100), 1],
  ['the same count, and then nothing', Array.from({ length: 72 }, (_, index) => (index < 60 ? 100 : 0)), 1],
  ['too few counts to say', [50, 100, 150, 200], 1],
]
for (const [what, counts, size] of BATCHES) {
  test(`${what}: ${size} in a batch`, () => assert.equal(batchSize(counts), size))
}

test('a site so quiet that hours pass until a batch is full is known by its hours', () => {
  assert.equal(batchSizeOfHours([50, 0, 0, 50, 0, 100, 50, 0, 0, 50]), 50)
  assert.equal(batchSizeOfHours([50, 0, 0, 50, 0, 100, 50, 0, 0, 51]), 1, 'one that is none')
  assert.equal(batchSizeOfHours([1_200, 1_200, 1_200, 0, 0, 1_200, 1_200, 400]), 1, 'a night and a fall are no pauses')
  assert.equal(batchSizeOfHours([]), 1)
})

test('a busier site that sends batches is known by hours that are never without one', () => {
  const hours = [50, 100, 100, 150, 400, 950, 1_200, 1_150, 300, 100]
  assert.equal(batchSizeOfHours(hours), 50)
  assert.equal(batchSizeOfHours([...hours, 101]), 1, 'one hour that holds no whole batches')
  assert.equal(batchSizeOfHours(hours.map((count) => count / 10)), 1, 'too small to tell from chance')
})
