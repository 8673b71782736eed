import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  fieldContract,
  learnParameter,
  type OwnParameter,
  PARAMETER,
  QUALITY_DEFAULTS,
} from '../../src/detection/index.ts'
import { HOUR, isoTime } from '../../src/lib/index.ts'
import { bucketsUntil, NOON, SLOT } from './support.ts'

const count = (present: number, total: number) => ({ [PARAMETER]: { present, total } })

/** A parameter of purchases: the last slots, after a week of hours with 90 of 100. */
const coupon = (recent: readonly ReturnType<typeof count>[], usual = count(90, 100)): OwnParameter => ({
  name: 'coupon',
  history: {
    event_name: 'purchase',
    recent: bucketsUntil(NOON, SLOT, recent.length).map((range, index) => ({
      ...range,
      fields: recent[index] ?? count(0, 0),
    })),
    past: learnParameter(
      { usual: bucketsUntil(NOON - 24 * HOUR, HOUR, 168).map((range) => ({ ...range, fields: usual })) },
      QUALITY_DEFAULTS,
    ),
  },
})

const judge = (parameter: OwnParameter, min_percent?: number) =>
  fieldContract({ now: NOON, parameters: [parameter] }, { ...QUALITY_DEFAULTS, min_percent })

const CASES: readonly [what: string, present: number, minPercent: number | undefined, status: string][] = [
  ['as often as usual', 9, undefined, 'ok'],
  ['on a fifth of the events, 90 % being usual', 2, undefined, 'warning'],
  ['gone', 0, undefined, 'critical'],
  ['as often as usual, and 80 % are required', 9, 80, 'ok'],
  ['on 60 %, which is no loss, and 95 % are required', 6, 95, 'warning'],
  ['on 60 %, and nothing is required', 6, undefined, 'ok'],
  ['gone, and 95 % are required', 0, 95, 'critical'],
]
for (const [what, present, minPercent, status] of CASES) {
  test(`a parameter that is ${what}, is ${status}`, () => {
    const verdict = judge(coupon([...Array(18).fill(count(9, 10)), ...Array(12).fill(count(present, 10))]), minPercent)
    assert.equal(verdict.status, status)
    assert.equal(verdict.details.judged, 1)
    const subject = { event_name: 'purchase', field: 'coupon' }
    if (status === 'ok') assert.deepEqual(verdict.fine, [subject])
    else assert.deepEqual(verdict.details.findings[0]?.subject, subject)
  })
}

test('a parameter that is lost says since when, one that is required how often', () => {
  const slots = [...Array(18).fill(count(9, 10)), ...Array(6).fill(count(0, 10))]
  const [lost] = judge(coupon(slots)).details.findings
  assert.match(lost?.message ?? '', /^“coupon” is present in 0 % of \d+ “purchase” events in \d+ min; usually 90 %$/)
  assert.equal(lost?.since, isoTime(NOON - 6 * SLOT))
  const [broken] = judge(coupon(Array(24).fill(count(6, 10))), 99).details.findings
  assert.match(broken?.message ?? '', /^“coupon” is present in 60 % of \d+ “purchase” events in .+; 99 % are required$/)
})

test('what is required is judged without days to compare with, and of few events not at all', () => {
  const young = (slots: readonly ReturnType<typeof count>[]): OwnParameter => {
    const { name, history } = coupon(slots)
    return { name, history: { ...history, past: learnParameter({ usual: [] }, QUALITY_DEFAULTS) } }
  }
  assert.equal(judge(young(Array(6).fill(count(0, 10))), 95).status, 'critical')
  assert.equal(judge(young(Array(6).fill(count(0, 10)))).details.judged, 0)
  assert.equal(judge(young([count(0, 29)]), 95).details.judged, 0)
})

test('one that is missing among few events is chance, and one that is always there breaks no rule of 100 %', () => {
  assert.equal(judge(coupon([count(28, 30)], count(98, 100)), 95).status, 'ok')
  for (const total of [30, 31, 97, 300, 1_001, 3_000]) {
    assert.equal(judge(coupon([count(total, total)], count(100, 100)), 100).status, 'ok', `${total}`)
  }
})
