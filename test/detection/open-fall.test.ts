import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DATA_VOLUME_DEFAULTS,
  dataVolume,
  isBad,
  type OpenFall,
  type OpenFalls,
  openFalls,
  type UsualCounts,
} from '../../src/detection/index.ts'
import { keptFall } from '../../src/detection/open-fall.ts'
import type { Course } from '../../src/detection/volume-counts.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { NOON, type Rates, SLOT, siteOf, volumeInput } from './support.ts'
import { visitsOf } from './visits.ts'

const TO = 1_000 * HOUR
const FELL = 6
const OPEN = { since: TO - FELL * HOUR, widening: 1 }
const LIMITS = { budget: 0.05, ratio: 0.65, z: 2 }
const NOISE = {
  burst: 2,
  group: 2,
  doubt: 0,
  level: () => 0.02,
  steady: () => 0.01,
  ofSilence: () => 0.02,
}

/** What `courseOf` makes usual in an hour. */
const HOURLY = 1_200

/** So many events are usual in five minutes, and such a share of them came hours ago. */
function courseOf(levelAt: (hoursAgo: number) => number, usual: (hoursAgo: number) => number = () => 100): Course {
  const from = Array.from({ length: 288 }, (_, index) => TO - (index + 1) * SLOT)
  const ago = (time: number) => (TO - time) / HOUR
  const sums = (of: (hoursAgo: number) => number) => {
    let sum = 0
    return from.map((time) => (sum += of(ago(time))))
  }
  const expected = sums(usual)
  const measured = sums((hours) => levelAt(hours) * usual(hours))
  const covered = from.map((_, index) => (index + 1) * SLOT)
  const specialUntil = Number.NEGATIVE_INFINITY
  return { from, to: TO, measured, expected, byClock: expected, byOthers: expected, covered, specialUntil }
}

const isKept = (course: Course, widening = 1, isSite = true, open: OpenFall = OPEN): boolean =>
  keptFall(course, open, { noise: NOISE, widening, expectedIn: () => HOURLY }, NOISE.burst, isSite, LIMITS) !== null

/** Usual until `FELL`, then half, and something else in the newest hours. */
const half =
  (hours = 0, newest = 1) =>
  (ago: number): number =>
    ago > FELL ? 1 : ago > hours ? 0.5 : newest
/** Two events are usual in an hour of the last four, which are night. */
const night = (ago: number): number => (ago > 4 ? 100 : 1 / 6)

const CASES: readonly [what: string, course: Course, kept: boolean][] = [
  ['what stays at half lasts', courseOf(half()), true],
  ['at two thirds it lasts, though no fall would be found', courseOf((ago) => (ago > FELL ? 1 : 0.67)), true],
  ['half an hour at the usual level ends it where many come', courseOf(half(0.5, 1)), false],
  ['some minutes are too short a part of six hours', courseOf(half(0.1, 1)), true],
  ['one to a sixth lasts at half', courseOf((ago) => (ago > FELL ? 1 : ago > 3 ? 1 / 6 : 0.5)), true],
  ['nine tenths are as good as usual', courseOf(half(1, 0.9)), false],
  ['a little more than half is no end', courseOf(half(2, 0.6)), true],
  ['a quiet night says nothing, neither at half', courseOf(half(), night), true],
  ['nor at its usual level', courseOf(half(4, 1), night), true],
  ['nor twice as many in it', courseOf(half(1, 2), night), true],
  ['a day later it lasts, with nothing left from before', courseOf(() => 0.5), true],
  ['and what came back by then is over', courseOf(() => 1), false],
  ['hardly any left is lost until a few come', courseOf((ago) => (ago > FELL ? 1 : ago > 0.5 ? 0 : 1)), false],
  ['where nothing is usual, nothing is over', courseOf(half(), () => 0), true],
]
for (const [what, course, kept] of CASES) test(`of a fall: ${what}`, () => assert.equal(isKept(course), kept))

test('a fall of weeks is compared with what was usual before it, not with what was learnt from it', () => {
  const learnt = courseOf(() => 0.95)
  assert.deepEqual(
    [isKept(learnt), isKept(learnt, 1, true, { ...OPEN, hourly: 1.5 * HOURLY })],
    [false, true],
    'two thirds of what was usual are 95 % of what is usual now',
  )
  const back = courseOf(half(1, 1.5))
  assert.equal(isKept(back, 1, true, { ...OPEN, hourly: 1.5 * HOURLY }), false, 'it ends at the level before it')
  assert.equal(isKept(courseOf(half(1, 1)), 1, true, { ...OPEN, hourly: HOURLY / 2 }), false, 'or at a higher one')
})

test('a site keeps what was usual when its fall was found', () => {
  const usual = (hourly: number) => ({ of: () => ({ expectedIn: () => hourly }) }) as unknown as UsualCounts
  const found = dataVolume(
    volumeInput({ usual: () => ({ page_view: 20 }), recent: () => ({ page_view: 5 }) }),
    DATA_VOLUME_DEFAULTS,
  )
  const open = openFalls(found, new Map(), usual(900))
  assert.equal(open.get(null)?.hourly, 900)
  assert.equal(openFalls(found, open, usual(700)).get(null)?.hourly, 900)
})

test('a special day, or people who call it no problem, end a fall', () => {
  const course = courseOf(half())
  const special = { ...course, specialUntil: TO + HOUR }
  assert.deepEqual([isKept(course), isKept(special), isKept(course, 1.5)], [true, false, false])
  assert.equal(isKept(special, 1, false), true, 'an event is compared with the others')
  assert.equal(isKept(course, 1), true)
})

test('a fall to what has been usual for all weeks compared is over, even where too few come to show it', () => {
  // In a day, six of the event: so few that no day of them speaks for their usual level.
  const few: Rates = (time) => ({ page_view: 20, ...(time % (4 * HOUR) === 0 ? { purchase: 1 } : {}) })
  const isBadAfter = (days: number) => {
    const open = new Map([['purchase', { since: NOON - days * DAY, widening: 1 }]])
    return isBad(dataVolume({ ...volumeInput({ usual: few }), open }, DATA_VOLUME_DEFAULTS))
  }
  assert.deepEqual([isBadAfter(2), isBadAfter(27), isBadAfter(28)], [true, true, false])
})

test('the band of a fall that lasts begins where the level is back, so that what is bad lies outside', () => {
  const input = volumeInput({ usual: () => ({ page_view: 20 }), recent: () => ({ page_view: 14 }) })
  const bandOf = (open: OpenFalls) => siteOf(dataVolume({ ...input, open }, DATA_VOLUME_DEFAULTS).details.findings)
  const alone = bandOf(new Map())
  assert.ok(alone?.status === 'ok' && Number(alone.measured) > Number(alone.band.low), 'by the run alone it passes')
  const kept = bandOf(new Map([[null, { since: NOON - DAY, widening: 1 }]]))
  assert.ok(kept?.status === 'warning' && Number(kept.measured) < Number(kept.band.low))
  assert.equal(kept.band.low, 0.9 * Number(kept.expected))
})

test('after two days a fall that the counts neither show nor end says what to do if it is the new level', () => {
  const input = volumeInput({ usual: () => ({ page_view: 20 }), recent: () => ({ page_view: 14 }) })
  const messageAfter = (days: number) => {
    const open = new Map([[null, { since: NOON - days * DAY, widening: 1 }]])
    return siteOf(dataVolume({ ...input, open }, DATA_VOLUME_DEFAULTS).details.findings)?.message ?? ''
  }
  assert.match(messageAfter(1), /; the counts do not show yet that the fall is over$/)
  assert.match(messageAfter(2), /that the fall is over: if this is the new level, answer “Not a problem” on the alert$/)
})

/** How often an alert of the site opens, in runs every half hour from noon on, and whether one is open at the end. */
function alertsOf(seed: number, shareAt: (hours: number) => number, hours: number, remembers = true) {
  const [usual, recent] = [visitsOf(seed, () => 1), visitsOf(seed, (time) => shareAt((time - NOON) / HOUR))]
  let open: OpenFalls = new Map()
  let opened = 0
  let wasBad = false
  for (let now = NOON + 30 * MINUTE; now <= NOON + hours * HOUR; now += 30 * MINUTE) {
    const input = volumeInput({ usual, recent, now })
    const verdict = dataVolume({ ...input, open }, DATA_VOLUME_DEFAULTS)
    if (remembers) open = openFalls(verdict, open, input.usual)
    const isBad = siteOf(verdict.details.findings)?.status !== 'ok'
    if (isBad && !wasBad) opened++
    wasBad = isBad
  }
  return { opened, isOpen: wasBad }
}

test('a loss of half at a shop of few visits does not begin again and again in its first day', () => {
  const half = (hours: number) => (hours < 0 ? 1 : 0.5)
  const opened = (remembers: boolean) => [2, 3].map((seed) => alertsOf(seed, half, 24, remembers).opened)
  assert.deepEqual(opened(true), [1, 2])
  assert.ok(
    opened(false).every((times) => times >= 4),
    'by each run alone it does',
  )
})

test('a loss that is over has resolved by the next day', () => {
  const over = (hours: number) => (hours < 0 || hours > 8 ? 1 : 0.4)
  assert.deepEqual(alertsOf(3, over, 26), { opened: 1, isOpen: false })
})
