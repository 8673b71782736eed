import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comesSingly, type Multiples, REPEAT_HOURS, repeatOf } from '../../src/detection/repeats.ts'

const ONE_BY_ONE: Multiples = { minutes: 2, twos: 0, threes: 0 }
const TWO_AT_A_TIME: Multiples = { minutes: 2, twos: 2, threes: 0 }
const THREE_AT_A_TIME: Multiples = { minutes: 2, twos: 0, threes: 2 }
const STRADDLING: Multiples = { minutes: 2, twos: 1, threes: 0 }
const NONE: Multiples = { minutes: 0, twos: 0, threes: 0 }
const MANY: Multiples = { minutes: 60, twos: 30, threes: 20 }

const times = (hours: number, minutes: Multiples): Multiples[] => Array.from({ length: hours }, () => minutes)

/** The newest hours, after others that were all alike. */
const after = (before: Multiples, ...newest: Multiples[]): Multiples[] => [
  ...newest,
  ...times(REPEAT_HOURS.now + REPEAT_HOURS.before - newest.length, before),
]

for (const [what, hours, expected, chance] of [
  ['in ten pairs', times(5, TWO_AT_A_TIME), 2, 2 / 2 ** 10],
  ['in ten pairs, of which one straddles the full minute', [STRADDLING, ...times(4, TWO_AT_A_TIME)], 2, 22 / 2 ** 10],
  ['ten times three at a time', times(5, THREE_AT_A_TIME), 3, 2 / 3 ** 10],
] as const) {
  test(`an event that came ${what} was sent ${expected} times, as chance hardly does`, () => {
    const repeat = repeatOf(after(ONE_BY_ONE, ...hours), 5)
    assert.equal(repeat?.times, expected)
    assert.ok(Math.abs((repeat?.chance ?? 0) - Math.log(chance)) < 1e-9, `${repeat?.chance}`)
  })
}

for (const [what, minutes] of [
  ['one by one, as the day before', after(ONE_BY_ONE)],
  ['in pairs, as the day before', after(TWO_AT_A_TIME)],
  ['in pairs after a day with less than twenty minutes', after(NONE, ...times(5, TWO_AT_A_TIME))],
  ['not at all', after(ONE_BY_ONE, ...times(5, NONE))],
  ['many a minute', after(MANY)],
] as const) {
  test(`of an event that came ${what} nothing can be said`, () =>
    assert.ok((repeatOf(minutes, 5)?.chance ?? 0) > Math.log(0.05)))
}

test('more of what comes one by one is not sent twice, however many come', () => {
  const multiples = (rate: number, of: number): number => {
    let share = 0
    let term = Math.exp(-rate)
    for (let count = 1; count < 200; count++) {
      term *= rate / count
      if (count % of === 0) share += term
    }
    return share
  }
  const poisson = (rate: number): Multiples => ({
    minutes: Math.round(60 * (1 - Math.exp(-rate))),
    twos: Math.round(60 * multiples(rate, 2)),
    threes: Math.round(60 * multiples(rate, 3)),
  })
  for (const rate of [0.05, 0.3, 1, 3, 20]) {
    const chance = repeatOf(after(poisson(0.5), ...times(8, poisson(rate))), 8)?.chance ?? 0
    assert.ok(chance > Math.log(0.05), `${rate} a minute: ${chance}`)
  }
})

const of = (minutes: number, twos: number): Multiples => ({ minutes, twos, threes: 0 })
for (const [what, newest, isOver] of [
  ['three single ones', [of(3, 0)], true],
  ['a pair that straddles the full minute', [of(2, 0)], false],
  ['three single ones before two pairs', [of(2, 2), of(3, 0)], false],
  ['nothing for two hours, before which were four single ones', [NONE, NONE, of(4, 0)], true],
] as const) {
  test(`after ${what} an event ${isOver ? 'comes singly again' : 'may still come in pairs'}`, () =>
    assert.equal(comesSingly(after(TWO_AT_A_TIME, ...newest), 12, 2), isOver))
}

test('only the hours that are judged say that an event comes singly again', () => {
  assert.equal(comesSingly(after(ONE_BY_ONE, ...times(4, TWO_AT_A_TIME)), 4, 2), false)
})
