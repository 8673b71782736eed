import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LatencyBucket, TAG_LATENCY_DEFAULTS, tagLatency } from '../../src/detection/index.ts'
import { countAbove, quantile } from '../../src/detection/tag-latency.ts'
import { HOUR, isoTime } from '../../src/lib/index.ts'
import { bucketsUntil, NOON, SLOT } from './support.ts'

const BOUNDS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000]

/** So many executions of each duration in ms. */
function durations(range: { from: number; to: number }, counts: Readonly<Record<number, number>>): LatencyBucket {
  const histogram = Array.from({ length: BOUNDS.length + 1 }, () => 0)
  let executions = 0
  let totalMs = 0
  for (const [length, count] of Object.entries(counts)) {
    const bucket = BOUNDS.findIndex((bound) => Number(length) <= bound)
    const place = bucket === -1 ? BOUNDS.length : bucket
    histogram[place] = (histogram[place] ?? 0) + count
    executions += count
    totalMs += Number(length) * count
  }
  return { ...range, histogram, total_ms: totalMs, executions, success: executions, timeout: 0 }
}

const weekOf = (counts: Readonly<Record<number, number>>) =>
  bucketsUntil(NOON - 24 * HOUR, HOUR, 21).map((hour) => durations(hour, counts))

const judge = (usual: readonly LatencyBucket[], recent: readonly LatencyBucket[]) =>
  tagLatency({ now: NOON, bounds: BOUNDS, tags: [{ tag_key: 'Ads', recent, usual }] }, TAG_LATENCY_DEFAULTS)

const last15 = (counts: Readonly<Record<number, number>>) => [durations({ from: NOON - 3 * SLOT, to: NOON }, counts)]

const QUICK = { 80: 95, 200: 10 }
const CASES: readonly [what: string, usual: Record<number, number>, recent: Record<number, number>, status: string][] =
  [
    ['as quick as usual', QUICK, QUICK, 'ok'],
    ['twice as slow without anyone noticing', { 8: 100 }, { 40: 100 }, 'ok'],
    ['over a quarter of a second slower', QUICK, { 80: 50, 800: 50 }, 'warning'],
    ['over a second slower', QUICK, { 80: 50, 2000: 50 }, 'critical'],
    ['slow in a few executions', QUICK, { 80: 96, 2000: 4 }, 'ok'],
    ['a little slower than slow', { 900: 100 }, { 1200: 100 }, 'ok'],
    ['slower than the histogram can tell', { 2400: 100 }, { 9000: 100 }, 'critical'],
    ['twice as slow beyond the histogram', { 3000: 100 }, { 6000: 100 }, 'warning'],
    ['five times as slow beyond the histogram', { 3000: 100 }, { 15000: 100 }, 'critical'],
    ['seen too rarely now', QUICK, { 2000: 29 }, 'ok'],
    ['seen too rarely before', { 80: 9 }, { 2000: 100 }, 'ok'],
  ]
for (const [what, usual, recent, status] of CASES) {
  test(`a tag that is ${what} is ${status}`, () => assert.equal(judge(weekOf(usual), last15(recent)).status, status))
}

test('a slow tag has its mean, which is exact, and the bucket of its percentile, of which no more is known', () => {
  // Interpolated in its bucket, the percentile was 2,425 ms, which no execution took.
  const slow = judge(weekOf(QUICK), last15({ 1050: 100 }))
  assert.equal(
    slow.message,
    '“Ads” takes 1,050 ms on average, 95th percentile 1,000–2,500 ms (100 executions in 15 min); usually 91 ms and 100–250 ms at this hour',
  )
  const cutOff = judge(weekOf(QUICK), last15({ 9000: 100 }))
  assert.match(cutOff.message, /^“Ads” takes 9,000 ms on average, 95th percentile over 5,000 ms \(/)
})

test('a slow tag whose executions are cut off is critical', () => {
  const [slow] = last15({ 80: 50, 800: 50 })
  assert.ok(slow)
  assert.equal(judge(weekOf(QUICK), [{ ...slow, timeout: 15 }]).status, 'critical')
})

test('timeouts alone are none of the business of a tag that is quick', () => {
  const [quick] = last15(QUICK)
  assert.ok(quick)
  assert.equal(judge(weekOf(QUICK), [{ ...quick, timeout: 90 }]).status, 'ok')
})

const TOO_SOON: readonly [
  what: string,
  usual: Record<number, number>,
  recent: Record<number, number>,
  status: string,
][] = [
  ['waited for an answer and no longer does', QUICK, { 3: 100 }, 'warning'],
  ['waited for an answer and still does now and then', QUICK, { 3: 85, 80: 15 }, 'ok'],
  ['never waited for one', { 8: 100 }, { 1: 100 }, 'ok'],
  ['was hardly slower than that', { 20: 100 }, { 3: 100 }, 'ok'],
  ['often had nothing to do', { 2: 30, 80: 70 }, { 2: 100 }, 'ok'],
  ['ran too rarely since', QUICK, { 3: 29 }, 'ok'],
]
for (const [what, usual, recent, status] of TOO_SOON) {
  test(`a tag that succeeds at once and ${what} is ${status}`, () => {
    assert.equal(judge(weekOf(usual), last15(recent)).status, status)
  })
}

test('a tag that fails at once succeeds in nothing, too soon or not', () => {
  const [quick] = last15({ 3: 100 })
  assert.ok(quick)
  assert.equal(judge(weekOf(QUICK), [{ ...quick, success: 40 }]).status, 'ok')
})

test('a tag that succeeds too soon says so, and since when', () => {
  const recent = bucketsUntil(NOON, SLOT, 24).map((bucket, index) =>
    durations(bucket, index < 12 ? { 80: 10 } : { 3: 10 }),
  )
  const { status, message, details } = judge(weekOf(QUICK), recent)
  assert.equal(status, 'warning')
  assert.match(
    message,
    /^“Ads” succeeds in 3 ms \(mean of \d+ executions in 15 min\), too soon for an answer; usually 91 ms/,
  )
  assert.equal(details.findings[0]?.since, isoTime(NOON - 12 * SLOT))
})

test('one slow day of the week does not become what is usual', () => {
  const usual = weekOf(QUICK).map((hour, index) => (index < 3 ? durations(hour, { 4000: 100 }) : hour))
  assert.equal(judge(usual, last15({ 80: 50, 2000: 50 })).status, 'critical')
})

test('a tag that runs rarely is judged over a longer time, and says since when it is slow', () => {
  const recent = bucketsUntil(NOON, SLOT, 24).map((bucket, index) =>
    durations(bucket, index < 12 ? { 80: 4 } : { 2000: 4 }),
  )
  const { status, details, message } = judge(weekOf(QUICK), recent)
  assert.equal(status, 'critical')
  assert.match(message, /\(32 executions in 40 min\)/)
  assert.equal(details.findings[0]?.since, isoTime(NOON - 12 * SLOT))
})

const RARE: readonly [what: string, durationsOf: (hour: number) => Record<number, number>, status: string][] = [
  ['was slow and has been quick again since', (hour) => (hour < 2 ? { 2000: 5 } : { 80: 5 }), 'ok'],
  ['is slow in every other execution', () => ({ 80: 3, 2000: 2 }), 'critical'],
  ['was quick and is slow now', (hour) => (hour < 4 ? { 80: 5 } : { 2000: 5 }), 'critical'],
  ['was slow, quick for an hour, and is slow again', (hour) => (hour === 4 ? { 80: 5 } : { 2000: 5 }), 'critical'],
]
for (const [what, durationsOf, status] of RARE) {
  test(`a tag that runs a few times an hour and ${what} is ${status}`, () => {
    const recent = bucketsUntil(NOON, HOUR, 7).map((hour, index) => durations(hour, durationsOf(index)))
    assert.equal(judge(weekOf(QUICK), recent).status, status)
  })
}

test('a quantile lies inside the bucket that holds its rank', () => {
  const histogram = { bounds: [10, 20], counts: [10, 10, 10] }
  assert.deepEqual([quantile(histogram, 0.5), quantile(histogram, 0.95), countAbove(histogram, 15)], [15, 20, 15])
})
