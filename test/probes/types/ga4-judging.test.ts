import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, isoTime } from '../../../src/lib/index.ts'
import { ofPartsOfHours, ofWholeHours, settledCounts } from '../../../src/probes/ga4-counts/counts.ts'
import {
  askedAt,
  dateHourOf,
  dateHoursAround,
  isTimeZone,
  minuteOfHours,
} from '../../../src/probes/ga4-counts/hours.ts'
import { readMemory, writtenMemory } from '../../../src/probes/ga4-counts/memory.ts'
import { pauseAfter, pauseAfterRefusal, readQuotas } from '../../../src/probes/ga4-counts/quota.ts'
import { type Ga4Report, readReport } from '../../../src/probes/ga4-counts/report.ts'
import { checkConfig, eventsOf } from '../../../src/probes/ga4-counts/settings.ts'
import { NOW } from '../../../testkit/clock.ts'

const at = (iso: string): number => Date.parse(iso)

for (const [zone, hour, name] of [
  ['UTC', '2026-11-20T14:00Z', '2026112014'],
  ['Europe/Berlin', '2026-11-20T23:00Z', '2026112100'],
  ['America/Los_Angeles', '2026-11-20T07:00Z', '2026111923'],
  ['Pacific/Kiritimati', '2026-11-20T11:00Z', '2026112101'],
  // Clocks are set back: 02:00 comes twice, and GA4 adds both up.
  ['Europe/Berlin', '2026-10-24T23:00Z', '2026102501'],
  ['Europe/Berlin', '2026-10-25T00:00Z', null],
  ['Europe/Berlin', '2026-10-25T01:00Z', null],
  ['Europe/Berlin', '2026-10-25T02:00Z', '2026102503'],
  // And forward: 02:00 does not come.
  ['Europe/Berlin', '2026-03-29T00:00Z', '2026032901'],
  ['Europe/Berlin', '2026-03-29T01:00Z', '2026032903'],
  // Hours that begin within those of UTC.
  ['Asia/Kolkata', '2026-11-20T14:00Z', null],
  ['Asia/Kathmandu', '2026-11-20T14:00Z', null],
  // Half an hour off in winter alone; an hour of 90 minutes when it begins.
  ['Australia/Lord_Howe', '2026-01-20T14:00Z', '2026012101'],
  ['Australia/Lord_Howe', '2026-04-04T14:00Z', null],
  ['Australia/Lord_Howe', '2026-07-20T14:00Z', null],
] as const) {
  test(`in ${zone} the hour of ${hour} is ${name ?? 'no hour of its own'}`, () => {
    assert.equal(dateHourOf(zone, at(hour)), name)
  })
}

test('zones are known by their names', () => {
  assert.deepEqual(['Europe/Berlin', 'Etc/GMT+3', 'Mars/Olympus', '', '(not set)', '\0'].map(isTimeZone), [
    true,
    true,
    false,
    false,
    false,
    false,
  ])
})

test('the dates that are asked for hold the settled hours in every zone, and are over', () => {
  const asked = askedAt(at('2026-11-20T10:20:00Z'), { days: 1, settled_after_hours: 48 })
  assert.deepEqual(
    [isoTime(asked.from), isoTime(asked.until)],
    ['2026-11-17T10:00:00.000Z', '2026-11-18T10:00:00.000Z'],
  )
  assert.deepEqual([asked.startDate, asked.endDate, asked.hoursMax], ['2026-11-16', '2026-11-18', 75])
  for (const zone of ['Etc/GMT+12', 'Pacific/Kiritimati', 'UTC']) {
    for (let hour = asked.from; hour < asked.until; hour += HOUR) {
      const name = dateHourOf(zone, hour) ?? ''
      assert.ok(name >= '2026111600' && name <= '2026111823', `${zone} ${name}`)
    }
  }
  const soonest = askedAt(at('2026-11-20T23:59:00Z'), { days: 1, settled_after_hours: 24 })
  assert.ok(soonest.endDate <= '2026-11-20')
})

const EXACT = { isThresholded: false, isSampled: false, sampledShare: null, hasOther: false }

const report = (rows: Readonly<Record<string, Readonly<Record<string, number>>>>, over: Partial<Ga4Report> = {}) => {
  const counts = new Map(Object.entries(rows).map(([event, hours]) => [event, new Map(Object.entries(hours))]))
  const newest = Object.values(rows)
    .flatMap((hours) => Object.keys(hours))
    .toSorted()
    .at(-1)
  return { timezone: 'UTC', counts, newest: newest ?? null, caveats: EXACT, quotas: {}, ...over } satisfies Ga4Report
}

const UNTIL = at('2026-11-18T10:00:00Z')
const WINDOW = { from: UNTIL - 2 * DAY, until: UNTIL }
const EVENTS = [{ name: 'order', ga4: 'purchase' }]
const settle = (given: Ga4Report, known: readonly string[] = [], events = EVENTS) =>
  settledCounts(ofWholeHours(given), WINDOW, { source: 'GA4', events, known })
const lastHour = (given: Ga4Report, known?: readonly string[]) => settle(given, known).counts.at(-1)?.hour ?? null

test('hours without a row are 0 up to the newest row, and a day older ones in any case', () => {
  const { counts, newest, events } = settle(report({ purchase: { '2026111714': 3, '2026111718': 2 } }))
  assert.equal(newest, at('2026-11-17T18:00:00Z'))
  assert.deepEqual(events, [{ name: 'order', ga4: 'purchase', total: 5, hours: 33, isKnown: true }])
  assert.deepEqual(
    counts.filter(({ count }) => count > 0),
    [
      { source: 'GA4', event: 'order', hour: at('2026-11-17T14:00:00Z'), count: 3 },
      { source: 'GA4', event: 'order', hour: at('2026-11-17T18:00:00Z'), count: 2 },
    ],
  )
  // GA4 may be late with all that follows the only row.
  assert.equal(lastHour(report({ purchase: { '2026111612': 1 } })), UNTIL - DAY - HOUR)
  // A row of a later hour, or of another event, shows that it is not.
  assert.equal(lastHour(report({ purchase: { '2026111612': 1, '2026111812': 1 } })), UNTIL - HOUR)
  const other = [...EVENTS, { name: 'lead', ga4: 'lead' }]
  const both = settle(report({ purchase: { '2026111612': 1 }, lead: { '2026111809': 1 } }), [], other)
  assert.deepEqual(
    both.events.map(({ total, hours }) => [total, hours]),
    [
      [1, 47],
      [1, 48],
    ],
  )
  const turned = settle(report({ purchase: { '2026111612': 1 }, lead: { '2026111809': 1 } }), [], other.toReversed())
  assert.equal(turned.newest, UNTIL - HOUR, 'the newest hour of all events')
})

test('a report shows its newest hour in whatever order its rows come, and no more rows than were asked for are read', () => {
  const row = (event: string, hour: string) => ({
    dimensionValues: [{ value: event }, { value: hour }],
    metricValues: [{ value: '7' }],
  })
  const rows = [row('purchase', '2026111712'), row('lead', '2026111714'), row('purchase', '2026111713')]
  const answer = { rows, rowCount: 3, metadata: { timeZone: 'Europe/Berlin' } }
  const { newest, counts, timezone } = readReport(answer, 3)
  assert.deepEqual([newest, timezone], ['2026111714', 'Europe/Berlin'])
  assert.deepEqual(
    [...(counts.get('purchase') ?? [])],
    [
      ['2026111712', 7],
      ['2026111713', 7],
    ],
  )
  assert.throws(() => readReport(answer, 2), /has 3 rows but reports 3/)
  for (const timeZone of [undefined, 7, 'Europe/Atlantis', `Europe/${'B'.repeat(1_000)}`]) {
    assert.throws(() => readReport({ ...answer, metadata: { timeZone } }, 3), /names no time zone/)
  }
})

test('an event that GA4 never showed has no zeros, one that it has shown before has', () => {
  assert.deepEqual(settle(report({})).counts, [])
  assert.equal(settle(report({})).events[0]?.isKnown, false)
  assert.equal(lastHour(report({}), ['purchase']), UNTIL - DAY - HOUR)
})

for (const caveat of ['isThresholded', 'isSampled', 'hasOther'] as const) {
  test(`a missing row is no zero where GA4 says ${caveat}`, () => {
    const { counts } = settle(report({ purchase: { '2026111612': 1 } }, { caveats: { ...EXACT, [caveat]: true } }))
    assert.equal(counts.length, 1)
  })
}

test('the hours that a zone does not have, or has twice, are left out and counted', () => {
  assert.equal(settle(report({ purchase: { '2026111612': 1 } }, { timezone: 'Asia/Kolkata' })).leftOut, 48)
  const until = at('2026-10-26T00:00:00Z')
  const { leftOut, counts } = settledCounts(
    ofWholeHours(report({ purchase: { '2026102502': 9, '2026102523': 1 } }, { timezone: 'Europe/Berlin' })),
    { from: until - 2 * DAY, until },
    { source: 'GA4', events: EVENTS, known: [] },
  )
  assert.deepEqual([leftOut, counts.reduce((sum, { count }) => sum + count, 0)], [2, 1])
})

test('a UTC hour is the end of an hour of India and the beginning of the next', () => {
  const timezone = 'Asia/Kolkata'
  assert.equal(minuteOfHours(timezone, at('2026-11-17T09:00Z')), 30)
  const parts = ofPartsOfHours(
    report({ purchase: { '2026111714': 3, '2026111715': 5, '2026111814': 1 } }, { timezone }),
    report({ purchase: { '2026111714': 100, '2026111715': 40, '2026111815': 1 } }, { timezone }),
    30,
  )
  const { counts, leftOut } = settledCounts(parts, WINDOW, { source: 'GA4', events: EVENTS, known: [] })
  assert.equal(leftOut, 0)
  assert.deepEqual(
    counts.filter(({ count }) => count > 0).map(({ hour, count }) => [isoTime(hour).slice(0, 16), count]),
    [
      ['2026-11-17T08:00', 100],
      ['2026-11-17T09:00', 43],
      ['2026-11-17T10:00', 5],
      ['2026-11-18T09:00', 2],
    ],
  )
})

test('an hour of which GA4 withholds a part is not written', () => {
  const thresholded = { timezone: 'Asia/Kolkata', caveats: { ...EXACT, isThresholded: true } }
  const parts = ofPartsOfHours(
    report({ purchase: { '2026111714': 3, '2026111715': 5 } }, thresholded),
    report({ purchase: { '2026111715': 40 } }, thresholded),
    30,
  )
  const { counts } = settledCounts(parts, WINDOW, { source: 'GA4', events: EVENTS, known: [] })
  assert.deepEqual(
    counts.map(({ hour, count }) => [isoTime(hour).slice(0, 16), count]),
    [['2026-11-17T09:00', 43]],
  )
})

for (const [zone, hour, minute, names] of [
  ['Asia/Kathmandu', '2026-11-20T14:00Z', 45, ['2026112019', '2026112020']],
  ['Australia/Adelaide', '2026-04-04T14:00Z', 30, ['2026040500', '2026040501']],
  // Clocks are set back at 16:30 UTC: what they show from two to three comes twice.
  ['Australia/Adelaide', '2026-04-04T15:00Z', 30, null],
  ['Australia/Adelaide', '2026-04-04T16:00Z', 30, null],
  ['Australia/Adelaide', '2026-04-04T17:00Z', 30, null],
  ['Australia/Adelaide', '2026-04-04T18:00Z', 30, ['2026040503', '2026040504']],
  ['Australia/Lord_Howe', '2026-11-20T14:00Z', 30, null],
  // Clocks are set forward from 02:00 to 02:30, within this hour.
  ['Australia/Lord_Howe', '2026-10-03T15:00Z', 30, null],
] as const) {
  test(`in ${zone} the hour of ${hour} lies in ${names?.join(' and ') ?? 'no two hours of their own'}`, () => {
    assert.deepEqual(dateHoursAround(zone, at(hour), minute), names)
  })
}

test('less than a tenth of a standard quota is left to others', () => {
  const quotas = (over: object) => readQuotas({ tokensPerDay: { remaining: 50_000 }, ...over })
  assert.equal(pauseAfter(quotas({}), NOW), null)
  assert.equal(pauseAfter(readQuotas(undefined), NOW), null)
  const hour = pauseAfter(quotas({ tokensPerHour: { consumed: 5, remaining: 3_999 } }), NOW)
  assert.deepEqual(hour, { until: NOW + HOUR, words: '3,999 tokens of the hour left' })
  assert.equal(pauseAfter(quotas({ tokensPerHour: { remaining: 4_000 } }), NOW), null)
  // Midnight in California.
  const day = pauseAfter(readQuotas({ tokensPerDay: { remaining: '19999' } }), NOW)
  assert.equal(day?.until, at('2026-11-21T08:00:00Z'))
  // Google leaves out a 0.
  assert.equal(pauseAfter(readQuotas({ concurrentRequests: { consumed: 1 } }), NOW)?.words, '0 requests at a time left')
})

test('quotas that are none are not known', () => {
  for (const broken of [null, 7, 'x', [], { tokensPerDay: 7 }, { tokensPerDay: { remaining: 'many' } }]) {
    assert.deepEqual(readQuotas(broken), {})
  }
  assert.deepEqual(readQuotas({ tokensPerDay: { remaining: -5 }, tokensPerHour: { remaining: 1.5 }, more: {} }), {})
})

test('a refusal says how long nothing is asked', () => {
  const until = (said: string) => pauseAfterRefusal(said, NOW).until
  assert.equal(
    until('Exhausted property tokens per hour. These quota tokens will return in under an hour.'),
    NOW + HOUR,
  )
  assert.equal(until('Exhausted property tokens per day. …'), at('2026-11-21T08:00:00Z'))
})

test('what a run remembers is of its property, and a pause never outlasts a day', () => {
  const pause = { until: NOW + HOUR, words: '5 tokens of the hour left', isRefusal: false }
  const written = writtenMemory({ known: ['purchase'], pause }, '1')
  assert.deepEqual(readMemory(written, '1', NOW), { known: ['purchase'], pause })
  assert.deepEqual(readMemory(written, '2', NOW), { known: [], pause: null })
  assert.equal(readMemory(written, '1', NOW + HOUR).pause, null)
  assert.equal(readMemory(written, '1', NOW - 2 * DAY).pause, null, 'the clock was set back')
  for (const broken of [
    { property_id: '1', known: 7, pause: 'long' },
    { property_id: '1', known: [1, null] },
  ]) {
    assert.deepEqual(readMemory(broken, '1', NOW), { known: [], pause: null })
  }
})

test('an event has one name, or two with = between them', () => {
  assert.deepEqual(eventsOf({ events: ['purchase', ' a=b = order_done '] }), [
    { name: 'purchase', ga4: 'purchase' },
    { name: 'a=b', ga4: 'order_done' },
  ])
  const faults = (events: string[], source = 'GA4') =>
    checkConfig({ events, source, days: 7, settled_after_hours: 48, exact_only: true }).map(({ path }) => path)
  assert.deepEqual(faults(['purchase', 'order=purchase']), [])
  assert.deepEqual(faults(['=purchase', 'order=', ' ', 'x'.repeat(101), 'purchase', 'purchase=a']), [
    '/events/0',
    '/events/1',
    '/events/2',
    '/events/3',
    '/events/5',
  ])
  assert.deepEqual(faults(['purchase'], ' '), ['/source'])
})
