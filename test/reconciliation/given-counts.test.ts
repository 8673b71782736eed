import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, DAY, HOUR } from '../../src/lib/index.ts'
import { countsOfCsv, ROWS_MAX, settledCounts } from '../../src/reconciliation/given-counts.ts'
import { NOW } from '../../testkit/clock.ts'

const BOUNDS = { first: NOW - 30 * DAY, last: NOW + 14 * HOUR, days: 30 }
const HOUR_AT = '2026-11-20T08:00:00Z'

const csv = (text: string, source?: string) => countsOfCsv(text, source, BOUNDS)

/** What is refused, as one line a fault. */
function faultsOf(work: () => unknown): string[] {
  try {
    work()
  } catch (thrown) {
    assert.ok(thrown instanceof AppError, String(thrown))
    assert.equal(thrown.code, 'invalid_request')
    return thrown.details.map(({ path, message }) => `${path} ${message}`)
  }
  return assert.fail('it was taken')
}

test('a file of a spreadsheet is taken: any order of columns, semicolons, a mark of bytes, quotes, blank lines', () => {
  const wanted = [{ source: 'shop', event: 'purchase, web', hour: Date.parse(HOUR_AT), count: 7 }]
  assert.deepEqual(csv(`source,event,hour,count\nshop,"purchase, web",${HOUR_AT},7\n`), wanted)
  assert.deepEqual(
    csv(`\ufeffCount;Hour;Event;Source\r\n\r\n7;2026-11-20T09:00+01:00;purchase, web; shop \r\n`),
    wanted,
  )
  assert.deepEqual(csv(`event,hour,count\n"purchase, web",${HOUR_AT},7`, 'shop'), wanted)
})

test('faults name their line, all of a file at once', () => {
  const lines = [
    'source,event,hour,count',
    `shop,purchase,${HOUR_AT},7`,
    `shop,purchase,2026-11-20T08:30:00Z,7`,
    'shop,purchase,2026-11-20 08:00,7',
    `shop,,2026-11-20T07:00:00Z,7`,
    'shop,purchase,2026-11-20T07:00:00Z,7.5',
    'shop,purchase,2026-11-20T07:00:00Z,-1',
    'shop,purchase,2026-10-20T07:00:00Z,1',
    'shop,purchase,2026-11-22T07:00:00Z,1',
    `shop,purchase,2026-11-20T09:00:00+01:00,8`,
    'shop,purchase',
    'caf\ufffd,purchase,2026-11-20T07:00:00Z,1',
  ]
  assert.deepEqual(
    faultsOf(() => csv(lines.join('\n'))),
    [
      'line 11 has 2 fields, but the header has 4',
      'line 12 is not UTF-8: save the file as CSV UTF-8',
      'line 3, hour must be the start of an hour in UTC',
      'line 4, hour must be a time with a time zone, such as 2026-11-20T14:00:00Z',
      'line 5, event must be text that is not blank',
      'line 6, count must be a whole number from 0 to 1000000000',
      'line 7, count must be a whole number from 0 to 1000000000',
      'line 8, hour must be 2026-10-21T10:00:00.000Z or later: counts are kept for 30 days',
      'line 9, hour must not be in the future',
      'line 10 has the same source, event and hour as line 2: add them up',
    ],
  )
})

test('a file without its header, or with another one, says which is wanted', () => {
  const header = 'the header must be source,event,hour,count'
  assert.deepEqual(
    faultsOf(() => csv('')),
    ['line 1 is missing: send the header source,event,hour,count'],
  )
  assert.deepEqual(
    faultsOf(() => csv('source,event,hour,count\n')),
    ['line 2 is missing: send at least one count'],
  )
  assert.deepEqual(
    faultsOf(() => csv(`source,name,hour,count\nshop,purchase,${HOUR_AT},7`)),
    [`line 1 has no column event: ${header}`, `line 1 has an unknown or repeated column “name”: ${header}`],
  )
  assert.deepEqual(
    faultsOf(() => csv(`source,event,hour,count\nshop,purchase,${HOUR_AT},7`, 'shop')),
    ['line 1 has a column source in addition to the parameter: the header must be event,hour,count'],
  )
  assert.match(faultsOf(() => csv('source,event\n"shop,purchase')).join(), /quote/i)
})

test('as many counts as are allowed are taken, and one more is refused', () => {
  const rows = (count: number) =>
    Array.from(
      { length: count },
      (_, n) => `event ${n % 20},${new Date(BOUNDS.first + ((n - (n % 20)) / 20) * HOUR).toISOString()},1`,
    )
  const file = (count: number) => ['event,hour,count', ...rows(count)].join('\n')
  assert.equal(csv(file(ROWS_MAX), 'shop').length, ROWS_MAX)
  assert.deepEqual(
    faultsOf(() => csv(file(ROWS_MAX + 100), 'shop')),
    [`line ${ROWS_MAX + 2} exceeds the limit: send at most ${ROWS_MAX} counts`],
  )
})

test('what is slow to parse is refused before it is, or made short: separators and blanks', () => {
  const wide = `source,event,hour,count\n${`${','.repeat(200)}\n`.repeat(600)}`
  assert.deepEqual(
    faultsOf(() => csv(wide)),
    [' has more than 100000 separators: send only source, event, hour and count'],
  )
  const blanks = ' '.repeat(20_000)
  const [count] = csv(`${blanks}source,event,hour,count\nshop,${blanks}"purchase"${blanks},${HOUR_AT},7${blanks}`)
  assert.deepEqual([count?.event, count?.count], ['purchase', 7])
})

test('a hostile file is refused, and its faults are few', () => {
  assert.equal(faultsOf(() => csv(`source,event,hour,count\n${'x,y,z,w\n'.repeat(4_000)}`)).length, 20)
  assert.equal(faultsOf(() => csv('\n'.repeat(900_000))).length, 1)
  assert.equal(faultsOf(() => csv(`${'"'.repeat(900_000)}`)).length, 1)
  assert.ok(faultsOf(() => csv(`source,event,hour,count\n${'a'.repeat(900_000)}`)).join().length < 1_000)
})

test('JSON is held to the same rules, and its faults name the place', () => {
  const count = { source: 'shop', event: 'purchase', hour: HOUR_AT, count: 3 }
  assert.deepEqual(settledCounts([count], BOUNDS), [{ ...count, hour: Date.parse(HOUR_AT) }])
  assert.deepEqual(
    faultsOf(() => settledCounts([count, { ...count, hour: '2026-11-20T08:00:01Z' }, { ...count, count: 4 }], BOUNDS)),
    [
      '/counts/1/hour must be the start of an hour in UTC',
      '/counts/2 has the same source, event and hour as /counts/0: add them up',
    ],
  )
})
