import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DATA_VOLUME_DEFAULTS,
  dataVolume,
  doublingCandidates,
  type Finding,
  type Multiples,
  type VolumeConfig,
} from '../../src/detection/index.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { NOON, type Rates, SLOT, volumeInput } from './support.ts'

const USUAL = { page_view: 200, view_item: 90, purchase: 6 }
type Events = Readonly<Record<string, number>>

/** So many hours before noon each event comes so many times as often as usual. */
const times =
  (hours: number, factors: Events, base: Events = USUAL): Rates =>
  (time) =>
    Object.fromEntries(
      Object.entries(base).map(([name, rate]) => [
        name,
        rate * (time >= NOON - hours * HOUR ? (factors[name] ?? 1) : 1),
      ]),
    )

const doubledOf = (recent: Rates, config: Partial<VolumeConfig> = {}, world = {}): Finding | undefined =>
  dataVolume(volumeInput({ usual: times(0, {}), recent, ...world }), {
    ...DATA_VOLUME_DEFAULTS,
    doubled: true,
    ...config,
  }).details.findings.find(({ evidence }) => evidence.kind === 'doubled')

const ALL = Object.keys(USUAL)
const everything = (factor: number): Events => Object.fromEntries(ALL.map((name) => [name, factor]))

for (const [what, recent, isFound] of [
  ['twice as many purchases for two hours', times(2, { purchase: 2 }), true],
  ['three times as many, as of three triggers', times(2, { purchase: 3 }), true],
  ['twice as many for a quarter of an hour', times(0.25, { purchase: 2 }), false],
  ['as many as usual', times(2, {}), false],
  ['half as many again', times(6, { purchase: 1.4 }), false],
  ['a flood of them, as of a bot', times(2, { purchase: 20 }), false],
  ['twice as much of everything, as in a campaign', times(6, everything(2)), false],
  ['three times as much of everything', times(6, everything(3)), false],
  ['a sale: more visitors, of whom more buy', times(6, { ...everything(1.6), purchase: 3.2 }), false],
  ['as many purchases while the others are gone', times(2, { page_view: 0.2, view_item: 0.2 }), false],
  ['a peak of one hour in the six', (time: number) => times(time < NOON - HOUR ? 2 : 0, { purchase: 4 })(time), false],
  [
    'twice as many for hours, until an hour ago',
    (time: number) => times(time < NOON - HOUR ? 6 : 0, { purchase: 2 })(time),
    false,
  ],
  ['twice as many page views for two hours, as bots send them', times(2, { page_view: 2 }), false],
  ['twice as many page views all night and morning', times(12, { page_view: 2 }), true],
] as const) {
  test(`${what} ${isFound ? 'looks like a tag that fires twice' : 'is no doubling'}`, () =>
    assert.equal(doubledOf(recent)?.status, isFound ? 'warning' : undefined))
}

test('a doubling says how many came, how many are usual, and since when', () => {
  const finding = doubledOf(times(2, { purchase: 2 }))
  assert.deepEqual(finding?.subject, { event_name: 'purchase' })
  assert.match(
    finding?.message ?? '',
    /^“purchase” came twice as often as usual for its visits: 144 in 60 min, usually 7\d: does a tag fire twice\?$/,
  )
  assert.ok(Math.abs(Date.parse(finding?.since ?? '') - (NOON - 2 * HOUR)) <= SLOT, `${finding?.since}`)
  assert.ok((finding?.band.high ?? 0) < (finding?.measured ?? 0))
  assert.ok(Number(finding?.evidence.others_ratio) > 0.95 && Number(finding?.evidence.others_ratio) < 1.05)
})

test('who looks upwards as well gets the doubling rather than a spike', () => {
  assert.equal(doubledOf(times(2, { purchase: 2 }), { direction: 'both' })?.status, 'warning')
})

test('doublings are looked for unless someone turned that off', () => {
  assert.equal(DATA_VOLUME_DEFAULTS.doubled, true)
  assert.equal(doubledOf(times(2, { purchase: 2 }), { doubled: false }), undefined)
})

test('an event that doubled on a quiet day is found', () => {
  const quiet = times(24, { page_view: 0.8, view_item: 0.8, purchase: 0.8 })
  const recent: Rates = (time) => {
    const rates = quiet(time)
    return { ...rates, purchase: (rates.purchase ?? 0) * (time >= NOON - 4 * HOUR ? 2 : 1) }
  }
  assert.equal(doubledOf(recent)?.status, 'warning')
})

test('an event that began some days ago is still becoming usual, and no doubling', () => {
  const usual: Rates = (time) => ({ ...USUAL, sign_up: time > NOON - 5 * DAY ? 6 : 0 })
  const recent: Rates = (time) => ({ ...USUAL, sign_up: time > NOON - 4 * HOUR ? 12 : 6 })
  assert.equal(doubledOf(recent, {}, { usual }), undefined)
})

test('what an event is of the site on other days is no doubling, though its weekday had half as many', () => {
  const isLikeToday = (time: number) => new Date(time).getUTCDay() === new Date(NOON).getUTCDay()
  const usual: Rates = (time) => ({ ...USUAL, purchase: isLikeToday(time) ? 3 : 6 })
  const of =
    (purchase: number): Rates =>
    (time) =>
      isLikeToday(time) ? { ...USUAL, purchase } : usual(time)
  assert.equal(doubledOf(of(6), {}, { usual }), undefined)
  assert.equal(doubledOf(of(12), {}, { usual })?.status, 'warning')
})

test('a site of less than two weeks has no doublings', () => {
  assert.equal(doubledOf(times(2, { purchase: 2 }), {}, { knownFrom: NOON - 10 * DAY }), undefined)
})

test('on a holiday nobody knows how many come for a visit', () => {
  const special = [{ from: NOON - 12 * HOUR, to: NOON + 12 * HOUR }]
  assert.equal(doubledOf(times(2, { purchase: 2 }), {}, { special }), undefined)
})

test('a larger budget never finds less', () => {
  const found = [0.001, 0.15, 10].map((false_alarms) =>
    doubledOf(times(1.5, { purchase: 1.8 }, USUAL), { false_alarms }) === undefined ? 0 : 1,
  )
  assert.deepEqual(found, found.toSorted())
})

test('the beginning is a bucket of the doubling', () => {
  const finding = doubledOf(times(5, { purchase: 2 }))
  assert.equal(finding?.since, isoTime(NOON - 5 * HOUR))
})

/** A quiet shop: counts of some hours hardly tell twice as many of its orders from chance. */
const quietly =
  (hours: number, { purchase = 1, ...factors }: Events): Rates =>
  (time) => ({
    ...times(hours, factors, { page_view: 200, view_item: 90 })(time),
    purchase: time % (20 * MINUTE) > 0 ? 0 : time >= NOON - hours * HOUR ? purchase : 1,
  })

/** So many hours in which the orders came two at a time, after days in which they came one by one. */
const inPairs = (hours: number, before: Partial<Multiples> = {}): Map<string, Multiples[]> => {
  const usual = { minutes: 3, twos: 0, threes: 0, ...before }
  const paired = { minutes: 3, twos: 3, threes: 0 }
  return new Map([['purchase', Array.from({ length: 47 }, (_, hour) => (hour < hours ? paired : usual))]])
}

const pairedOf = (recent: Rates, repeats: ReadonlyMap<string, readonly Multiples[]>, world = {}): Finding | undefined =>
  dataVolume(
    { ...volumeInput({ usual: quietly(0, {}), recent, ...world }), repeats },
    { ...DATA_VOLUME_DEFAULTS, doubled: true },
  ).details.findings.find(({ evidence }) => evidence.kind === 'doubled')

const doubledOrders = quietly(8, { purchase: 2 })

test('orders that come two at a time are found, of which counts alone tell nothing', () => {
  assert.equal(pairedOf(doubledOrders, new Map()), undefined)
  const finding = pairedOf(doubledOrders, inPairs(8))
  assert.equal(finding?.status, 'warning')
  assert.match(finding?.message ?? '', /, two at a time in 24 of 24 minutes: does a tag fire twice\?$/)
  const { times, minutes_with_any, minutes_with_multiples } = finding?.evidence ?? {}
  assert.deepEqual([times, minutes_with_any, minutes_with_multiples], [2, 24, 24])
})

test('orders that come three at a time are called so', () => {
  const paired = inPairs(8).get('purchase') ?? []
  const threes = paired.map(({ minutes, twos }) => ({ minutes, twos: 0, threes: twos }))
  const finding = pairedOf(quietly(8, { purchase: 3 }), new Map([['purchase', threes]]))
  assert.match(finding?.message ?? '', /, three at a time in 12 of 12 minutes: does a tag fire twice\?$/)
})

for (const [what, pairs] of [
  ['always come in pairs', inPairs(8, { twos: 3 })],
  ['came so seldom the day before that nothing is known of them', inPairs(8, { minutes: 0 })],
  ['come one by one', inPairs(0)],
] as const) {
  test(`more orders than usual that ${what} are no doubling`, () =>
    assert.equal(pairedOf(doubledOrders, pairs), undefined))
}

test('as many orders as usual in pairs are no doubling: the counts have not changed', () => {
  assert.equal(pairedOf(quietly(8, {}), inPairs(8)), undefined)
})

for (const [what, recent, world] of [
  ['in a campaign', quietly(8, { page_view: 1.5, view_item: 1.5, purchase: 3 }), {}],
  ['on a holiday', doubledOrders, { special: [{ from: NOON - 12 * HOUR, to: NOON + 12 * HOUR }] }],
  ['on a site of ten days', doubledOrders, { knownFrom: NOON - 10 * DAY }],
] as const) {
  test(`orders that come two at a time are found ${what}, too`, () =>
    assert.equal(pairedOf(recent, inPairs(8), world)?.status, 'warning'))
}

test('a doubling is over once orders come one by one again', () => {
  const single = inPairs(8).get('purchase')?.with(0, { minutes: 3, twos: 0, threes: 0 }) ?? []
  assert.equal(pairedOf(doubledOrders, new Map([['purchase', single]])), undefined)
})

test('only events that come more often than chance explains are read by the minute, and none where that is turned off', () => {
  const candidates = (recent: Rates, doubled = true) =>
    doublingCandidates(volumeInput({ usual: quietly(0, {}), recent }), { ...DATA_VOLUME_DEFAULTS, doubled })
  assert.deepEqual(candidates(doubledOrders), ['purchase'])
  assert.deepEqual(candidates(quietly(0, {})), [])
  assert.deepEqual(candidates(doubledOrders, false), [])
})
