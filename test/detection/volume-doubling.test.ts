import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DATA_VOLUME_DEFAULTS, dataVolume, type Finding, type VolumeConfig } from '../../src/detection/index.ts'
import { DAY, HOUR, isoTime } from '../../src/lib/index.ts'
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

test('doublings are only looked for where someone asked for it', () => {
  assert.equal(DATA_VOLUME_DEFAULTS.doubled, false)
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
