import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unusualStretch } from '../../src/detection/unusual-share.ts'
import { type FieldCount, type PresenceBucket, usualShare } from '../../src/detection/usual-share.ts'
import { HOUR } from '../../src/lib/index.ts'
import { bucketsUntil, NOON, SLOT } from './support.ts'

type Field = 'field'
const HOURS = 168

/** A week of hours that ends a day before noon. @param of the hour, 0 being the oldest */
const week = (of: (hour: number) => FieldCount): PresenceBucket<Field>[] =>
  bucketsUntil(NOON - 24 * HOUR, HOUR, HOURS).map((range, hour) => ({ ...range, fields: { field: of(hour) } }))

/** The day up to noon in slots of five minutes. @param of how many hours before noon the slot began */
const day = (of: (hoursAgo: number) => FieldCount): PresenceBucket<Field>[] =>
  bucketsUntil(NOON, SLOT, 288).map((range) => ({ ...range, fields: { field: of((NOON - range.from) / HOUR) } }))

const half = { times: 0.5 }
const of100 = (present: number): FieldCount => ({ present, total: 100 })

const FAULTS: readonly [what: string, from: number, to: number][] = [
  ['at the beginning of the week', 0, 30],
  ['in its middle', 60, 96],
  ['at its end, and perhaps still', 140, 168],
]
for (const [what, from, to] of FAULTS) {
  test(`a fault ${what} is left out of what is usual`, () => {
    const known = usualShare(
      'field',
      week((hour) => of100(hour >= from && hour < to ? 5 : 60)),
      half,
    )
    assert.equal(known.rate, 0.6)
    assert.equal(known.total, 100 * (HOURS - (to - from)))
    assert.ok(known.together < 2)
  })
}

test('a fault of some hours on a rare event is left out, too', () => {
  const known = usualShare(
    'field',
    week((hour) => ({ present: hour >= 150 ? 0 : 2, total: 2 })),
    half,
  )
  assert.deepEqual([known.rate, known.together], [1, 1])
})

test('what nearly half of the week was like is usual, and no fault', () => {
  const known = usualShare(
    'field',
    week((hour) => of100(hour < 80 ? 10 : 60)),
    half,
  )
  assert.equal(known.total, 100 * HOURS)
})

test('where a fault is too many rather than too few, hours with too many are left out', () => {
  const known = usualShare(
    'field',
    week((hour) => of100(hour >= 100 && hour < 110 ? 50 : 1)),
    { times: 3, least: 0.05 },
  )
  assert.equal(known.rate, 0.01)
})

test('nothing is known of a week without events', () => {
  const known = usualShare('field', [], half)
  assert.deepEqual([known.total, known.rate, known.leastLevel], [0, 0, 1])
})

test('what is usual is known by the hour of the day', () => {
  const rhythm = week((hour) => of100(hour % 24 < 12 ? 60 : 20))
  const { rateAt, together, leastLevel } = usualShare('field', rhythm, { times: 0.1 })
  const [first] = rhythm
  assert.ok(first !== undefined)
  assert.ok(Math.abs(rateAt(first.from + 8 * 24 * HOUR) - 0.6) < 0.05)
  assert.ok(Math.abs(rateAt(first.from + 8 * 24 * HOUR + 12 * HOUR) - 0.2) < 0.05)
  assert.ok(together < 4)
  assert.ok(leastLevel > 0.95)
})

test('the day with the least says how low it may be: campaigns end by themselves', () => {
  const { leastLevel } = usualShare(
    'field',
    week((hour) => of100(hour < 48 ? 10 : 16)),
    half,
  )
  assert.ok(leastLevel < 0.8)
})

const STEADY = week(() => of100(60))

/** @param recent share of the events that has the field, by how many hours ago */
const judge = (recent: (hoursAgo: number) => FieldCount) => {
  const usual = usualShare('field', STEADY, half)
  const isBad = (share: number, rate: number) => share < 0.5 * rate
  return unusualStretch('field', day(recent), NOON, { usual, isBad, budget: 0.002 })
}

test('a loss is seen in the stretch that chance explains least, which is the whole of it', () => {
  const seen = judge((hoursAgo) => ({ present: hoursAgo <= 5 ? 1 : 6, total: 10 }))
  assert.equal(seen?.since, NOON - 5 * HOUR)
  assert.deepEqual([seen?.stretch.present, seen?.stretch.total], [60, 600])
})

test('a loss to under half is found though it may be half', () => {
  assert.equal(judge((hoursAgo) => ({ present: hoursAgo <= 3 ? 1 : 3, total: 5 }))?.since, NOON - 3 * HOUR)
})

test('a third less is no loss, however sure it is', () => {
  assert.equal(judge(() => ({ present: 400, total: 1_000 }))?.since, null)
})

test('fewer than 30 events prove nothing', () => {
  assert.equal(
    judge((hoursAgo) => ({ present: 0, total: hoursAgo <= 2 ? 1 : 0 })),
    null,
  )
})

for (const [what, newest] of [
  ['an hour', 1],
  ['six hours', 6],
  ['twenty hours', 20],
] as const) {
  test(`a loss that ended ${what} ago is over, however little of it is left`, () => {
    assert.equal(judge((hoursAgo) => ({ present: hoursAgo <= newest ? 6 : 0, total: 10 }))?.since, null)
  })
}

test('a loss that is over stays so while few events come, even if one of them is without the field', () => {
  const recent = day((hoursAgo) => ({ present: hoursAgo > 10 ? 0 : 3, total: hoursAgo > 10 || hoursAgo < 8 ? 5 : 0 }))
  const newest = recent.map((bucket, index) =>
    index < 286 ? (index > 190 ? { ...bucket, fields: { field: { present: 0, total: 0 } } } : bucket) : bucket,
  )
  const last = newest.at(-1)
  assert.ok(last !== undefined)
  const after = [
    ...newest.slice(0, -3),
    ...[20, 0].map((present) => ({ ...last, fields: { field: { present, total: present === 0 ? 3 : 24 } } })),
  ]
  const usual = usualShare('field', STEADY, half)
  const isBad = (share: number, rate: number) => share < 0.5 * rate
  assert.equal(unusualStretch('field', after, NOON, { usual, isBad, budget: 0.002 })?.since, null)
})

test('a second loss after one that is over is found by what came since', () => {
  const seen = judge((hoursAgo) => ({ present: hoursAgo <= 2 || hoursAgo > 14 ? 0 : 6, total: 10 }))
  assert.equal(seen?.since, NOON - 2 * HOUR)
  assert.equal(seen?.stretch.total, 240)
})
