import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pooled, type TagDay, tellingAbsence } from '../../src/detection/tag-reference.ts'

const week = (occurrences: number, ...missed: number[]): TagDay[] =>
  missed.map((ofDay) => ({ occurrences, missed: ofDay }))
const RARE = Array.from({ length: 24 }, (_, hour) => 1 + (hour % 2))
const MOST = 30
const missesNeeded = (days: readonly TagDay[]) => Math.ceil(tellingAbsence(days, RARE, MOST))

const CASES: readonly { what: string; days: readonly TagDay[]; needed: number }[] = [
  { what: 'ran on all of 1,400', days: week(200, 0, 0, 0, 0, 0, 0, 0), needed: 3 },
  { what: 'ran on all of 105', days: week(15, 0, 0, 0, 0, 0, 0, 0), needed: 3 },
  { what: 'misses 4 %, one by one', days: week(200, 8, 9, 7, 8, 9, 8, 7), needed: 5 },
  { what: 'misses 4 %, by the dozen', days: week(200, 0, 24, 0, 12, 0, 20, 0), needed: 15 },
  { what: 'missed much on one day only', days: week(200, 0, 0, 40, 0, 0, 0, 0), needed: 3 },
]
for (const { what, days, needed } of CASES) {
  test(`a tag that ${what} is missing after ${needed} occurrences in a row`, () =>
    assert.equal(missesNeeded(days), needed))
}

test('the more often a tag was left out, the more has to be missed', () => {
  let before = 0
  for (const missed of [0, 1, 2, 4, 8, 16, 32]) {
    const needed = tellingAbsence(
      Array.from({ length: 7 }, () => ({ occurrences: 200, missed })),
      RARE,
      MOST,
    )
    assert.ok(needed >= before, `${needed} with ${missed} a day`)
    before = needed
  }
})

test('days of several events are added up, counted from the newest', () => {
  assert.deepEqual(pooled([week(10, 1, 2, 3), week(5, 1)]).toReversed(), [
    { occurrences: 10, missed: 1 },
    { occurrences: 10, missed: 2 },
    { occurrences: 15, missed: 4 },
  ])
})
