import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR } from '../../src/lib/index.ts'
import type { HourlySeries } from '../../src/reconciliation/compare.ts'
import { fitTimeShift, MOST_SHIFT_HOURS, shiftInWords } from '../../src/reconciliation/time-shift.ts'
import { NOW } from '../../testkit/clock.ts'
import { Random } from '../../testkit/random.ts'

const DAYS = 14
const FROM = NOW - DAYS * DAY
const REACH = MOST_SHIFT_HOURS * HOUR
/** The reference ends early enough for every shift. */
const UNTIL = NOW + REACH + HOUR

/** A shop's orders by the hour: few at night, by chance a half to one and a half times as many. */
function orders(random: Random, perHour: number): Map<number, number> {
  const counted = new Map<number, number>()
  for (let hour = FROM - REACH; hour < UNTIL; hour += HOUR) {
    const daily = 1 + 0.9 * Math.sin((2 * Math.PI * (hour % DAY)) / DAY)
    counted.set(hour, Math.round(perHour * daily * random.between(0.5, 1.5)))
  }
  return counted
}

/** The same events as a source has them that calls 14:00 what is 14:00 plus the shift. */
function shifted(counted: ReadonlyMap<number, number>, hours: number, share = 1): Map<number, number> {
  const reference = new Map<number, number>()
  for (let hour = FROM; hour < NOW; hour += HOUR) {
    reference.set(hour, Math.round((counted.get(hour - hours * HOUR) ?? 0) / share))
  }
  return reference
}

const seriesOf = (over: Partial<HourlySeries>): HourlySeries => ({
  reference: new Map(),
  counted: new Map(),
  isUnknown: () => false,
  from: FROM - REACH,
  ...over,
})

for (const hours of [-14, -5, -1, 0, 1, 2, 14]) {
  test(`a source that is ${hours} h off is found to be`, () => {
    for (const [seed, perHour] of [3, 40, 5_000].entries()) {
      const counted = orders(new Random(seed), perHour)
      const shift = fitTimeShift(seriesOf({ counted, reference: shifted(counted, hours, 0.8) }), UNTIL)
      assert.equal(shift?.hours, hours, `${perHour} an hour`)
    }
  })
}

test('two series that have nothing to do with each other have no clear shift', () => {
  for (let seed = 0; seed < 20; seed++) {
    const random = new Random(seed)
    const noise = () => new Map([...orders(random, 40).keys()].map((hour) => [hour, random.below(40)]))
    assert.equal(fitTimeShift(seriesOf({ counted: noise(), reference: noise() }), UNTIL), null)
  }
})

test('two shops with the same habits are not enough to tell the hour', () => {
  // The curve of the day is the same and what happens is not: the neighbours of the best hour are nearly as good.
  const [counted, other] = [orders(new Random(1), 40), orders(new Random(2), 40)]
  assert.equal(fitTimeShift(seriesOf({ counted, reference: shifted(other, 0) }), UNTIL), null)
})

test('a level, too few hours, and hours in which this service was down tell nothing', () => {
  const counted = orders(new Random(3), 40)
  const reference = shifted(counted, 1)
  const level = new Map([...reference.keys()].map((hour) => [hour, 7]))
  assert.equal(fitTimeShift(seriesOf({ counted, reference: level }), UNTIL), null)
  const few = new Map([...reference].slice(0, 47))
  assert.equal(fitTimeShift(seriesOf({ counted, reference: few }), UNTIL), null)
  assert.equal(fitTimeShift(seriesOf({ counted, reference, isUnknown: () => true }), UNTIL), null)
  // What is not over yet is not counted, which is not 0.
  assert.equal(fitTimeShift(seriesOf({ counted, reference }), FROM), null)
})

test('a sale that lasts an hour does not decide', () => {
  const counted = orders(new Random(4), 40)
  const reference = shifted(counted, 0)
  // A burst that the source books an hour later.
  counted.set(FROM + 5 * DAY, 20_000)
  reference.set(FROM + 5 * DAY + HOUR, 20_000)
  reference.set(FROM + 5 * DAY, 30)
  assert.notEqual(fitTimeShift(seriesOf({ counted, reference }), UNTIL)?.hours, 1)
})

test('a shift is said in words, with the zone where it is that', () => {
  const shift = { hours: 1, correlation: 0.99, nextCorrelation: 0.8, comparedHours: 168 }
  assert.equal(
    shiftInWords(shift, 'Europe/Berlin', [HOUR]),
    "The source's hours appear to be shifted by +1 h, like Europe/Berlin: are they in local time? Send hours in UTC",
  )
  assert.equal(
    shiftInWords({ ...shift, hours: -5 }, 'Europe/Berlin', [HOUR]),
    "The source's hours appear to be shifted by −5 h: are they in local time? Send hours in UTC",
  )
  assert.equal(shiftInWords({ ...shift, hours: 0 }, 'Europe/Berlin', [HOUR]), null)
  assert.equal(shiftInWords(null, 'Europe/Berlin', [HOUR]), null)
})
