import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atLeastRatio, compare } from '../ingest/compare.ts'
import type { RoundResult } from '../ingest/rounds.ts'
import { median, shareOfStatus } from '../lib/statistics.ts'

const result = (requestsPerSecond: number, fields: Partial<RoundResult> = {}): RoundResult => ({
  requestsPerSecond,
  p50Ms: 1,
  p99Ms: 2,
  maxMs: 3,
  statuses: { 200: 100 },
  answers: 100,
  accepted: 100,
  unanswered: 0,
  generatorLoad: 0.5,
  processorMicros: 30,
  ...fields,
})

test('the median of an even number of values lies between the middle two', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([3, 1, 2]), 2)
})

test('a request without an answer counts against the share of a status', () => {
  assert.equal(shareOfStatus([result(1, { statuses: { 200: 99 }, unanswered: 1 })], 200), 0.99)
})

test('the ratio is the median of the rounds own ratios', () => {
  const { measurements, checks } = compare('x', [result(100), result(80)], [result(80), result(72)], atLeastRatio(0.8))
  assert.deepEqual(checks, [])
  assert.equal(measurements[0]?.ratio.toFixed(3), '0.850')
  assert.equal(measurements[0]?.reached, true)
})

const SPOILED: [string, RoundResult[], RoundResult[]][] = [
  ['an answer was not a 200', [result(100)], [result(100, { statuses: { 200: 99, 500: 1 } })]],
  ['the generator had no time to spare', [result(100, { generatorLoad: 0.99 })], [result(100)]],
  ['the rounds disagree', [result(100), result(50)], [result(80), result(80)]],
]

for (const [why, bare, tagwarden] of SPOILED) {
  test(`nothing is reached when ${why}`, () => {
    const { measurements, checks } = compare('x', bare, tagwarden, atLeastRatio(0.8))
    assert.equal(measurements[0]?.reached, false)
    assert.equal(checks.length, 1)
  })
}
