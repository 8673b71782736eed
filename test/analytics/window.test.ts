import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hourSplits, offsetSpans, parseRange, previousRange, type RangeQuery } from '../../src/analytics/window.ts'
import { AppError, DAY, floorTo, HOUR, isoTime } from '../../src/lib/index.ts'
import { hourSplit } from '../../src/rollups/index.ts'

const NOW = Date.parse('2026-11-20T12:34:30Z')
const END = Date.parse('2026-11-20T12:35:00Z')
const RETENTION = { minuteDays: 7, hourDays: 30 }
/** Hours are kept by whole UTC days. */
const EARLIEST = Date.parse('2026-10-21T00:00:00Z')
const time = (text: string) => Date.parse(text)

const ANSWERED: readonly { name: string; query: RangeQuery; from: number; to: number }[] = [
  { name: 'nothing: the last 24 hours', query: {}, from: END - DAY, to: END },
  { name: 'hours', query: { hours: 1 }, from: END - HOUR, to: END },
  { name: 'all hours that are kept', query: { hours: 720 }, from: END - 30 * DAY, to: END },
  { name: 'from alone: until now', query: { from: time('2026-11-20T10:00:00Z') }, from: END - 155 * 60_000, to: END },
  {
    name: 'from and to',
    query: { from: time('2026-11-01T00:00:00Z'), to: time('2026-11-02T00:00:00Z') },
    from: time('2026-11-01T00:00:00Z'),
    to: time('2026-11-02T00:00:00Z'),
  },
  { name: 'the earliest time that is kept', query: { from: EARLIEST }, from: EARLIEST, to: END },
  { name: 'a time ahead', query: { from: NOW, to: NOW + DAY }, from: NOW, to: NOW + DAY },
]

for (const { name, query, from, to } of ANSWERED) {
  test(`a window can be given as ${name}`, () => {
    assert.deepEqual(parseRange(query, NOW, RETENTION), { from, to })
  })
}

const REFUSED: readonly { name: string; query: RangeQuery; path: string; message: RegExp }[] = [
  { name: 'to without from', query: { to: NOW }, path: '/to', message: /needs from/ },
  { name: 'hours with from', query: { from: NOW - HOUR, hours: 1 }, path: '/hours', message: /cannot be combined/ },
  { name: 'from at to', query: { from: NOW - HOUR, to: NOW - HOUR }, path: '/from', message: /must be before to/ },
  { name: 'from after to', query: { from: NOW - HOUR, to: NOW - DAY }, path: '/from', message: /must be before to/ },
  { name: 'from in the future', query: { from: END }, path: '/from', message: /future/ },
  {
    name: 'a time that is no longer kept',
    query: { from: EARLIEST - 1 },
    path: '/from',
    message: /2026-10-21T00:00:00\.000Z or later: counts are kept for 30 days/,
  },
  { name: 'an endless range', query: { from: NOW, to: NOW + 31 * DAY }, path: '/to', message: /at most 30 days after/ },
  { name: 'no hours', query: { hours: 0 }, path: '/hours', message: /from 1 to 720/ },
  { name: 'half hours', query: { hours: 1.5 }, path: '/hours', message: /whole number from 1 to 720/ },
  { name: 'more hours than are kept', query: { hours: 721 }, path: '/hours', message: /from 1 to 720/ },
]

for (const { name, query, path, message } of REFUSED) {
  test(`a window with ${name} is refused, saying what is allowed`, () => {
    assert.throws(
      () => parseRange(query, NOW, RETENTION),
      (thrown) => {
        assert.ok(thrown instanceof AppError)
        assert.equal(thrown.code, 'invalid_request')
        assert.equal(thrown.details[0]?.path, path)
        assert.match(thrown.message, message)
        return true
      },
    )
  })
}

test('the previous window has the same length and ends where the window starts', () => {
  assert.deepEqual(previousRange({ from: NOW - HOUR, to: NOW }, NOW, RETENTION), {
    from: NOW - 2 * HOUR,
    to: NOW - HOUR,
  })
})

test('a previous window whose counts are gone is refused', () => {
  assert.throws(() => previousRange({ from: NOW - 20 * DAY, to: NOW }, NOW, RETENTION), /choose a shorter window/)
})

test('hours are split where the roll-up splits them, also around a clock change', () => {
  for (const timezone of ['UTC', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns', 'Australia/Lord_Howe']) {
    for (const change of ['2026-03-08T06:30:00Z', '2026-04-04T15:00:00Z', '2026-10-03T15:30:00Z']) {
      const range = { from: Date.parse(change) - DAY, to: Date.parse(change) + DAY }
      const splitOf = hourSplits(timezone, offsetSpans(timezone, range))
      for (let hour = floorTo(range.from, HOUR); hour < range.to; hour += HOUR) {
        assert.equal(splitOf(hour), hourSplit(timezone, hour), `${timezone} ${isoTime(hour)}`)
      }
    }
  }
})
