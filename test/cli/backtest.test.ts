import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeOf } from '../../src/cli/backtest/csv.ts'
import { localTime } from '../../src/detection/index.ts'
import { runCliHere } from '../../testkit/processes/command-here.ts'
import { backtest, backtestInProcess, csvOf, series } from './backtest-support.ts'

test('every row gets a line of its own, with time and value as they were', async (t) => {
  const input = series(3)
  const { code, out, err, rows } = await backtestInProcess(t, csvOf(input))
  assert.deepEqual({ code, err, header: out[0] }, { code: 0, err: [], header: 'timestamp,value,expected,score,status' })
  assert.deepEqual(
    rows.map(({ timestamp, value }) => [timestamp, Number(value)]),
    input,
  )
  for (const { score } of rows) assert.ok(score >= 0 && score < 1)
})

test('what is usual is expected from the day before at first, and from the same time of earlier weeks later', async (t) => {
  const { rows } = await backtest(t, csvOf(series(24)))
  for (const day of [1, 20]) {
    const row = rows[day * 48 + 10]
    assert.ok(row && Math.abs(row.expected - Number(row.value)) < 15, JSON.stringify(row))
  }
  assert.deepEqual(new Set(rows.map(({ status }) => status)), new Set(['ok']))
})

const AT = 20 * 48 + 24

test('an outage is critical at once, and so is half an outage a warning', async (t) => {
  const outage = await backtest(t, csvOf(series(22, (row, usual) => (row >= AT && row < AT + 3 ? 0 : usual))))
  assert.deepEqual(
    outage.rows.slice(AT - 1, AT + 4).map(({ status }) => status),
    ['ok', 'critical', 'critical', 'critical', 'ok'],
  )
  const half = await backtest(t, csvOf(series(22, (row, usual) => (row >= AT && row < AT + 3 ? usual * 0.3 : usual))))
  assert.deepEqual(
    half.rows.slice(AT - 1, AT + 4).map(({ status }) => status),
    ['ok', 'warning', 'warning', 'warning', 'ok'],
  )
})

test('a spike is bad in both directions only, and scores in none but these', async (t) => {
  const text = csvOf(series(22, (row, usual) => (row >= AT && row < AT + 3 ? usual * 4 : usual)))
  const [both, down] = [await backtest(t, text, '--direction', 'both'), await backtest(t, text)]
  assert.deepEqual([both.rows[AT + 1]?.status, down.rows[AT + 1]?.status], ['warning', 'ok'])
  assert.ok((both.rows[AT]?.score ?? 0) > 0.4 && (down.rows[AT]?.score ?? 1) < 0.1)
})

test('the farther a value is from what is usual, the higher its score', async (t) => {
  const scores: number[] = []
  for (const share of [0.9, 0.6, 0.3, 0]) {
    const { rows } = await backtest(t, csvOf(series(21, (row, usual) => (row === AT ? usual * share : usual))))
    scores.push(rows[AT]?.score ?? 0)
  }
  assert.deepEqual(
    scores,
    scores.toSorted((a, b) => a - b),
  )
  assert.ok(new Set(scores).size === scores.length, scores.join(' '))
})

test('no row is judged by what comes after it', async (t) => {
  const rows = series(20, (row, usual) => (row % 97 === 0 ? 0 : usual))
  const whole = await backtest(t, csvOf(rows), '--direction', 'both')
  const part = await backtest(t, csvOf(rows.slice(0, 700)), '--direction', 'both')
  assert.deepEqual(part.out, whole.out.slice(0, 701))
})

test('a gap is not taken for an outage', async (t) => {
  const rows = series(22).filter((_, row) => row < AT || row >= AT + 20)
  const { rows: judged } = await backtest(t, csvOf(rows))
  assert.deepEqual(new Set(judged.map(({ status }) => status)), new Set(['ok']))
})

test('a day is the day of the time zone', async (t) => {
  const text = csvOf([...series(1)].map(([time, value]) => [`${time.replace(' ', 'T')}Z`, value] as const))
  const { code, rows } = await backtest(t, text, '--timezone', 'America/New_York')
  assert.deepEqual([code, rows.length], [0, 48])
})

const BAD: readonly [what: string, text: string, says: RegExp][] = [
  ['an empty file', '', /: line 1: there is no header line with the columns timestamp and value$/],
  ['a header without value', 'timestamp\n', /: line 1: the header has no column value/],
  ['a header without timestamp', 'time,value\n', /: line 1: the header has no column timestamp/],
  [
    'a header of semicolons',
    'timestamp;value\n2026-01-01;1\n',
    /: line 1: the header has no column timestamp; it needs timestamp and value, separated by commas$/,
  ],
  [
    'a quote that is not closed, in a file too large for memory',
    `timestamp,value\n2026-01-01,1\n2026-01-02,"${'2026-01-03,1\n'.repeat(400_000)}`,
    /: row 3, the header included, has more than 4 MiB: is a quote in it not closed\?$/,
  ],
  ['a series without a name', 'timestamp,,clicks\n', /: line 1: column 2 has no name$/],
  ['two series of one name', 'timestamp,clicks,clicks\n', /: line 1: two columns have the name "clicks"$/],
  [
    'a value of one of several series that is none',
    'timestamp,a,b\n2026-01-01,1,x\n',
    /: line 2: b "x" is not a number$/,
  ],
  [
    'several series without a value',
    'timestamp,a,b\n2026-01-01,,\n',
    /: there is no value below the header: nothing to judge$/,
  ],
  ['a time that is none', csvOf([['yesterday', 1]]), /: line 2: timestamp "yesterday" is neither ISO 8601/],
  ['a day that is none', csvOf([['2026-02-30 00:00:00', 1]]), /: line 2: timestamp "2026-02-30/],
  ['a value that is none', csvOf([['2026-01-01 00:00:00', 'many']]), /: line 2: value "many" is not a number$/],
  ['a value in hexadecimal', csvOf([['2026-01-01 00:00:00', '0x10']]), /: line 2: value "0x10" is not a number$/],
  ['an empty value', csvOf([['2026-01-01 00:00:00', '']]), /: line 2: value "" is not a number$/],
  [
    'rows in another order',
    csvOf([
      ['2026-01-02 00:00:00', 1],
      ['2026-01-01 00:00:00', 1],
    ]),
    /: line 3: 2026-01-01 00:00:00 comes before the row above/,
  ],
  [
    'a row that is half an hour late',
    csvOf([
      ['2026-01-01 15:00:00', 1],
      ['2026-01-01 14:30:00', 1],
    ]),
    /: line 3: 2026-01-01 14:30:00 comes before the row above/,
  ],
  ['a header without rows', 'timestamp,value\n', /: there is no row below the header: nothing to judge$/],
  ['a row with a column too many', 'timestamp,value\n2026-01-01 00:00:00,1,2\n', /line 2/],
]
for (const [what, text, says] of BAD) {
  test(`${what} ends the replay with one line that says where`, async (t) => {
    const { code, err } = await backtest(t, text)
    assert.deepEqual([code, err.length], [1, 1])
    assert.match(err[0] ?? '', says)
  })
}

test('series and labels cannot both come from standard input', async (t) => {
  const { code, out, err } = await runCliHere(t, ['backtest', '--csv', '-', '--labels', '-'])
  assert.deepEqual({ code, out }, { code: 1, out: [] })
  assert.match(err.join('\n'), /^tagwarden: --csv and --labels are both standard input: give one of them as a file$/)
})

test('rows may be quoted, in any column order, with Windows line ends and a byte order mark', async (t) => {
  const { code, out } = await backtest(t, '\ufeffvalue,site,timestamp\r\n"7",a,"2026-01-01 00:00:00"\r\n')
  assert.deepEqual([code, out[1]], [0, '2026-01-01 00:00:00,7,,0.0000,ok'])
})

const berlin = localTime('Europe/Berlin')
const TIMES: readonly [text: string, is: string | null][] = [
  ['2026-07-01 12:00:00', '2026-07-01T10:00:00Z'],
  ['2026-01-01T12:00', '2026-01-01T11:00:00Z'],
  ['2026-01-01', '2025-12-31T23:00:00Z'],
  ['2026-01-01T12:00:00Z', '2026-01-01T12:00:00Z'],
  ['2026-01-01T12:00:00.250+02:00', '2026-01-01T10:00:00.250Z'],
  ['2026-01-01 12:00:00-0530', '2026-01-01T17:30:00Z'],
  ['2026-10-25 02:30:00', '2026-10-25T00:30:00Z'],
  ['2026-03-29 02:30:00', '2026-03-29T01:30:00Z'],
  ['2026-13-01 00:00:00', null],
  ['2026-01-01 24:00:00', null],
  ['01/02/2026 10:00', null],
]
for (const [text, is] of TIMES) {
  test(`"${text}" in Berlin is ${is ?? 'no time'}`, () => {
    assert.equal(timeOf(text, berlin), is === null ? null : Date.parse(is))
  })
}

test('a time whose fraction follows a comma, as ISO 8601 allows, stays one column', async (t) => {
  const { code, rows } = await backtest(t, csvOf([['"2026-01-05 00:00:00,250"', 7]]))
  assert.equal(code, 0)
  assert.deepEqual(
    rows.map(({ timestamp, value, status }) => [timestamp, value, status]),
    [['2026-01-05 00:00:00.250', '7', 'ok']],
  )
})
