import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HourCounts, type Loss, lossOf, runsMissed, type TimeRange } from '../../src/detection/index.ts'
import { floorTo, HOUR, MINUTE } from '../../src/lib/index.ts'
import { NOON, type Rates, SLOT, volumeInput } from './support.ts'

/** 720 views and 240 purchases an hour; by night a quarter. */
const shop: Rates = (time) => {
  const isNight = (time / HOUR) % 24 < 6
  return isNight ? { view: 15, buy: 5 } : { view: 60, buy: 20 }
}

interface Fault {
  range?: TimeRange
  /** What comes in it. */
  left: Rates
  usual?: Rates
  recent?: Rates
  outages?: readonly TimeRange[]
  special?: readonly TimeRange[]
  timezone?: string
  knownFrom?: number
}

const RANGE = { from: NOON, to: NOON + 3 * HOUR }

function loss(name: string | null, { range = RANGE, left, outages = [], ...world }: Fault, affected: string[] | null) {
  const { usual, recent } = volumeInput({ usual: shop, ...world, now: range.from })
  const hours = new Map<number, HourCounts>()
  for (let time = range.from; time < range.to; time += SLOT) {
    const known = hours.get(floorTo(time, HOUR)) ?? { total: 0, events: new Map<string, number>() }
    const events = new Map(known.events)
    const rates = Object.entries(left(time))
    for (const [event, rate] of rates) events.set(event, (events.get(event) ?? 0) + rate)
    const total = known.total + rates.reduce((sum, [, rate]) => sum + rate, 0)
    hours.set(floorTo(time, HOUR), { total, events })
  }
  const input = { range, usual, before: recent, hours, outages }
  return lossOf(name, input, affected === null ? null : new Set(affected))
}

const part =
  (share: number, of: Rates = shop): Rates =>
  (time) =>
    Object.fromEntries(Object.entries(of(time)).map(([name, rate]) => [name, share * rate]))
const busier = part(1.5)

type Case = readonly [
  what: string,
  name: string | null,
  fault: Fault,
  affected: string[] | null,
  lost: number,
  of: number,
]
const CASES: readonly Case[] = [
  ['nothing comes for three hours', null, { left: () => ({}) }, null, 2_880, 2_880],
  ['none of one event comes in a silence', 'buy', { left: () => ({}) }, null, 720, 720],
  ['a third of the site is left', null, { left: part(1 / 3) }, null, 1_920, 2_880],
  ['nothing is wrong', null, { left: shop }, null, 0, 2_880],
  ['more comes than usual', null, { left: busier }, null, 0, 4_320],
  ['one event is dead', 'buy', { left: (time) => ({ view: shop(time).view ?? 0 }) }, ['buy'], 720, 720],
  [
    'one event is dead while half as many again of the others come',
    'buy',
    { left: (time) => ({ view: busier(time).view ?? 0 }) },
    ['buy'],
    1_080,
    1_080,
  ],
  [
    'half an hour of silence',
    null,
    { left: () => ({}), range: { from: NOON, to: NOON + 30 * MINUTE } },
    null,
    480,
    480,
  ],
  [
    'a silence into the night',
    null,
    { left: () => ({}), range: { from: NOON + 10 * HOUR, to: NOON + 14 * HOUR } },
    null,
    2 * 960 + 2 * 240,
    2 * 960 + 2 * 240,
  ],
  [
    'a silence in which the service itself was down for two hours',
    null,
    { left: () => ({}), outages: [{ from: NOON + HOUR, to: NOON + 3 * HOUR }] },
    null,
    960,
    960,
  ],
]

for (const [what, name, fault, affected, lost, of] of CASES) {
  test(`${what}: about ${lost} of ${of} are lost`, () => {
    const found = loss(name, fault, affected) ?? assert.fail('nothing is known')
    assert.ok(Math.abs(found.lost - lost) <= 0.07 * of, JSON.stringify(found))
    assert.ok(Math.abs(found.of - of) <= 0.07 * of, JSON.stringify(found))
    assert.ok(found.low <= found.lost && found.lost <= found.high, JSON.stringify(found))
    if (lost === 0) assert.equal(found.low, 0)
    else assert.ok(found.low > 0.5 * lost, JSON.stringify(found))
  })
}

test('a silence after a busy morning is expected to have been busy, the next day hardly', () => {
  const recent: Rates = (time) => (time >= NOON - 10 * HOUR ? busier(time) : shop(time))
  const lostOn = (from: number, to: number) => {
    const ofDay = (hours: number) =>
      loss(null, { left: () => ({}), recent, range: { from: NOON, to: NOON + hours * HOUR } }, null)
    return (ofDay(to)?.lost ?? 0) - (ofDay(from)?.lost ?? 0)
  }
  const first = lostOn(0, 3) / 2_880
  const later = lostOn(48, 51) / 2_880
  assert.ok(first > 1.2 && later < 1.15 && later < first, JSON.stringify([first, later]))
})

test('where the clocks change in the silence, the local hours are expected', () => {
  // Clocks in Berlin go back on 25 October 2026 at 01:00 UTC.
  const night: Rates = (time) => ({ view: localHour(time) < 6 ? 0 : 60 })
  const localHour = (time: number) => ((time + (time < CHANGE ? 2 : 1) * HOUR) / HOUR) % 24
  const CHANGE = Date.UTC(2026, 9, 25, 1)
  const range = { from: CHANGE - HOUR, to: CHANGE + 6 * HOUR }
  const found = loss(null, { left: () => ({}), usual: night, timezone: 'Europe/Berlin', range }, null)
  // From six o'clock local time, 05:00 UTC: two hours.
  assert.ok(found !== null && Math.abs(found.of - 2 * 720) < 150, JSON.stringify(found))
})

test('on a holiday the range is wide', () => {
  const width = ({ low, high }: Loss) => high - low
  const [usual, holiday] = [[], [{ from: NOON - 12 * HOUR, to: NOON + 12 * HOUR }]].map((special) =>
    loss(null, { left: () => ({}), special }, null),
  )
  assert.ok(usual && holiday && width(holiday) > 2 * width(usual), JSON.stringify([usual, holiday]))
})

test('of a site that has just begun, nothing is known to be lost', () => {
  assert.equal(loss(null, { left: () => ({}), knownFrom: NOON - 30 * MINUTE }, null), null)
})

test('an hour of silence of a site with five events a day lost none for certain', () => {
  const rare: Rates = (time) => ({ view: time % (5 * HOUR) === 0 ? 1 : 0 })
  const found = loss(null, { left: () => ({}), usual: rare, range: { from: NOON, to: NOON + HOUR } }, null)
  assert.ok(found !== null && found.low === 0 && found.lost < 1, JSON.stringify(found))
})

const RUNS: readonly [what: string, since: number, ran: number, before: number, usually: number, lost: number][] = [
  ['a dead tag that ran on all', 200, 0, 1_000, 1_000, 200],
  ['a dead tag that ran where there was consent', 200, 0, 1_000, 600, 120],
  ['a tag that runs on half', 200, 100, 1_000, 1_000, 100],
  ['a tag that runs as ever', 200, 121, 1_000, 600, 0],
]
for (const [what, occurrences, runs, before, usually, lost] of RUNS) {
  test(`${what} misses ${lost} of ${occurrences} events`, () => {
    const found = runsMissed({ occurrences, runs }, { occurrences: before, runs: usually })
    assert.equal(Math.round(found?.lost ?? -1), lost)
    assert.equal((found?.low ?? 0) > 0, lost > 0)
  })
}

test('nothing is known of a tag on an event that never came before', () => {
  assert.equal(runsMissed({ occurrences: 10, runs: 0 }, { occurrences: 0, runs: 0 }), null)
})
