import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  needWords,
  passingHours,
  reasonWords,
  spreadWords,
  wideningWords,
} from '../../web/src/features/probes/expectation.ts'
import type { ChartColors } from '../../web/src/ui/chart/colors.ts'
import { type BandHour, withHourlyBand } from '../../web/src/ui/chart/hourly-band.ts'
import { pointsOf } from '../../web/src/ui/chart/points.ts'

const HOUR = 3_600_000
const NOON = Date.parse('2026-11-20T12:00:00Z')
const iso = (time: number) => new Date(time).toISOString()
const clock = (time: number) => iso(time).slice(11, 16)

const hour = (over: Partial<BandHour> = {}): BandHour => ({
  t: iso(NOON + HOUR),
  expected: 120.4,
  low: 83.2,
  high: 260.9,
  ...over,
})
type Direction = Parameters<typeof passingHours>[0]['direction']

const NEEDS: readonly [direction: Direction, over: Partial<BandHour>, words: string][] = [
  ['down', {}, 'From 13:00 to 14:00 it warns below 84 events; usually 120.'],
  ['both', {}, 'From 13:00 to 14:00 it warns below 84 events or above 260 events; usually 120.'],
  ['up', {}, 'From 13:00 to 14:00 it warns above 260 events; usually 120.'],
  ['up', { high: 1.7, expected: 0.4 }, 'From 13:00 to 14:00 it warns above 1 event; usually 0.4.'],
  ['down', { low: 1, expected: 6.4 }, 'From 13:00 to 14:00 it warns without any event; usually 6.4.'],
  [
    'down',
    { low: 0, expected: 1 },
    'From 13:00 to 14:00 any number of events passes, as one hour is too short to tell; usually 1.',
  ],
  [
    'down',
    { expected: null, low: null, high: null },
    'What is usual in the next hour is not known yet: the probe learns from each day that passes.',
  ],
]
for (const [direction, over, words] of NEEDS) {
  test(`what is needed for a warning: ${words}`, () => {
    const hours = [hour({ t: iso(NOON), low: 999 }), hour(over)]
    assert.equal(needWords({ direction, hours }, NOON + HOUR / 4, clock), words)
  })
}

const REASONS: readonly [evidence: object, status: string, words: string | null][] = [
  [
    { surprise: 5.1, surprise_needed: 4.3, kind: 'fall' },
    'warning',
    'So few come by chance once in 130k windows of 30\u00a0min; an alert opens from once in 20k on.',
  ],
  [
    { surprise: 2, surprise_needed: 4.3, kind: 'usual' },
    'ok',
    'So few come by chance once in 100 windows of 30\u00a0min; an alert opens from once in 20k on. Chance explains it.',
  ],
  [
    { surprise: 0.1, surprise_needed: 4.3, kind: 'usual' },
    'ok',
    'Nothing is unusual: an alert opens for what chance brings once in 20k windows of 30\u00a0min.',
  ],
  [
    { surprise: 40, surprise_needed: 4.3, kind: 'zero' },
    'critical',
    'Such a silence comes by chance once in more than 1,000 billion windows of 30\u00a0min; an alert opens from once in 20k on.',
  ],
  [
    { surprise: 6, surprise_needed: 4.3, kind: 'spike' },
    'ok',
    'So many come by chance once in 1M windows of 30\u00a0min; an alert opens from once in 20k on. Still, it is not a fault.',
  ],
  [
    { surprise: 6, surprise_needed: 4.3, kind: 'holiday' },
    'ok',
    'So few come by chance once in 1M windows of 30\u00a0min; an alert opens from once in 20k on. It fell over the morning as on a holiday: an alert opens only if it is low tomorrow, too.',
  ],
  [
    { surprise: 6, surprise_needed: 4.3, kind: 'doubled' },
    'warning',
    'So many come by chance once in 1M windows of 30\u00a0min; an alert opens from once in 20k on.',
  ],
  [
    { surprise: 6, surprise_needed: 4.3, kind: 'doubled', times: 2, minutes_with_any: 22, minutes_with_multiples: 21 },
    'warning',
    'An even number in 21 of the 22 minutes with any comes by chance once in 1M windows of 30\u00a0min; an alert opens from once in 20k on.',
  ],
  [{ kind: 'renamed' }, 'ok', null],
]
for (const [evidence, status, words] of REASONS) {
  test(`why it was judged so: ${words ?? 'not said where the evidence has no figures'}`, () => {
    assert.equal(reasonWords({ window_minutes: 30, ...evidence }, status), words)
  })
}

test('how much is known is said with how counts vary and how many holidays there are', () => {
  const learnt = { learnt_days: 18, level_noise: 0.124, visit_size: 3.24, special: [] }
  assert.equal(
    spreadWords(learnt),
    'Learned from 18 days: events come about 3.2 at a time, and hours vary by another ± 12\u00a0%.',
  )
  const day = { from: iso(NOON), to: iso(NOON + 24 * HOUR) }
  assert.equal(
    spreadWords({ learnt_days: 1, level_noise: 0.3, visit_size: 1, special: [day] }),
    'Learned from 1 day: events come one by one, and hours vary by another ± 30\u00a0%. 1 public holiday left out, or judged by silence only.',
  )
})

test('a bound that is not bad is not drawn', () => {
  const boundsOf = (direction: Direction) =>
    passingHours({ hours: [hour()], direction }).map(({ low, high }) => [low, high])
  assert.deepEqual(boundsOf('down'), [[83.2, null]])
  assert.deepEqual(boundsOf('up'), [[null, 260.9]])
  assert.deepEqual(boundsOf('both'), [[83.2, 260.9]])
})

const COLORS: ChartColors = {
  of: (token) => token,
  soft: (token, opacity) => `${token} ${opacity}`,
  hatch: (ground, line) => `hatch of ${line} on ${ground}`,
}
/** A pixel for each event, upside down, and ten for each hour. */
const PLACE = { x: 0, y: 0, width: 100, height: 200 }
const api = { coord: ([at, value]: [number, number]) => [((at - NOON) / HOUR) * 10, 200 - value] }

interface BandSeries {
  data: [number, number][]
  renderItem: (params: object, api: object) => { children: { type: string; shape: Record<string, number> }[] } | null
}

const bandOf = (hours: readonly BandHour[]): BandSeries => {
  const { series } = withHourlyBand({ series: [] }, hours, COLORS)
  return (series as BandSeries[])[0] ?? assert.fail('no band')
}

test('the band of an hour reaches from one bound to the other, or to the edge of the chart', () => {
  const band = bandOf([hour({ low: 80, high: 150 }), hour({ t: iso(NOON + 2 * HOUR), low: 0, high: null })])
  const [both, open] = [0, 1].map((dataIndex) => band.renderItem({ dataIndex, coordSys: PLACE }, api)?.children ?? [])
  assert.deepEqual(both?.[0]?.shape, { x: 10, y: 50, width: 10, height: 70 })
  assert.deepEqual(
    both.slice(1).map(({ shape }) => shape.y1),
    [120, 50],
  )
  // Any number passes: there is no line to stay above.
  assert.deepEqual(
    open?.map(({ type, shape }) => [type, shape.y, shape.height]),
    [['rect', 0, 200]],
  )
})

test('an hour of which nothing is known has no band', () => {
  const band = bandOf([hour({ expected: null, low: null, high: null }), hour({ t: iso(NOON + 2 * HOUR) })])
  assert.deepEqual(band.data, [[NOON + 2 * HOUR, 120.4]])
})

test('the hour under way is not over on a chart that ends later', () => {
  const points = [0, 1, 2].map((n) => ({ t: iso(NOON + n * HOUR), value: 5 }))
  const placed = pointsOf({ key: 'purchase', points, knownUntil: NOON + 2.5 * HOUR }, NOON, NOON + 10 * HOUR)
  assert.deepEqual(
    placed.map(({ isPartial }) => isPartial),
    [false, false, true],
  )
})

test('what feedback has widened is said, and nothing without feedback', () => {
  assert.equal(wideningWords(1), null)
  assert.match(
    wideningWords(2.25) ?? '',
    /^Feedback has widened what passes: hours may vary 1.5 times as much as measured/,
  )
})
