import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OutcomeBucket, TAG_FAILURE_RATE_DEFAULTS, tagFailureRate } from '../../src/detection/index.ts'
import { isoTime } from '../../src/lib/index.ts'
import { bucketsUntil, NOON, SLOT } from './support.ts'

const GOOD = { success: 0, failure: 0, timeout: 0, exception: 0 }

/** Buckets of five minutes up to noon with so many bad ones out of so many, oldest first. */
const course = (...slots: readonly (readonly [bad: number, of: number])[]): OutcomeBucket[] =>
  bucketsUntil(NOON, SLOT, slots.length).map((bucket, index) => {
    const [bad, of] = slots[index] ?? [0, 0]
    return { ...bucket, ...GOOD, failure: bad, success: of - bad }
  })

const judge = (buckets: readonly OutcomeBucket[]) =>
  tagFailureRate({ now: NOON, tags: [{ tag_key: 'GA4', buckets }] }, TAG_FAILURE_RATE_DEFAULTS)

/** The lower Wilson bound of each is beside it. */
const CASES: readonly [bad: number, of: number, status: string][] = [
  [0, 1_000, 'ok'],
  [2, 20, 'ok'], // 0.028
  [3, 20, 'warning'], // 0.052
  [65, 1_000, 'warning'], // 0.051
  [9, 20, 'critical'], // 0.258
  [8, 20, 'warning'], // 0.219
  [279, 1_000, 'critical'], // 0.252
  [276, 1_000, 'warning'], // 0.249
  [1_000, 1_000, 'critical'],
]
for (const [bad, of, status] of CASES) {
  test(`${bad} bad of ${of} executions are ${status}`, () => assert.equal(judge(course([bad, of])).status, status))
}

test('a tag with fewer than 20 executions in a day is not judged', () => {
  const { status, details } = judge(course([10, 10], [9, 9]))
  assert.deepEqual([status, details.judged, details.unjudged], ['ok', 0, 1])
})

test('a tag that runs rarely is judged over a longer time', () => {
  const verdict = judge(course([0, 5], [0, 5], ...Array.from({ length: 10 }, () => [1, 2] as const)))
  assert.equal(verdict.status, 'critical')
  assert.match(verdict.message, /^“GA4” failed: 10 of 20 executions \(50 %\), last 50 min$/)
})

test('a tag that runs often is judged by its last 15 minutes only', () => {
  assert.equal(judge(course([500, 500], [500, 500], [0, 50], [0, 50], [0, 50])).status, 'ok')
})

/** A day of five-minute buckets before the window, each of 20 executions of which so many are bad in turn. */
const dayOf = (...bad: readonly number[]) =>
  Array.from({ length: 285 }, (_, at) => [bad[Math.floor((at * bad.length) / 285)] ?? 0, 20] as const)

const PASTS: readonly [what: string, past: readonly (readonly [number, number])[], status: string][] = [
  ['no past', [], 'warning'],
  ['a past without a failure', dayOf(0), 'warning'],
  ['a day with 3 % of failures, as many as chance brings', dayOf(1, 0, 1, 0, 1, 0, 1, 0, 1, 1), 'ok'],
  ['a day with 10 % of failures, all of which is too much', dayOf(2), 'warning'],
  [
    'failures of 10 % for the last 11 hours',
    dayOf(...Array.from({ length: 13 }, () => 0), ...Array.from({ length: 11 }, () => 2)),
    'warning',
  ],
]
for (const [what, past, status] of PASTS) {
  test(`5 bad of 35 executions after ${what} are ${status}`, () =>
    assert.equal(judge(course(...past, [1, 12], [2, 12], [2, 11])).status, status))
}

test('a fault says since when', () => {
  const { details } = judge(course([1, 100], [0, 100], [2, 100], [60, 100], [55, 100]))
  assert.equal(details.findings[0]?.since, isoTime(NOON - 2 * SLOT))
})

test('timeouts and exceptions are bad, and each is counted', () => {
  const bucket = { from: NOON - SLOT, to: NOON, success: 10, failure: 1, timeout: 20, exception: 5 }
  const { message, details } = judge([bucket])
  assert.match(message, /, last 15 min: 1 failure, 20 timeouts, 5 exceptions$/)
  assert.deepEqual(details.findings[0]?.subject, { tag_key: 'GA4' })
})
