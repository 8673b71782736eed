import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AUTO_POINTS, type BucketName, chooseBuckets, offsetSpans } from '../../src/analytics/buckets.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'

const END = Date.parse('2026-11-20T12:35:00Z')

function choose(name: BucketName, length: number, hoursOnly = false) {
  const range = { from: END - length, to: END }
  return chooseBuckets(name, range, {
    spans: offsetSpans('Europe/Vienna', range),
    minuteRowsFrom: Date.parse('2026-11-13T12:00:00Z'),
    hoursOnly,
  })
}

const AUTO: readonly [length: string, ms: number, step: string][] = [
  ['an hour', HOUR, '1m'],
  ['400 minutes', 400 * MINUTE, '1m'],
  ['401 minutes', 401 * MINUTE, '5m'],
  ['24 hours', DAY, '5m'],
  ['2 days', 2 * DAY, '1h'],
  ['16 days', 16 * DAY, '1h'],
  ['17 days', 17 * DAY, '1d'],
  ['a year', 365 * DAY, '1d'],
  ['400 days', 400 * DAY, '7d'],
  ['ten years', 3_650 * DAY, '28d'],
]

for (const [length, ms, step] of AUTO) {
  test(`auto takes ${step} for ${length}`, () => {
    const buckets = choose('auto', ms)
    assert.equal(buckets.step.name, step)
    assert.ok(buckets.starts.length <= AUTO_POINTS)
  })
}

test('auto takes hours where the metric is only known per hour', () => {
  assert.equal(choose('auto', HOUR, true).step.name, '1h')
})

test('auto takes hours where minutes are no longer kept', () => {
  const range = { from: END - 30 * DAY, to: END - 30 * DAY + HOUR }
  const limits = { spans: offsetSpans('UTC', range), minuteRowsFrom: END - 7 * DAY, hoursOnly: false }
  assert.equal(chooseBuckets('auto', range, limits).step.name, '1h')
})

const REFUSED: readonly [BucketName, number, boolean, RegExp][] = [
  ['1m', 1_501 * MINUTE, false, /1m is too fine here: allowed are auto, 5m, 1h, 1d \(at most 1500 points\)/],
  ['5m', 8 * DAY, false, /allowed are auto, 1h, 1d \(.*minutes of that time are no longer kept\)/],
  ['1h', 63 * DAY, false, /allowed are auto, 1d /],
  ['1d', 1_600 * DAY, false, /allowed are auto \(/],
  ['5m', HOUR, true, /allowed are auto, 1h, 1d \(.*kept per hour\)/],
]

for (const [name, length, hoursOnly, message] of REFUSED) {
  test(`${name} for ${length / HOUR} hours${hoursOnly ? ' of events by tag' : ''} is refused, naming what is allowed`, () => {
    assert.throws(() => choose(name, length, hoursOnly), message)
  })
}
