import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Verdict } from '../../src/detection/index.ts'
import { AlarmLog } from '../detection/alarms.ts'
import { intervalOf } from '../detection/bootstrap.ts'
import type { Presence } from '../detection/counts.ts'
import { type Fault, keptShare } from '../detection/faults.ts'
import { type SiteHistory, simulate } from '../detection/history.ts'
import { canBeFound } from '../detection/ideal.ts'
import { randomSite } from '../detection/profile.ts'
import { Random } from '../detection/random.ts'
import { outcomeOf } from '../detection/score.ts'
import { isVisible } from '../detection/visible.ts'
import { SLOTS_A_DAY } from '../detection/world.ts'

const momentsOf = (draw: () => number) => {
  const values = Array.from({ length: 20_000 }, draw)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length }
}
const isNear = (value: number, wanted: number) =>
  assert.ok(Math.abs(value / wanted - 1) < 0.1, `${value}, not ${wanted}`)

for (const [mean, burst] of [
  [2, 1],
  [8, 4],
  [400, 3],
] as const) {
  test(`bursts of ${burst} have ${burst} times the variance of ${mean} independent events`, () => {
    const random = new Random(7)
    const moments = momentsOf(() => random.bursty(mean, burst))
    isNear(moments.mean, mean)
    isNear(moments.variance, mean * burst)
  })
}

test('a binomial draw has its mean and stays within its trials', () => {
  const random = new Random(3)
  isNear(momentsOf(() => random.binomial(40, 0.9)).mean, 36)
  assert.equal(random.binomial(5, 1), 5)
})

const fault: Fault = { kind: 'silent_sender', from: 100.5, to: 110, size: 0 }

test('a fault takes its share of the slots at its ends', () => {
  assert.deepEqual(
    [99, 100, 105, 110].map((slot) => keptShare([fault], 'page_view', slot)),
    [1, 0.5, 0, 1],
  )
})

const verdict = (status: 'ok' | 'critical'): Verdict => ({
  status,
  message: '',
  details: {
    findings: [
      {
        subject: {},
        status,
        message: '',
        measured: null,
        expected: null,
        band: { low: null, high: null },
        since: null,
        evidence: {},
      },
    ],
    judged: 1,
    unjudged: 0,
  },
  fine: [],
})

/** Alarms of a probe that was bad in these slots. */
function alarmsIn(slots: readonly number[]) {
  const log = new AlarmLog()
  for (let slot = 0; slot < 400; slot++) log.add('data_volume', slot, verdict(slots.includes(slot) ? 'critical' : 'ok'))
  return log.finish(400)
}

test('alarms that come back within an hour are one', () => {
  assert.deepEqual(
    alarmsIn([10, 11, 60, 200]).map(({ from, to }) => [from, to]),
    [
      [10, 61],
      [200, 201],
    ],
  )
})

test('an alarm in a fault detects it, one after the aftermath or before is false', () => {
  const outcome = outcomeOf(
    'site 1',
    [fault],
    alarmsIn([40, 103, 300]),
    () => ({ isVisible: true, isHopeless: false, rate: 1, floor: 1 }),
    (slot) => (slot < 100 ? 'campaign' : null),
    400,
  )
  assert.equal(outcome.faults[0]?.detectedAfter, 2.5)
  assert.deepEqual(
    outcome.falseAlarms.map(({ from, cause }) => [from, cause]),
    [
      [40, 'campaign'],
      [300, 'the day after a fault'],
    ],
  )
})

for (const [what, daily, dayNoise, size, isFound] of [
  ['nothing left of', 20_000, 0.15, 0, true],
  ['half left of', 20_000, 0.05, 0.5, true],
  ['half left of a site of few visits,', 60, 0.05, 0.5, false],
  ['most left of a site whose days differ,', 20_000, 0.3, 0.7, false],
] as const) {
  test(`the ideal watcher finds a site's loss where chance does not explain it: ${what} ${daily} views a day`, () => {
    const site = { ...randomSite(new Random(1), 0), daily, dayNoise, bornOn: 0, batch: 1 }
    const from = 40 * SLOTS_A_DAY
    const loss: Fault = { kind: 'partial_loss', from, to: from + SLOTS_A_DAY / 2, size }
    assert.equal(canBeFound(loss, simulate(site, [loss], new Random(2), 'volume')), isFound)
  })
}

test('an interval narrows with the number of sites and contains what they say', () => {
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const widths = [20, 2_000].map((count) => {
    const random = new Random(9)
    const sites = Array.from({ length: count }, () => random.normal())
    const { low, high } = intervalOf(sites, meanOf)
    assert.ok(low < meanOf(sites) && high > meanOf(sites))
    return high - low
  })
  assert.ok(Math.abs((widths[0] ?? 0) / (widths[1] ?? 1) / 10 - 1) < 0.3, `${widths}`)
})

const busyShop = () => {
  const seeds = Array.from({ length: 40 }, (_, seed) => randomSite(new Random(seed), 0))
  const shop = seeds.find(({ events }) => events.some(({ name }) => name === 'purchase'))
  assert.ok(shop !== undefined)
  return { ...shop, daily: 60_000, dayNoise: 0.05, bornOn: 0, batch: 1, holidays: new Map(), sales: new Map() }
}
const DAY_40 = { from: 40 * SLOTS_A_DAY, to: 41 * SLOTS_A_DAY }
const onDay = (series: Float64Array | undefined, day: number): number =>
  (series ?? new Float64Array()).subarray(day * SLOTS_A_DAY, (day + 1) * SLOTS_A_DAY).reduce((a, b) => a + b, 0)

test('a doubled event comes twice, and the others do not', () => {
  const doubled: Fault = { kind: 'event_doubled', ...DAY_40, size: 2, event: 'purchase' }
  const { events } = simulate(busyShop(), [doubled], new Random(4), 'volume')
  const ratio = (name: string) => onDay(events.get(name), 40) / onDay(events.get(name), 33)
  isNear(ratio('purchase') / ratio('page_view') / 2, 1)
})

for (const [fault, shareOf, wanted] of [
  [
    { kind: 'transactions_repeat', event: 'purchase', signal: 'transaction_duplicate', size: 1 },
    ({ signals }) => signals?.presence.get('purchase')?.get('transaction_duplicate'),
    0.5,
  ],
  [
    { kind: 'value_broken', signal: 'items_empty', size: 0.6 },
    ({ signals }) => signals?.presence.get('view_item')?.get('items_empty'),
    0.6,
  ],
  [{ kind: 'consent_lost', consent: 'signal', size: 0.2 }, ({ signals }) => signals?.consent.get('signal'), 0.2],
] as const satisfies readonly (readonly [Partial<Fault>, (history: SiteHistory) => Presence | undefined, number])[]) {
  test(`of events with the fault ${fault.kind}, ${wanted} say so, and as many as ever before`, () => {
    const history = simulate(busyShop(), [{ ...DAY_40, ...fault }], new Random(5), 'signals')
    const counts = shareOf(history)
    const [now, before] = [40, 39].map((day) => onDay(counts?.present, day) / onDay(counts?.total, day))
    assert.ok(Math.abs((now ?? 0) - wanted) < 0.05, `${now}`)
    assert.ok(Math.abs((before ?? 0) - wanted) > 0.3, `${before}`)
    assert.ok(isVisible({ ...DAY_40, ...fault }, history))
  })
}

test('a tag that runs without consent and one whose vendor refuses show in their counts', () => {
  const faults: Fault[] = [
    { kind: 'tag_ignores_consent', ...DAY_40, size: 1, tag: 'Meta' },
    { kind: 'vendor_refusing', ...DAY_40, size: 0.5, tag: 'GA4' },
  ]
  const { signals } = simulate(busyShop(), faults, new Random(6), 'signals')
  const of = (key: string) => signals?.tags.find((tag) => tag.key === key)
  const [kept, ignored] = [39, 40].map((day) => onDay(of('Meta')?.denied, day) / onDay(of('Meta')?.consented, day))
  assert.ok((kept ?? 1) < 0.05 && (ignored ?? 0) > 0.2, `${kept} ${ignored}`)
  const refused = onDay(of('GA4')?.refused, 40)
  isNear(refused / (refused + onDay(of('GA4')?.taken, 40)), 0.5)
})

test('what batches say is of all their events, and as many as there were', () => {
  const { signals, total } = simulate({ ...busyShop(), batch: 50 }, [], new Random(7), 'signals')
  assert.deepEqual([...(signals?.presence.keys() ?? [])], [null])
  const sum = (series: Float64Array | undefined) => (series ?? new Float64Array()).reduce((a, b) => a + b, 0)
  const said = sum(signals?.presence.get(null)?.get('client_id')?.total)
  assert.ok(Math.abs(said - sum(total)) <= 50, `${said} of ${sum(total)}`)
})
