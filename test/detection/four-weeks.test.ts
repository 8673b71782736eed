import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type FieldCounts,
  type IdentifierField,
  identifierQuality,
  learnIdentifiers,
  QUALITY_DEFAULTS,
} from '../../src/detection/index.ts'
import { ordinaryLevel, waveringOfDays } from '../../src/detection/past-fields.ts'
import { type PresenceBucket, usualShare } from '../../src/detection/usual-share.ts'
import { DAY, HOUR } from '../../src/lib/index.ts'
import { bucketsUntil, NOON, SLOT } from './support.ts'

const EVENTS_AN_HOUR = 200
const ORDINARY = 0.1
const WEEK_ENDS = NOON - DAY

/** How often events have the click id, by how many days ago they came. */
type RateOf = (daysAgo: number) => number

const fieldsOf = (rate: number, events: number): FieldCounts<IdentifierField> => {
  const always = { present: events, total: events }
  const sometimes = { present: Math.round(rate * events), total: events }
  return { client_id: always, fbp: always, ip: always, user_agent: always, fbc: sometimes, click_id: sometimes }
}

function historyOf(rate: RateOf, { now = rate(0), days = 21 } = {}) {
  const buckets = (ranges: ReturnType<typeof bucketsUntil>, events: number): PresenceBucket<IdentifierField>[] =>
    ranges.map((range) => ({ ...range, fields: fieldsOf(rate((NOON - range.to) / DAY), events) }))
  return {
    event_name: 'page_view',
    recent: bucketsUntil(NOON, SLOT, 24).map((range) => ({ ...range, fields: fieldsOf(now, 100) })),
    usual: buckets(bucketsUntil(WEEK_ENDS, HOUR, 168), EVENTS_AN_HOUR),
    earlier: buckets(bucketsUntil(WEEK_ENDS - 7 * DAY, DAY, days), 24 * EVENTS_AN_HOUR),
  }
}

const steady: RateOf = () => ORDINARY
/** Three times as many clicks for six days, until a day ago. */
const campaign: RateOf = (daysAgo) => (daysAgo >= 1 && daysAgo < 7 ? 3 * ORDINARY : ORDINARY)
/** Nearly all of them were lost for five days, two weeks ago. */
const lostBefore: RateOf = (daysAgo) => (daysAgo >= 12 && daysAgo < 17 ? 0.01 : ORDINARY)

const LEVELS: readonly [what: string, rate: RateOf, days: number, low: number, high: number][] = [
  ['all of it where nothing changes', steady, 21, 0.99, 1],
  ['what is left of a campaign that filled nearly all of the week', campaign, 21, 0.33, 0.45],
  ['not what was left by a fault of some days', lostBefore, 21, 0.99, 1],
  ['known after two weeks', campaign, 8, 0.33, 0.45],
]
for (const [what, rate, days, low, high] of LEVELS) {
  test(`the ordinary level is ${what}`, () => {
    const history = historyOf(rate, { days })
    const level = ordinaryLevel('click_id', history, usualShare('click_id', history.usual, { times: 0.5 }))
    assert.ok(level !== null && level >= low && level <= high, `${level}`)
  })
}

test('the ordinary level is not known before two weeks are', () => {
  const history = historyOf(steady, { days: 6 })
  assert.equal(ordinaryLevel('click_id', history, usualShare('click_id', history.usual, { times: 0.5 })), null)
})

test('days of a rare event are taken together: chance is no campaign', () => {
  const rare = (range: { from: number }) => ({ present: (range.from / DAY) % 5 < 1 ? 1 : 0, total: 2 })
  const earlier = bucketsUntil(WEEK_ENDS - 7 * DAY, DAY, 21).map((range) => ({
    ...range,
    fields: { field: rare(range) },
  }))
  const usual = bucketsUntil(WEEK_ENDS, HOUR, 168).map((range) => ({
    ...range,
    fields: { field: { present: 1, total: 10 } },
  }))
  const level = ordinaryLevel('field', { usual, earlier }, { rate: 0.1, together: 1 })
  assert.ok(level !== null && level > 0.5, `${level}`)
})

const SITUATIONS: readonly [what: string, rate: RateOf, now: number, days: number, status: string][] = [
  ['three tenths of the usual clicks are left', steady, 0.03, 21, 'warning'],
  ['none is left', steady, 0, 21, 'critical'],
  ['a third is left as a campaign ended', campaign, ORDINARY, 21, 'ok'],
  ['two tenths of the clicks without a campaign are left after one', campaign, 0.02, 21, 'critical'],
  ['three tenths are left on a site that is known for a week', steady, 0.03, 0, 'ok'],
  ['a tenth is left on a site that is known for a week', steady, 0.01, 0, 'warning'],
]
for (const [what, rate, now, days, status] of SITUATIONS) {
  test(`click ids are ${status} where ${what}`, () => {
    const { event_name, recent, ...weeks } = historyOf(rate, { now, days })
    const kind = { event_name, recent, past: learnIdentifiers(weeks, QUALITY_DEFAULTS) }
    const verdict = identifierQuality({ now: NOON, kinds: [kind] }, QUALITY_DEFAULTS)
    assert.equal(verdict.status, status, verdict.message)
    const fields = verdict.details.findings.map(({ subject }) => subject.field)
    assert.deepEqual(fields.toSorted(), status === 'ok' ? [] : ['click_id', 'fbc'])
  })
}

/** What ten normal numbers may be. */
const NORMAL = [-1.8, -1.1, -0.7, -0.4, 0, 0.3, 0.6, 0.9, 1.3, 1.9]
const BASE = 0.3
/** Days whose rates differ by a twentieth of all events, in an order in which no week is like another. */
const wavering: RateOf = (daysAgo) => BASE + 0.05 * (NORMAL[(7 * Math.floor(daysAgo)) % NORMAL.length] ?? 0)
const even: RateOf = () => BASE

const WAVERINGS: readonly [what: string, rate: RateOf, low: number, high: number][] = [
  ['hardly known to be more than nothing where all days are alike', even, 0, 0.02 * (BASE * (1 - BASE)) ** 2],
  ['that of the days, with what four weeks may make too little of it', wavering, 0.05 ** 2, 2 * 0.05 ** 2],
]
for (const [what, rate, low, high] of WAVERINGS) {
  test(`the wavering of a share is ${what}`, () => {
    const history = historyOf(rate)
    const found = waveringOfDays('click_id', history, { rate: BASE, together: 1 })
    assert.ok(found !== null && found >= low && found <= high, `${found}`)
  })
}

test('a fault of two days makes the wavering of a share at most twice as large', () => {
  const faulty: RateOf = (daysAgo) => (daysAgo >= 12 && daysAgo < 14 ? 0.02 : wavering(daysAgo))
  const [without, withFault] = [wavering, faulty].map(
    (rate) => waveringOfDays('click_id', historyOf(rate), { rate: BASE, together: 1 }) ?? 0,
  )
  assert.ok(
    without !== undefined && withFault !== undefined && withFault <= 2 * without,
    `${without}, then ${withFault}`,
  )
})

test('the wavering of a share is no more where chance alone makes days differ, and unknown before two weeks are', () => {
  // Of 120 clumps of 40 events each a day: chance makes a standard deviation of 0.042.
  const history = historyOf((daysAgo) => BASE + 0.042 * (NORMAL[(7 * Math.floor(daysAgo)) % NORMAL.length] ?? 0))
  const found = waveringOfDays('click_id', history, { rate: BASE, together: 40 })
  assert.ok(found !== null && found < 0.03 ** 2, `${found}`)
  assert.equal(waveringOfDays('click_id', historyOf(even, { days: 6 }), { rate: BASE, together: 1 }), null)
})
