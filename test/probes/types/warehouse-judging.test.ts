import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR, MINUTE } from '../../../src/lib/index.ts'
import { countQuery } from '../../../src/probes/google/warehouse.ts'
import {
  expectedRows,
  judgeIntraday,
  judgeMissing,
  judgeRows,
  reconcile,
  withExpected,
  withRatio,
} from '../../../src/probes/warehouse-events/parts.ts'
import { localDay, timeAfter } from '../../../src/probes/warehouse-events/settings.ts'

const at = (iso: string) => Date.parse(iso)

const DAYS: readonly [zone: string, now: string, before: number, suffix: string, start: string, hours: number][] = [
  ['UTC', '2026-11-20T10:00:00Z', 1, '20261119', '2026-11-19T00:00:00Z', 24],
  ['America/Los_Angeles', '2026-11-20T05:00:00Z', 1, '20261118', '2026-11-18T08:00:00Z', 24],
  ['Asia/Kolkata', '2026-11-19T19:00:00Z', 0, '20261120', '2026-11-19T18:30:00Z', 24],
  ['Europe/Berlin', '2026-03-30T10:00:00Z', 1, '20260329', '2026-03-28T23:00:00Z', 23],
  ['Europe/Berlin', '2026-10-26T10:00:00Z', 1, '20261025', '2026-10-24T22:00:00Z', 25],
  ['UTC', '2027-01-01T00:00:00Z', 1, '20261231', '2026-12-31T00:00:00Z', 24],
]

for (const [zone, now, before, suffix, start, hours] of DAYS) {
  test(`${before} days before ${now} in ${zone} is ${suffix}, ${hours} hours long`, () => {
    const day = localDay(zone, at(now), before)
    assert.deepEqual([day.suffix, day.start, (day.end - day.start) / HOUR], [suffix, at(start), hours])
  })
}

test('a deadline is a time of the zone on the next day, across a change of the clocks', () => {
  const day = localDay('Europe/Berlin', at('2026-03-29T10:00:00Z'), 1)
  assert.equal(timeAfter('Europe/Berlin', day.end, '14:00'), at('2026-03-29T12:00:00Z'))
})

const MISSING: readonly [now: string, status: string, said: RegExp, reason?: string][] = [
  ['2026-11-20T13:59:59Z', 'ok', /is not due before 14:00 \(UTC\)/],
  ['2026-11-20T14:00:00Z', 'warning', /was due at 14:00 \(UTC\), and its day ended 14 h ago/, 'table_late'],
  ['2026-11-21T11:59:59Z', 'warning', /is late/, 'table_late'],
  ['2026-11-21T12:00:00Z', 'critical', /is missing 36 h after the end of its day/, 'table_missing'],
]

for (const [now, status, said, reason] of MISSING) {
  test(`a table of the 19th that is not there is ${status} at ${now}`, () => {
    const day = localDay('UTC', at('2026-11-20T00:00:00Z'), 1)
    const part = judgeMissing({ day, table: 'events_20261119', rows: null }, 'UTC', '14:00', at(now))
    assert.deepEqual([part.status, part.details.reason], [status, reason])
    assert.match(part.message, said)
  })
}

const RULES = { warning_ratio: 0.5, critical_ratio: 0.2, min_expected_rows: 100 }
const ROWS: readonly [rows: number, history: readonly number[], status: string, said: RegExp][] = [
  [1_000, [1_000, 900, 1_100, 5_000], 'ok', /1,000 rows, 95.* % of the 1,050 that are usual on a Thursday/],
  [500, [1_000, 1_000, 1_000, 1_000], 'ok', /50 %/],
  [499, [1_000, 1_000, 1_000, 1_000], 'warning', /49.9 % of the 1,000/],
  [200, [1_000, 1_000, 1_000, 1_000], 'warning', /20 %/],
  [199, [1_000, 1_000, 1_000, 1_000], 'critical', /19.9 %/],
  [199, [1_000, 1_000], 'critical', /19.9 %/],
  [0, [], 'critical', /is empty/],
  [1, [1_000], 'ok', /has 1 row$/],
  [1, [99, 99, 99, 99], 'ok', /has 1 row$/],
  [1, [0, 0, 0], 'ok', /has 1 row$/],
]

for (const [rows, history, status, said] of ROWS) {
  test(`${rows} rows are ${status} when the weeks before had ${history.join(', ') || 'none'}`, () => {
    const day = localDay('UTC', at('2026-11-20T10:00:00Z'), 1)
    const part = judgeRows({ day, table: 'events_20261119', rows }, history, RULES)
    assert.equal(part.status, status)
    assert.match(part.message, said)
  })
}

test('a holiday is not compared with ordinary days, and is bad only when its table is empty', () => {
  const day = localDay('UTC', at('2026-12-26T10:00:00Z'), 1)
  const judge = (rows: number) => judgeRows({ day, table: 'events_20261225', rows }, null, RULES)
  assert.deepEqual(
    [judge(10).status, judge(10).message],
    ['ok', 'events_20261225 has 10 rows, not compared: the day is a public holiday or marked as special'],
  )
  assert.equal(judge(0).status, 'critical')
  const { is_special_day: isSpecial, expected_rows: expected, warning_below: least } = judge(10).details
  assert.deepEqual([isSpecial, expected, least], [true, null, null])
})

test('the details of a table say from how many rows on it is bad', () => {
  const day = localDay('UTC', at('2026-11-20T10:00:00Z'), 1)
  const { details } = judgeRows({ day, table: 'events_20261119', rows: 900 }, [1_000, 1_000, 1_000], RULES)
  const { expected_rows: expected, warning_below: warning, critical_below: critical, ...rest } = details
  assert.deepEqual([expected, warning, critical], [1_000, 500, 200])
  assert.deepEqual([rest.weeks_known, rest.is_special_day], [3, false])
})

const TODAY = at('2026-11-20T00:00:00Z')
const STREAM: readonly [now: number, fresh: number | null, usual: boolean, status: string | null][] = [
  [15 * HOUR, 15 * HOUR - MINUTE, true, 'ok'],
  [15 * HOUR, 13 * HOUR + MINUTE, true, 'ok'],
  [15 * HOUR, 13 * HOUR, true, 'warning'],
  [15 * HOUR, 9 * HOUR, true, 'critical'],
  [9 * HOUR, 1 * HOUR, true, 'ok'],
  [10 * HOUR, 1 * HOUR, true, 'warning'],
  [22 * HOUR, 9 * HOUR, true, 'ok'],
  [23 * HOUR, 9 * HOUR, true, 'ok'],
  [15 * HOUR, null, true, 'critical'],
  [9 * HOUR, null, true, 'ok'],
  [15 * HOUR, null, false, null],
  [15 * HOUR, 9 * HOUR, false, 'critical'],
]

for (const [now, fresh, isUsual, status] of STREAM) {
  const change = fresh === null ? 'no table' : `a last change at ${fresh / HOUR} h`
  test(`${change} is ${status ?? 'not judged'} at ${now / HOUR} h when streaming is ${isUsual ? '' : 'not '}usual`, () => {
    const freshAt = fresh === null ? null : TODAY + fresh
    const hours = { activeFrom: TODAY + 8 * HOUR, activeTo: TODAY + 22 * HOUR }
    const part = judgeIntraday({ table: 'events_intraday_20261120', freshAt, isUsual, ...hours }, TODAY + now)
    assert.equal(part?.status ?? null, status)
  })
}

const SAID_OF_STREAM: readonly [now: number, fresh: number | null, said: RegExp][] = [
  [9 * HOUR, null, /^There is no events_intraday_20261120 yet$/],
  [15 * HOUR, null, /^Nothing is streamed today: there is no events_intraday_20261120, 7 h into the active hours$/],
  [15 * HOUR, 14 * HOUR, /^events_intraday_20261120 last changed 60 min ago$/],
  [15 * HOUR, 9 * HOUR, /^events_intraday_20261120 has not changed for 6 h$/],
]

for (const [now, fresh, said] of SAID_OF_STREAM) {
  test(`of a stream ${fresh === null ? 'without a table' : `last changed at ${fresh / HOUR} h`} it says at ${now / HOUR} h: ${said.source}`, () => {
    const freshAt = fresh === null ? null : TODAY + fresh
    const hours = { activeFrom: TODAY + 8 * HOUR, activeTo: TODAY + 22 * HOUR }
    const part = judgeIntraday({ table: 'events_intraday_20261120', freshAt, isUsual: true, ...hours }, TODAY + now)
    assert.match(part?.message ?? '', said)
    assert.equal(part?.details.exists, fresh !== null)
  })
}

const EXPECTED: readonly [what: string, known: Parameters<typeof expectedRows>[2], expected: number][] = [
  [
    'the median of like days, spread over the active hours',
    { ofDay: [1_400, 1_000, 9_000], ratios: [], ours: 50 },
    600,
  ],
  ['our own counts by the usual ratio, if they say more', { ofDay: [140], ratios: [0.4, 0.5, 0.6], ours: 900 }, 450],
  ['our own counts alone on a holiday', { ofDay: null, ratios: [0.5], ours: 900 }, 450],
  ['nothing, where nothing is known', { ofDay: [], ratios: [], ours: 900 }, 0],
]

for (const [what, known, expected] of EXPECTED) {
  test(`of a silence of 6 h, the expected rows are ${what}`, () => {
    const stream = { freshAt: TODAY + 9 * HOUR, activeFrom: TODAY + 8 * HOUR, activeTo: TODAY + 22 * HOUR }
    assert.equal(expectedRows(stream, TODAY + 15 * HOUR, known), expected)
  })
}

test('a silence counts where as many rows as are needed were expected, and is said where fewer were', () => {
  const part = { status: 'critical', message: 'Silence', details: { reason: 'stream_stopped' } } as const
  const counts = withExpected(part, 100, 100)
  assert.deepEqual(counts, { ...part, details: { reason: 'stream_stopped', expected_rows: 100 } })
  const small = withExpected(part, 99, 100)
  assert.deepEqual([small.status, small.details], ['ok', { expected_rows: 99, judged: false }])
  assert.match(small.message, /^Silence; not judged, as 99 rows would be usual in that time, fewer than 100$/)
})

const ratiosOf = (days: number, ratio: number) =>
  Object.fromEntries(Array.from({ length: days }, (_, n) => [`202611${String(n + 1).padStart(2, '0')}`, ratio]))

const COUNTS: readonly [what: string, warehouse: number, ours: number, days: number, status: string][] = [
  ['13 days are known', 100, 1_000, 13, 'ok'],
  ['14 days are known and it is far below', 100, 1_000, 14, 'warning'],
  ['14 days are known and it is far above', 2_000, 1_000, 14, 'warning'],
  ['14 days are known and it is like them', 880, 1_000, 14, 'ok'],
  ['there were few events', 1, 99, 14, 'ok'],
  ['there were just enough events', 1, 100, 14, 'warning'],
]

for (const [what, warehouse, ours, days, status] of COUNTS) {
  test(`the ratio of the counts is ${status} when ${what}`, () => {
    const part = reconcile('20261119', warehouse, ours, ratiosOf(days, 0.9))
    assert.equal(part.status, status)
  })
}

test('the ratio of the day itself is not part of what is usual', () => {
  const ratios = withRatio(ratiosOf(13, 0.9), '20261119', 100, 1_000)
  assert.equal(reconcile('20261119', 100, 1_000, ratios).details.days_known, 13)
})

test('the ratios of four weeks are kept', () => {
  const ratios = withRatio(ratiosOf(28, 0.9), '20261201', 500, 1_000)
  assert.deepEqual([Object.keys(ratios).length, ratios['20261101'], ratios['20261201']], [28, undefined, 0.5])
  // A day that is read late goes where it belongs, and here that is too long ago.
  assert.deepEqual(withRatio(ratiosOf(28, 0.9), '20261031', 500, 1_000), ratiosOf(28, 0.9))
})

test('a day of few events says nothing about the usual ratio', () => {
  assert.deepEqual(withRatio({}, '20261119', 50, 99), {})
  assert.deepEqual(withRatio({}, '20261119', 50, 100), { '20261119': 0.5 })
})

test('a name that is none does not get into a query', () => {
  const good = { project: 'acme-tags', dataset: 'analytics_1', table: 'events_20261119' }
  assert.match(String(countQuery(good, ['purchase']).query), /FROM `acme-tags.analytics_1.events_20261119` WHERE/)
  for (const bad of [{ project: 'a`b' }, { dataset: 'a.b`' }, { table: 'x` y' }]) {
    assert.throws(() => countQuery({ ...good, ...bad }, []), { name: 'GoogleFailure', reason: 'bad_request' })
  }
})
