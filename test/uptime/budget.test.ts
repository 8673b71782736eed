import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { budgetOf, burnOf, leftInWords } from '../../src/uptime/budget.ts'
import type { SiteEvidence } from '../../src/uptime/evidence.ts'
import { NOW } from '../../testkit/clock.ts'

const day = (critical: number) => ({
  day: '2026-11-20',
  from: 0,
  to: DAY,
  times: { ok: DAY - critical, warning: 0, critical, maintenance: 0, unknown: 0 },
  executions: null,
  successes: null,
  isFinal: true,
})

test('a target leaves a budget of 30 days, and critical time spends it', () => {
  const days = [day(20 * HOUR), ...Array.from({ length: 29 }, () => day(0)), day(HOUR)]
  const budget = budgetOf(99.5, days)
  assert.deepEqual([budget.budget, budget.spent], [3.6 * HOUR, HOUR], 'what is older than 30 days is forgotten')
  assert.equal(leftInWords(budget), '72 % of 3 h 36 min left')
  const over = budgetOf(99.9, [day(HOUR)])
  assert.deepEqual([over.budget, over.left], [0.72 * HOUR, 0])
  assert.equal(leftInWords({ ...budget, left: 0.004 }), '0.1 % of 3 h 36 min left')
  assert.equal(leftInWords(over), 'used up: 60 min of 43 min')
  assert.equal(leftInWords(budgetOf(99.5, [day(3.6 * HOUR)])), 'used up: 3 h 36 min of 3 h 36 min')
})

/** Critical from so many minutes ago until so many minutes ago. */
const critical = (...spans: readonly (readonly [number, number])[]): SiteEvidence => ({
  outages: [],
  ran: [{ from: NOW - 4 * DAY, to: NOW }],
  judged: [],
  normJudged: [],
  maintained: [],
  critical: spans.map(([from, to]) => ({ from: NOW - from * MINUTE, to: NOW - to * MINUTE })),
  warning: [],
  unchecked: [],
})

/** With 99.5 % an hour allows 18 s: 14.4 times that are 4.32 min. */
const CASES: readonly (readonly [string, SiteEvidence, string | null])[] = [
  ['nothing is critical', critical(), null],
  ['four minutes of an hour are not enough', critical([4, 0]), null],
  ['five minutes are, while they last', critical([5, 0]), 'critical 60'],
  ['what is over for five minutes burns no more', critical([30, 6]), 'critical 360'],
  ['of six hours 10.8 min are enough, for half an hour', critical([40, 28]), 'critical 360'],
  ['and over after it', critical([60, 31]), 'warning 4320'],
  ['three days allow 21.6 min', critical([320, 300]), null],
  ['of which more is a warning while some of it is in the last six hours', critical([330, 300]), 'warning 4320'],
  ['and none when it is longer ago', critical([430, 361]), null],
]

for (const [title, evidence, expected] of CASES) {
  test(`burn: ${title}`, () => {
    const burn = burnOf({ target: 99.5 }, evidence, NOW)
    assert.equal(burn === null ? null : `${burn.severity} ${burn.long / MINUTE}`, expected)
  })
}

test('burn: time that no one watched and planned maintenance spend nothing', () => {
  const evidence = critical([60, 0])
  const all = [{ from: NOW - DAY, to: NOW }]
  assert.equal(burnOf({ target: 99.5 }, { ...evidence, outages: all }, NOW), null)
  assert.equal(burnOf({ target: 99.5 }, { ...evidence, maintained: all }, NOW), null)
  assert.ok(burnOf({ target: 99.5 }, evidence, NOW) !== null)
})
