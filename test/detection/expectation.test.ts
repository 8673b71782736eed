import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectationOf, expectedHour, type HourModel } from '../../src/detection/expectation.ts'
import {
  DATA_FRESHNESS_DEFAULTS,
  DATA_VOLUME_DEFAULTS,
  freshnessLimits,
  hourLimits,
} from '../../src/detection/index.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { NOON, type Rates, volumeInput } from './support.ts'

const LIMITS = { fall: { budget: 0.03, ratio: 0.65 }, silenceBudget: 0.02, minVisits: 5 }
const MODEL: HourModel = { mean: 200, byClock: 200, burst: 3, visitSize: 2, noise: 0.02 }
const hourOf = (over: Partial<HourModel> = {}, limits: Parameters<typeof expectedHour>[1] = LIMITS) => {
  const { expected, low, high } = expectedHour({ ...MODEL, ...over }, limits)
  return { expected: expected ?? Number.NaN, low: low ?? Number.NaN, high: high ?? Number.NaN }
}

const WIDER: readonly [what: string, over: Partial<HourModel>][] = [
  ['a level that wavers more', { noise: 0.08 }],
  ['events that come in larger bursts', { burst: 12 }],
]
for (const [what, over] of WIDER) {
  test(`${what} makes the band wider on both sides`, () => {
    const [narrow, wide] = [hourOf(), hourOf(over)]
    assert.ok(wide.low < narrow.low && wide.high > narrow.high, JSON.stringify([narrow, wide]))
  })
}

test('a larger budget of false alarms makes the band narrower', () => {
  const [rare, often] = [LIMITS.fall, { ...LIMITS.fall, budget: 10 }].map((fall) => {
    return hourOf({ noise: 0.08, burst: 12 }, { ...LIMITS, fall })
  })
  assert.ok(rare !== undefined && often !== undefined)
  assert.ok(often.low > rare.low && often.high < rare.high, JSON.stringify([rare, often]))
})

test('the band contains what is expected, however many that is', () => {
  for (const mean of [0.2, 1, 5, 40, 1_000, 1_000_000]) {
    for (const noise of [0.0025, 0.05, 0.5]) {
      for (const burst of [1, 4, 30]) {
        const { low, expected, high } = hourOf({ mean, byClock: mean, burst, noise })
        assert.ok(low <= expected && expected <= high, JSON.stringify({ mean, noise, burst, low, high }))
      }
    }
  }
})

test('fewer have to come to be too few after hours in which fewer came, and as many to be too many', () => {
  const [usual, quiet] = [hourOf(), hourOf({ mean: 100 })]
  assert.ok(quiet.low < 0.6 * usual.low, JSON.stringify([usual, quiet]))
  assert.equal(quiet.high, usual.high)
})

const SILENT: readonly [what: string, over: Partial<HourModel>, low: number][] = [
  ['an hour of a busy site', { mean: 100, byClock: 100, burst: 60 }, 1],
  ['an hour with a few visits', { mean: 8, byClock: 8 }, 0],
  ['a busy hour of which hardly anything is known', { noise: 5, mean: 100, byClock: 100 }, 0],
]
for (const [what, over, low] of SILENT) {
  test(`where only silence is judged, ${what} passes from ${low} events on`, () => {
    assert.equal(hourOf(over, { ...LIMITS, fall: null }).low, low)
  })
}

test('where nothing is known, nothing is said', () => {
  const nothing = { expected: null, low: null, high: null }
  assert.deepEqual(expectedHour({ ...MODEL, mean: Number.NaN, byClock: Number.NaN }, LIMITS), nothing)
})

const RANGE = { from: NOON - DAY, to: NOON + DAY }
const shop: Rates = (time) => ({ view: 60 + ((time / HOUR) % 5), buy: 20 + ((time / HOUR) % 3) })

function expected(name: string | null, world: Partial<Parameters<typeof volumeInput>[0]> = {}, config = {}) {
  const input = volumeInput({ usual: shop, ...world })
  return expectationOf(name, input, hourLimits(name, input.usual, { ...DATA_VOLUME_DEFAULTS, ...config }), RANGE)
}
const at = (hours: ReturnType<typeof expected>['hours'], time: number) =>
  hours.find(({ from }) => from === time) ?? assert.fail('no such hour')

test('each hour of the last day and of the next has what is usual for it', () => {
  const { hours } = expected('buy')
  assert.deepEqual([hours.length, hours[0]?.from, hours.at(-1)?.from], [48, NOON - DAY, NOON + DAY - HOUR])
  for (const { expected: usual, low, high } of hours) {
    assert.ok(usual !== null && low !== null && high !== null)
    assert.ok(usual > 200 && usual < 300 && low > 0 && low < usual && high > usual, JSON.stringify([usual, low, high]))
  }
})

test('after a quiet morning fewer are needed in the next hour, and as many as usual a day later', () => {
  const recent: Rates = (time) => {
    const { view = 0, buy = 0 } = shop(time)
    const share = time < NOON - 6 * HOUR ? 1 : 0.7
    return { view: share * view, buy: share * buy }
  }
  const { hours } = expected(null, { recent })
  const [next, tomorrow] = [at(hours, NOON), at(hours, NOON + DAY - HOUR)]
  const shareOf = ({ low, expected: usual }: typeof next) => (low ?? 0) / (usual ?? 0)
  const calm = at(expected(null).hours, NOON)
  assert.ok(shareOf(next) < 0.85 * shareOf(calm), JSON.stringify([next, calm]))
  const calmTomorrow = at(expected(null).hours, NOON + DAY - HOUR)
  assert.ok(Math.abs(shareOf(tomorrow) - shareOf(calmTomorrow)) < 0.01, JSON.stringify([tomorrow, calmTomorrow]))
})

test('on a holiday any number of events passes, but for none at all', () => {
  const holiday = { from: NOON + 12 * HOUR, to: NOON + 36 * HOUR }
  const { hours } = expected(null, { special: [holiday] })
  const { low, high } = at(hours, NOON + 13 * HOUR)
  assert.deepEqual([low, high], [1, null])
  assert.ok((at(hours, NOON + 11 * HOUR).low ?? 0) > 1)
})

test('nothing is known of the hours of a day that a young site has not seen', () => {
  const { hours } = expected(null, { knownFrom: NOON - 20 * HOUR })
  const { expected: usual, low, high } = at(hours, NOON)
  assert.deepEqual([usual, low, high], [null, null, null])
})

const FRESHNESS: readonly [what: string, config: object, low: number][] = [
  ['an hour without events is bad', {}, 1],
  ['no hour is bad where silence may last for longer', { min_silence_minutes: 60 }, 0],
]
for (const [what, config, low] of FRESHNESS) {
  test(`of freshness ${what}, and however many come are fine`, () => {
    const limits = freshnessLimits({ ...DATA_FRESHNESS_DEFAULTS, ...config })
    const { hours } = expectationOf(null, volumeInput({ usual: shop, now: NOON + 20 * MINUTE }), limits, RANGE)
    const hour = at(hours, NOON)
    assert.deepEqual([hour.low, hour.high], [low, null])
  })
}
