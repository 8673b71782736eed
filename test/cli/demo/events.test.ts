import assert from 'node:assert/strict'
import { test } from 'node:test'
import { historyBegin, rhythmOf } from '../../../src/cli/demo/profile.ts'
import { logNormal, poisson, type Random, seededRandom, weighted } from '../../../src/cli/demo/random.ts'
import { COFFEE, FASHION, FURNITURE, OUTDOOR, SITES } from '../../../src/cli/demo/world.ts'
import { DAY, HOUR, MINUTE } from '../../../src/lib/index.ts'
import { lastDay } from '../../../src/today/weeks.ts'

const MONDAY = Date.parse('2026-11-16T00:00:00Z')

for (const site of SITES) {
  test(`${site.name} has its mean over a week`, () => {
    const rhythm = rhythmOf(site)
    let sum = 0
    for (let time = MONDAY; time < MONDAY + 7 * DAY; time += MINUTE) sum += rhythm(time)
    const mean = sum / ((7 * DAY) / MINUTE)
    assert.ok(Math.abs(mean / site.eventsPerMinute - 1) < 0.001, `${mean}`)
  })
}

/** The busiest minute of a Monday in UTC: the zone's busiest local hour. */
const BUSIEST = [
  { site: OUTDOOR, at: '19:00' },
  { site: FURNITURE, at: '01:00' },
  { site: FASHION, at: '15:30' },
  { site: COFFEE, at: '08:00' },
]

for (const { site, at } of BUSIEST) {
  test(`${site.name} in ${site.timezone} is busiest at ${at} UTC`, () => {
    const rhythm = rhythmOf(site)
    const minutes = Array.from({ length: DAY / MINUTE }, (_, n) => MONDAY + DAY + n * MINUTE)
    const busiest = minutes.reduce((best, minute) => (rhythm(minute) > rhythm(best) ? minute : best))
    assert.equal(new Date(busiest).toISOString().slice(11, 16), at)
  })
}

test('local hours follow the clocks when they change', () => {
  const rhythm = rhythmOf(OUTDOOR)
  const summer = rhythm(Date.parse('2026-10-18T12:00:00Z'))
  const winter = rhythm(Date.parse('2026-10-25T13:00:00Z'))
  assert.equal(summer, winter)
})

test('traffic does not jump from one minute to the next on a weekday', () => {
  for (const site of SITES) {
    const rhythm = rhythmOf(site)
    for (let time = MONDAY + DAY + 6 * HOUR; time < MONDAY + DAY + 18 * HOUR; time += MINUTE) {
      const change = rhythm(time + MINUTE) / rhythm(time)
      assert.ok(change > 0.9 && change < 1.1, `${site.name}: ${change}`)
    }
  }
})

const draws = (random: Random, count: number) => Array.from({ length: count }, () => random())

test('a history of eight days reaches back to what the last day is compared with, at any minute and where clocks went back', () => {
  for (const start of ['2026-11-20T09:00Z', '2026-11-20T09:05Z', '2026-11-20T09:59Z', '2026-10-26T10:04Z']) {
    const at = Date.parse(start)
    assert.ok(historyBegin(at, 8) <= lastDay(at, 'Europe/Berlin').before.from, start)
  }
})

test('the same seed gives the same numbers, another seed others', () => {
  assert.deepEqual(draws(seededRandom('a/1'), 50), draws(seededRandom('a/1'), 50))
  assert.notDeepEqual(draws(seededRandom('a/1'), 5), draws(seededRandom('a/2'), 5))
})

test('numbers are spread evenly from 0 to 1, over one seed and over the first of many', () => {
  const oneSeed = draws(seededRandom('even'), 10_000)
  const manySeeds = Array.from({ length: 10_000 }, (_, n) => seededRandom(`minute/${n * 60_000}`)())
  for (const numbers of [oneSeed, manySeeds]) {
    const tenths = Map.groupBy(numbers, (number) => Math.floor(number * 10))
    assert.deepEqual([...tenths.keys()].sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    for (const those of tenths.values()) assert.ok(Math.abs(those.length - 1_000) < 150, `${those.length} in a tenth`)
  }
})

for (const mean of [0, 0.3, 8, 60]) {
  test(`what happens ${mean} times on average does`, () => {
    const random = seededRandom(`poisson ${mean}`)
    const counts = Array.from({ length: 5_000 }, () => poisson(random, mean))
    const average = counts.reduce((sum, count) => sum + count, 0) / counts.length
    assert.ok(Math.abs(average - mean) <= 0.05 * mean, `${average}`)
  })
}

test('half of the log-normal values are above the median, and none is below 0', () => {
  const random = seededRandom('times')
  const values = Array.from({ length: 5_000 }, () => logNormal(random, 120, 0.6))
  assert.ok(values.every((value) => value > 0))
  assert.ok(Math.abs(values.filter((value) => value > 120).length - 2_500) < 150)
})

const PLACES: readonly [draw: number, place: number][] = [
  [0, 0],
  [0.249, 0],
  [0.25, 2],
  [0.999, 2],
]

for (const [draw, place] of PLACES) {
  test(`a draw of ${draw} among the weights 1, 0 and 3 falls on place ${place}`, () => {
    assert.equal(
      weighted(() => draw, [1, 0, 3]),
      place,
    )
  })
}
