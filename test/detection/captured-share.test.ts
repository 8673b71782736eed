import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CAPTURED_DEFAULTS, type CapturedDay, canJudge, capturedShare } from '../../src/detection/index.ts'
import { DAY, isoTime } from '../../src/lib/index.ts'
import { NOW } from '../../testkit/clock.ts'
import { Random } from '../../testkit/random.ts'

const MIDNIGHT = NOW - (NOW % DAY)

/** Days up to yesterday, each with what was counted here and what the source counted. */
const daysOf = (pairs: readonly (readonly [counted: number, reference: number])[]): CapturedDay[] =>
  pairs.map(([counted, reference], index) => {
    const from = MIDNIGHT - (pairs.length - index) * DAY
    return { day: isoTime(from).slice(0, 10), from, counted, reference }
  })

const judge = (
  pairs: readonly (readonly [number, number])[],
  min_captured_percent = 90,
  hint: string | null = null,
  max_captured_percent = 100,
) =>
  capturedShare(
    { days: daysOf(pairs), source: 'shop', event: 'purchase', hint },
    { min_captured_percent, max_captured_percent },
  )

test('a share that is certainly too small is a warning, and critical under half of what is wanted', () => {
  const { status, message, details } = judge([
    [480, 500],
    [400, 500],
  ])
  assert.equal(status, 'warning')
  assert.equal(
    message,
    '400 of 500 “purchase” that “shop” counted on 2026-11-19 were counted here, 80 %; at least 90 % should be',
  )
  const [finding] = details.findings
  assert.deepEqual(finding?.subject, { event_name: 'purchase' })
  assert.deepEqual(
    [finding?.measured, finding?.band, finding?.since],
    [0.8, { low: 0.9, high: 1.02 }, isoTime(MIDNIGHT - DAY)],
  )
  assert.equal(finding?.evidence['2026-11-19'], '400 of 500')
  assert.equal(judge([[10, 500]]).status, 'critical')
  assert.equal(judge([[470, 500]]).status, 'ok')
})

test('few orders prove little: the bounds are exact', () => {
  // P(Bin(20, 0.9) ≤ 12) is 0.0004, P(Bin(20, 0.9) ≤ 13) 0.0024.
  assert.equal(judge([[13, 20]]).status, 'ok')
  assert.equal(judge([[12, 20]]).status, 'warning')
  // None of two comes by chance once in a hundred times, none of four once in ten thousand.
  assert.equal(canJudge(daysOf([[0, 2]]), CAPTURED_DEFAULTS), false)
  assert.equal(canJudge(daysOf([[0, 4]]), CAPTURED_DEFAULTS), true)
  assert.equal(judge([[0, 2]]).details.judged, 0)
  assert.equal(judge([[0, 4]]).status, 'warning')
  assert.equal(judge([[0, 12]]).status, 'critical')
})

test('a small shop is judged by as many days as have a hundred orders, a large one by the newest', () => {
  const quiet = Array.from({ length: 7 }, () => [14, 20] as const)
  const { status, message } = judge(quiet)
  assert.equal(status, 'warning')
  assert.match(message, /^70 of 100 “purchase” that “shop” counted from 2026-11-15 to 2026-11-19 /)
  // What was wrong the day before is over.
  assert.equal(
    judge([
      [0, 5_000],
      [4_900, 5_000],
    ]).status,
    'ok',
  )
  // And what is wrong since yesterday is not hidden by the days before.
  assert.equal(
    judge([
      [60, 60],
      [0, 60],
    ]).status,
    'critical',
  )
})

test('a clearly larger share is a warning that events are counted twice', () => {
  assert.equal(judge([[510, 500]]).status, 'ok')
  assert.equal(judge([[540, 500]]).status, 'ok', 'the noise of 500')
  const { status, message } = judge([[1_000, 500]])
  assert.equal(status, 'warning')
  assert.match(message, /were counted here, 200 %: more than it has, so some are counted twice here, or missing there$/)
  // Hardly anything of millions is chance, but 1 % is no double.
  assert.equal(judge([[1_010_000, 1_000_000]]).status, 'ok')
  assert.equal(judge([[1_030_000, 1_000_000]]).status, 'warning')
  assert.equal(judge([[50, 0]]).status, 'warning')
  assert.equal(judge([[3, 0]]).details.judged, 0)
})

test('of a source that leaves some out, more than all is fine up to the share that is set', () => {
  const withMost = (counted: number) => judge([[counted, 500]], 90, null, 130)
  assert.equal(withMost(650).status, 'ok')
  assert.equal(withMost(700).status, 'ok', 'the noise of 650')
  const { status, message, details } = withMost(800)
  assert.equal(status, 'warning')
  assert.match(message, /160 %: more than 130 %, so some are counted twice here, or missing there$/)
  assert.deepEqual(details.findings[0]?.band, { low: 0.9, high: 1.32 })
})

test('large counts are judged by their bounds too, without adding up their tails', () => {
  assert.equal(judge([[899_500, 1_000_000]]).status, 'ok')
  assert.equal(judge([[898_000, 1_000_000]]).status, 'warning')
  assert.equal(judge([[1e9, 24e9]]).status, 'critical')
})

test('what may explain it follows what is bad, and nothing follows what is fine', () => {
  assert.match(judge([[300, 500]], 90, 'Is it local time?').message, /at least 90 % should be\. Is it local time\?$/)
  assert.doesNotMatch(judge([[490, 500]], 90, 'Is it local time?').message, /local/)
})

test('a shop that is captured as it should be is hardly ever warned of', () => {
  const random = new Random(21)
  let warnings = 0
  for (let run = 0; run < 2_000; run++) {
    const pairs = Array.from({ length: 7 }, () => {
      const reference = random.below(80)
      let counted = 0
      for (let order = 0; order < reference; order++) if (random.chance(0.9)) counted++
      return [counted, reference] as const
    })
    if (judge(pairs).status !== 'ok') warnings++
  }
  // Two windows at one in a thousand each.
  assert.ok(warnings <= 8, `${warnings} of 2,000`)
})

test('no day, no verdict', () => assert.equal(judge([]).details.judged, 0))
