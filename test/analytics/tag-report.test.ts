import assert from 'node:assert/strict'
import { test } from 'node:test'
import { histogramQuantile } from '../../src/analytics/tag-report.ts'

/** Bounds: 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, above. */
const TABLE: readonly { name: string; counts: number[]; q: number; ms: number | null }[] = [
  { name: 'nothing observed', counts: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], q: 0.5, ms: null },
  { name: 'one bucket, the middle of it', counts: [0, 0, 0, 10, 0, 0, 0, 0, 0, 0], q: 0.5, ms: 75 },
  { name: 'the first bucket starts at 0', counts: [4, 0, 0, 0, 0, 0, 0, 0, 0, 0], q: 0.25, ms: 2.5 },
  { name: 'a rank at the end of a bucket', counts: [5, 5, 0, 0, 0, 0, 0, 0, 0, 0], q: 0.5, ms: 10 },
  { name: 'a rank in the second bucket', counts: [5, 5, 0, 0, 0, 0, 0, 0, 0, 0], q: 0.75, ms: 17.5 },
  { name: 'empty buckets in between', counts: [50, 0, 0, 0, 0, 0, 0, 50, 0, 0], q: 0.95, ms: 1_000 + 1_500 * 0.9 },
  { name: 'everything above the last bound', counts: [0, 0, 0, 0, 0, 0, 0, 0, 0, 7], q: 0.5, ms: 5_000 },
  { name: 'the 99th of what is partly above', counts: [90, 0, 0, 0, 0, 0, 0, 0, 0, 10], q: 0.99, ms: 5_000 },
  { name: 'the highest', counts: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0], q: 1, ms: 25 },
  { name: 'the lowest', counts: [0, 3, 0, 0, 0, 0, 0, 0, 0, 0], q: 0, ms: 10 },
]

for (const { name, counts, q, ms } of TABLE) {
  test(`quantile ${q} of a histogram: ${name}`, () => assert.equal(histogramQuantile(counts, q), ms))
}
