import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BAD_SHARE_DEFAULTS,
  duplicates,
  type FieldCounts,
  type IdentifierField,
  identifierQuality,
  learnDuplicates,
  learnIdentifiers,
  learnValues,
  QUALITY_DEFAULTS,
  valueQuality,
} from '../../src/detection/index.ts'
import { HOUR, isoTime } from '../../src/lib/index.ts'
import { bucketsUntil, NOON, SLOT } from './support.ts'

type Value = 'value_zero' | 'value_invalid' | 'currency_invalid' | 'items_empty'

/** Events of a slot, and how many of them have each fault. */
const values = (total: number, faults: Partial<Record<Value, number>> = {}): FieldCounts<Value> => {
  const of = (field: Value) => ({ present: faults[field] ?? 0, total })
  return {
    value_zero: of('value_zero'),
    value_invalid: of('value_invalid'),
    currency_invalid: of('currency_invalid'),
    items_empty: of('items_empty'),
  }
}

const weekOf = <F extends string>(fields: FieldCounts<F>) =>
  bucketsUntil(NOON - 24 * HOUR, HOUR, 168).map((range) => ({ ...range, fields }))

/** Purchases of two hours by the slot, after a week of hours. */
function judge(recent: readonly FieldCounts<Value>[], usual: FieldCounts<Value>) {
  const kind = {
    event_name: 'purchase',
    recent: bucketsUntil(NOON, SLOT, recent.length).map((range, index) => ({
      ...range,
      fields: recent[index] ?? usual,
    })),
    past: learnValues({ usual: weekOf(usual) }, BAD_SHARE_DEFAULTS),
  }
  return valueQuality({ now: NOON, kinds: [kind] }, BAD_SHARE_DEFAULTS)
}

const CASES: readonly [what: string, faults: Partial<Record<Value, number>>, usual: number, status: string][] = [
  ['on all events', { value_zero: 10 }, 0, 'critical'],
  ['on a fifth of the events', { value_zero: 2 }, 0, 'warning'],
  ['as often as usual', { value_zero: 2 }, 2, 'ok'],
  ['half as often again as usual', { value_zero: 3 }, 2, 'ok'],
  ['nowhere', {}, 0, 'ok'],
]
for (const [what, faults, usual, status] of CASES) {
  test(`a fault that is ${what}, ${usual * 10} % being usual, is ${status}`, () => {
    const calm = values(10, { value_zero: usual })
    const verdict = judge([...Array(18).fill(calm), ...Array(6).fill(values(10, faults))] as FieldCounts<Value>[], calm)
    assert.equal(verdict.status, status)
    assert.equal(verdict.details.judged, 4)
    const [finding] = verdict.details.findings
    if (status === 'ok') return
    assert.deepEqual(finding?.subject, { event_name: 'purchase', field: 'value_zero' })
    assert.match(finding?.message ?? '', /^“value” is 0 on \d+ % of \d+ “purchase” events in \d+ min; usually 0 %$/)
    assert.equal(finding?.since, isoTime(NOON - 6 * SLOT))
  })
}

test('a few faulty events are chance, and too few are not judged', () => {
  assert.equal(judge([values(30, { currency_invalid: 3 })], values(10)).status, 'ok')
  assert.equal(judge([values(29, { currency_invalid: 29 })], values(10)).details.judged, 0)
})

for (const [what, newest, status] of [
  ['still on the newest events', values(2, { items_empty: 1 }), 'warning'],
  ['on none of the newest events', values(2), 'ok'],
] as const) {
  test(`a fault of three hours on a rare event is ${status} where it is ${what}`, () => {
    const calm = values(2)
    const spoilt = values(2, { items_empty: 1 })
    const recent = [...Array(200).fill(calm), ...Array(36).fill(spoilt), ...Array(24).fill(newest)]
    assert.equal(judge(recent as FieldCounts<Value>[], calm).status === 'ok' ? 'ok' : 'warning', status)
  })
}

type Duplicate = 'event_id' | 'transaction_duplicate'
const ids = (event_id: number, transaction_duplicate: number): FieldCounts<Duplicate> => ({
  event_id: { present: event_id, total: 10 },
  transaction_duplicate: { present: transaction_duplicate, total: 10 },
})
const CONFIG = { ...QUALITY_DEFAULTS, ...BAD_SHARE_DEFAULTS }
const judgeIds = (last: FieldCounts<Duplicate>) => {
  const usual = ids(10, 0)
  const kind = {
    event_name: 'purchase',
    recent: bucketsUntil(NOON, SLOT, 24).map((range, index) => ({ ...range, fields: index < 12 ? usual : last })),
    past: learnDuplicates({ usual: weekOf(usual) }, CONFIG),
  }
  return duplicates({ now: NOON, kinds: [kind] }, CONFIG)
}

test('event ids that are lost are critical', () => {
  const { status, details } = judgeIds(ids(0, 0))
  assert.deepEqual([status, details.findings.map(({ subject }) => subject.field)], ['critical', ['event_id']])
})

test('purchases that each come twice are found', () => {
  const { status, details } = judgeIds(ids(10, 5))
  assert.deepEqual(
    [status, details.findings.map(({ subject }) => subject.field)],
    ['critical', ['transaction_duplicate']],
  )
})

test('events with their ids and transactions of their own are fine', () => {
  assert.equal(judgeIds(ids(10, 0)).status, 'ok')
})

/** Purchases with all that vendors recognise visitors by, among events of their server that have nothing of it. */
const identifiers = (total: number, present: number): FieldCounts<IdentifierField> => {
  const of = { present, total }
  return { client_id: of, fbp: of, fbc: of, click_id: of, ip: of, user_agent: of }
}
for (const [event_name, status] of [
  [null, 'ok'],
  ['purchase', 'warning'],
] as const) {
  test(`identifiers that five times as many events thin out are ${status} on ${event_name ?? 'batches, which mix all events'}`, () => {
    const kind = {
      event_name,
      recent: bucketsUntil(NOON, SLOT, 48).map((range) => ({ ...range, fields: identifiers(500, 90) })),
      past: learnIdentifiers({ usual: weekOf(identifiers(1_200, 1_080)), earlier: [] }, QUALITY_DEFAULTS),
    }
    const verdict = identifierQuality({ now: NOON, kinds: [kind] }, QUALITY_DEFAULTS)
    assert.equal(verdict.status, status)
    assert.equal(verdict.details.judged, 6)
  })
}
