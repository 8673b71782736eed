import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ceilTo,
  DAY,
  floorTo,
  HOUR,
  isoTime,
  isoTimeOrNull,
  MINUTE,
  monthOf,
  nextMonthStart,
} from '../../src/lib/index.ts'

const at = Date.parse

const BUCKETS: readonly [time: string, size: number, floor: string, ceil: string][] = [
  ['2026-11-20T10:00:00.000Z', MINUTE, '2026-11-20T10:00:00.000Z', '2026-11-20T10:00:00.000Z'],
  ['2026-11-20T10:00:00.001Z', MINUTE, '2026-11-20T10:00:00.000Z', '2026-11-20T10:01:00.000Z'],
  ['2026-11-20T10:59:59.999Z', HOUR, '2026-11-20T10:00:00.000Z', '2026-11-20T11:00:00.000Z'],
  ['2026-12-31T23:59:59.999Z', DAY, '2026-12-31T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ['2028-02-29T12:00:00.000Z', DAY, '2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
]
for (const [time, size, floor, ceil] of BUCKETS) {
  test(`the bucket of ${size} ms around ${time}`, () => {
    assert.equal(isoTime(floorTo(at(time), size)), floor)
    assert.equal(isoTime(ceilTo(at(time), size)), ceil)
  })
}

const MONTHS: readonly [time: string, month: number, next: string][] = [
  ['2026-11-01T00:00:00.000Z', 202611, '2026-12-01T00:00:00.000Z'],
  ['2026-11-30T23:59:59.999Z', 202611, '2026-12-01T00:00:00.000Z'],
  ['2026-12-31T23:59:59.999Z', 202612, '2027-01-01T00:00:00.000Z'],
  ['2027-01-01T00:00:00.000Z', 202701, '2027-02-01T00:00:00.000Z'],
  ['2028-02-29T12:00:00.000Z', 202802, '2028-03-01T00:00:00.000Z'],
]
for (const [time, month, next] of MONTHS) {
  test(`the month of ${time} is ${month}`, () => {
    assert.equal(monthOf(at(time)), month)
    assert.equal(isoTime(nextMonthStart(at(time))), next)
  })
}

test('the month is right when time jumps back and forth', () => {
  const sequence = ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z', '2026-12-31T23:59:59.999Z', '2025-12-01']
  assert.deepEqual(
    sequence.map((time) => monthOf(at(time))),
    [202612, 202701, 202612, 202512],
  )
})

test('months sort as time does', () => {
  const months = Array.from({ length: 30 }, (_, index) => monthOf(Date.UTC(2025, index, 15)))
  assert.deepEqual(
    months,
    [...months].sort((a, b) => a - b),
  )
  assert.equal(new Set(months).size, 30)
})

test('times leave the program as ISO 8601 in UTC with milliseconds', () => {
  assert.equal(isoTime(0), '1970-01-01T00:00:00.000Z')
  assert.equal(isoTimeOrNull(at('2026-11-20T09:40:00Z')), '2026-11-20T09:40:00.000Z')
  assert.equal(isoTimeOrNull(null), null)
})
