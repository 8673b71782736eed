import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type HourCounts,
  type HourHistory,
  localTime,
  usualCounts,
  usualCountsInTurns,
} from '../../src/detection/index.ts'
import { DAY, HOUR } from '../../src/lib/index.ts'

/** A Wednesday, 12:00 UTC. */
const NOON = Date.UTC(2026, 10, 18, 12)
const WEEKS = 4
const EVERY_DAY = { low: 0.98, high: 1.02 }

/** What is usual at noon, after four weeks of which each hour had so many events. */
function usualAfter(rate: (hour: number) => number, over: Partial<HourHistory> = {}, now = NOON, timezone = 'UTC') {
  const hours = new Map<number, HourCounts>()
  for (let hour = now - WEEKS * 7 * DAY; hour < now; hour += HOUR) {
    hours.set(hour, { total: rate(hour), events: new Map([['view', rate(hour)]]) })
  }
  const history = { hours, knownFrom: now - 60 * DAY, outages: [], special: [], ...over }
  return usualCounts(history, localTime(timezone), now, WEEKS)
}

const wobbly = (hour: number): number => 100 + ((hour / HOUR) % 7)

function isAbout(value: number, wanted: number, { low, high } = EVERY_DAY): void {
  assert.ok(value >= low * wanted && value <= high * wanted, `${value}, not ${wanted}`)
}

test('an hour of the week has what it had', () => {
  const rate = (hour: number) => (Math.floor(hour / HOUR) % 24 === 12 ? 300 : 100)
  const usual = usualAfter(rate)
  isAbout(usual.of(null).expectedIn(NOON), 300)
  isAbout(usual.of('view').expectedIn(NOON + 6 * HOUR), 100)
})

const BEFORE: readonly [what: string, from: number, to: number, factor: number][] = [
  ['a campaign', 9, 7, 4],
  ['an outage', 15, 13.5, 0],
  ['a bad day that is still on', 0.5, 0, 0.1],
]
for (const [what, from, to, factor] of BEFORE) {
  test(`${what} does not change what is usual`, () => {
    const rate = (hour: number) =>
      hour >= NOON - from * DAY && hour < NOON - to * DAY ? factor * wobbly(hour) : wobbly(hour)
    isAbout(usualAfter(rate).of(null).expectedIn(NOON), 103, { low: 0.95, high: 1.06 })
  })
}

test('a campaign of last week does not change what is usual after clocks changed', () => {
  // Clocks changed on 29 March: two weeks of UTC hours before it, and two after it, are no other hours of the week.
  const now = Date.UTC(2026, 3, 15, 10)
  const local = (hour: number) => (hour + (hour < Date.UTC(2026, 2, 29, 1) ? 1 : 2) * HOUR) / HOUR
  const rate = (hour: number) =>
    (hour >= now - 7 * DAY - 6 * HOUR && hour < now - 7 * DAY + 8 * HOUR ? 5 : 1) * (local(hour) % 24 < 7 ? 20 : 200)
  isAbout(usualAfter(rate, {}, now, 'Europe/Berlin').of(null).expectedIn(now), 200, { low: 0.95, high: 1.06 })
})

test('a holiday in each of two weeks does not hide that there was a campaign in another', () => {
  const weeksAgo = (hour: number) => (NOON - hour) / (7 * DAY)
  const isCampaign = (hour: number) => weeksAgo(hour) > 2.7 && weeksAgo(hour) < 3.1
  const special = [8.2, 1.2].map((days) => ({ from: NOON - days * DAY, to: NOON - (days - 1) * DAY }))
  const rate = (hour: number) => (isCampaign(hour) ? 1.9 : 1) * wobbly(hour)
  isAbout(usualAfter(rate, { special }).of(null).expectedIn(NOON), 103, { low: 0.95, high: 1.06 })
})

test('an hour in which the service is down every night has what the hours around it have', () => {
  const rate = (hour: number) => 100 + 10 * ((hour / HOUR) % 24)
  for (const [minutes, wanted] of [
    [5, [130]],
    [65, [135, 135]],
  ] as const) {
    const outages = Array.from({ length: 28 }, (_, day) => {
      const from = NOON - 9 * HOUR - day * DAY
      return { from, to: from + (minutes / 60) * HOUR }
    })
    const usual = usualAfter(rate, { outages }).of(null)
    for (const [hour, count] of wanted.entries()) isAbout(usual.expectedIn(NOON + (15 + hour) * HOUR), count)
  }
  // What a young site has not had yet is no hole.
  const young = usualAfter(rate, { knownFrom: NOON - 34 * HOUR }).of(null)
  assert.equal(young.expectedIn(NOON + 6 * HOUR), Number.NaN)
})

test('a campaign of four days is not taken for the level of the site when it ends', () => {
  const rate = (hour: number) => (hour >= NOON - 5.5 * DAY && hour < NOON - 1.2 * DAY ? 3 : 1) * wobbly(hour)
  isAbout(usualAfter(rate).of(null).expectedIn(NOON), 103, { low: 0.95, high: 1.3 })
})

test('days that are marked as special and hours in which the service was down do not count', () => {
  const off = { from: NOON - 14 * DAY, to: NOON - 2 * DAY }
  const rate = (hour: number) => (hour >= off.from && hour < off.to ? 10 : wobbly(hour))
  for (const over of [{ special: [off] }, { outages: [off] }]) {
    isAbout(usualAfter(rate, over).of(null).expectedIn(NOON), 103, { low: 0.95, high: 1.05 })
  }
})

test('a launch that doubles a site is usual after a week, a fall to a half is not', () => {
  const from = (factor: number) => (hour: number) => (hour >= NOON - 6 * DAY ? factor : 1) * wobbly(hour)
  isAbout(usualAfter(from(2)).of(null).expectedIn(NOON), 206, { low: 0.9, high: 1.1 })
  isAbout(usualAfter(from(0.5)).of(null).expectedIn(NOON), 103, { low: 0.75, high: 1.05 })
})

test('counts that vary more than independent events have bursts or a level that wavers', () => {
  const calm = usualAfter(wobbly).of(null).noise
  // The days differ by a third.
  const days = usualAfter((hour) => wobbly(hour) * (0.7 + 0.3 * (Math.floor(hour / DAY) % 3))).of(null).noise
  assert.ok(days.level(DAY) > 2 * calm.level(DAY), `${calm.level(DAY)} and ${days.level(DAY)}`)
  const bursts = usualAfter((hour) => ((hour / HOUR) % 5 < 2 ? 0 : 10)).of(null).noise
  assert.ok(bursts.burst > 2, `${bursts.burst}`)
})

test('a kind of day that was never seen has a fifth of the other kind', () => {
  const usual = usualAfter(wobbly, { knownFrom: NOON - 2 * DAY })
  const saturday = NOON + 3 * DAY
  isAbout(usual.of(null).expectedIn(NOON), 103, { low: 0.9, high: 1.1 })
  isAbout(usual.of(null).expectedIn(saturday), 103 / 5, { low: 0.9, high: 1.1 })
})

test('an hour that was never seen is not known, and it says which will be', () => {
  const usual = usualAfter(wobbly, { knownFrom: NOON - 20 * HOUR })
  assert.ok(Number.isNaN(usual.of(null).expectedIn(NOON)))
  assert.equal(usual.nextKnownHour(NOON), NOON + 4 * HOUR)
})

test('what came of an event is seen from its first to its last hour', () => {
  const { seen, hourly } = usualAfter((hour) => (hour >= NOON - DAY && hour < NOON - DAY / 2 ? 6 : 0)).of('view')
  assert.deepEqual([seen, hourly], [{ from: NOON - DAY, to: NOON - DAY / 2 - HOUR }, 6])
})

test('what is learnt in turns is the same, and others have their turn after each name', async () => {
  const start = NOON - 28 * DAY
  const hours = new Map(
    Array.from({ length: 28 * 24 }, (_, index) => {
      const views = 40 + (index % 24)
      return [
        start + index * HOUR,
        {
          total: views + 20,
          events: new Map([
            ['page_view', views],
            ['purchase', 20],
          ]),
        },
      ]
    }),
  )
  const history = { hours, knownFrom: start, outages: [], special: [] }
  let turns = 0
  const inTurns = await usualCountsInTurns(history, localTime('UTC'), NOON, 4, () => {
    turns++
    return Promise.resolve()
  })
  const atOnce = usualCounts(history, localTime('UTC'), NOON, 4)
  assert.equal(turns, 3)
  for (const name of [null, 'page_view', 'purchase']) {
    for (let hour = NOON; hour < NOON + 7 * DAY; hour += HOUR) {
      assert.equal(inTurns.of(name).expectedIn(hour), atOnce.of(name).expectedIn(hour))
    }
    assert.equal(inTurns.of(name).noise.level(HOUR), atOnce.of(name).noise.level(HOUR))
  }
})
