import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Course } from '../../src/detection/volume-counts.ts'
import { onsetOf, recoveredSince } from '../../src/detection/volume-onset.ts'
import { HOUR, MINUTE } from '../../src/lib/index.ts'

const SLOT = 5 * MINUTE
const TO = 1_000 * HOUR

/** What came hours ago, as a share of the 100 events that are usual in five minutes; a day of them. */
function courseOf(levelAt: (hoursAgo: number) => number): Course {
  const from = Array.from({ length: 288 }, (_, index) => TO - (index + 1) * SLOT)
  let sum = 0
  const measured = from.map((time) => (sum += Math.round(100 * levelAt((TO - time) / HOUR))))
  const expected = from.map((_, index) => 100 * (index + 1))
  const covered = from.map((_, index) => (index + 1) * SLOT)
  const specialUntil = Number.NEGATIVE_INFINITY
  return { from, to: TO, measured, expected, byClock: expected, byOthers: expected, covered, specialUntil }
}

const hoursAgo = (time: number | null): number | null => (time === null ? null : (TO - time) / HOUR)

const RECOVERIES: readonly [what: string, levelAt: (ago: number) => number, since: number | null][] = [
  ['what was never low has not recovered', () => 1, null],
  ['what is still low has not recovered', (ago) => (ago > 3 ? 1 : 0.4), null],
  ['what was low until three hours ago has recovered since', (ago) => (ago > 6 || ago <= 3 ? 1 : 0.4), 3],
  [
    'what was usual for two hours between two falls has recovered for these',
    (ago) => (ago > 8 || (ago <= 5 && ago > 3) ? 1 : 0.4),
    5,
  ],
  ['a good quarter of an hour in a fall is no recovery', (ago) => (ago > 6 || (ago <= 3 && ago > 2.7) ? 1 : 0.4), null],
]
for (const [what, levelAt, since] of RECOVERIES) {
  test(what, () => assert.equal(hoursAgo(recoveredSince(courseOf(levelAt), 2)), since))
}

test('a night of nothing is quiet: a fall may as well have begun at its other end', () => {
  const day = courseOf((ago) => (ago > 4 ? 1 : 0.5))
  const isNight = (time: number) => TO - time > 4 * HOUR && TO - time <= 13 * HOUR
  let [expected, measured] = [0, 0]
  const sums = day.from.map((time, index) => {
    const own = isNight(time) ? 0.02 : 100
    expected += own
    measured += isNight(time) ? 0 : (day.measured[index] ?? 0) - (day.measured[index - 1] ?? 0)
    return { expected, measured }
  })
  const course = { ...day, expected: sums.map((one) => one.expected), measured: sums.map((one) => one.measured) }
  const onset = onsetOf(course, 2, 0.01)
  const near = (onset?.near ?? []).map((time) => (TO - time) / HOUR)
  assert.ok(Math.max(...near) >= 13 && Math.min(...near) <= 4.1, `${Math.min(...near)} to ${Math.max(...near)}`)
})
