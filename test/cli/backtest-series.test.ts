import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE } from '../../src/lib/index.ts'
import { backtest, backtestInProcess, csvOf, series, timeAt } from './backtest-support.ts'

const AT = 20 * 48 + 24
const OUTAGE = series(22, (row, usual) => (row >= AT && row < AT + 3 ? 0 : usual))

test('each of several series is judged as if it were alone, and its lines begin with its name', async (t) => {
  const calm = series(22)
  const both = OUTAGE.map(([time, value], row) => [time, value, calm[row]?.[1] ?? ''] as const)
  const [together, outage] = [await backtest(t, csvOf(both, 'timestamp,clicks,calm')), await backtest(t, csvOf(OUTAGE))]
  assert.deepEqual([together.code, together.out[0]], [0, 'series,timestamp,value,expected,score,status'])
  const of = (name: string) => together.out.filter((line) => line.startsWith(`${name},`))
  assert.deepEqual(
    of('clicks'),
    outage.out.slice(1).map((line) => `clicks,${line}`),
  )
  assert.equal(of('calm').length, calm.length)
  assert.ok(of('calm').every((line) => line.endsWith(',ok')))
})

test('an empty field of several series is a gap of its own', async (t) => {
  const { out } = await backtest(t, 'timestamp,a,b\n2026-01-01,1,2\n2026-01-02,,3\n2026-01-03,4,\n')
  assert.deepEqual(
    out.slice(1).map((line) => line.split(',').slice(0, 3).join(' ')),
    ['a 2026-01-01 1', 'b 2026-01-01 2', 'b 2026-01-02 3', 'a 2026-01-03 4'],
  )
})

test('a name is quoted where it has to be, and neither a spreadsheet nor a terminal runs it', async (t) => {
  const { out } = await backtest(t, 'timestamp,"a, ""b""",=1+1,\u001b[31mred\n2026-01-01,1,2,3\n')
  assert.deepEqual(out.slice(1), [
    '"a, ""b""",2026-01-01,1,,0.0000,ok',
    "'=1+1,2026-01-01,2,,0.0000,ok",
    '[31mred,2026-01-01,3,,0.0000,ok',
  ])
})

test('with a column named value, other columns are no series', async (t) => {
  const { out } = await backtest(t, 'timestamp,site,value\n2026-01-01,a,7\n')
  assert.deepEqual(out, ['timestamp,value,expected,score,status', '2026-01-01,7,,0.0000,ok'])
})

test('the band is what would have passed: a bad row is outside, a usual one inside', async (t) => {
  const text = csvOf(
    series(22, (row, usual) => (row >= AT && row < AT + 3 ? usual * 0.3 : row === AT + 20 ? usual * 4 : usual)),
  )
  const [plain, { out, rows }] = [
    await backtest(t, text, '--direction', 'both'),
    await backtest(t, text, '--direction', 'both', '--band'),
  ]
  assert.equal(out[0], 'timestamp,value,expected,score,status,low,high')
  assert.deepEqual(
    out.map((line) => line.split(',').slice(0, 5).join(',')),
    plain.out,
  )
  const isOutside = ({ value, low, high }: (typeof rows)[number]) =>
    low !== '' && (Number(value) < Number(low) || Number(value) > Number(high))
  const judged = rows.filter(({ low }) => low !== '')
  assert.ok(judged.length > 0.9 * rows.length, `${judged.length} of ${rows.length} rows have a band`)
  for (const row of judged.filter(isOutside)) assert.equal(row.status, 'warning', JSON.stringify(row))
  for (const { low, high, expected } of judged) assert.ok(Number(low) < expected && expected < Number(high))
  assert.deepEqual(
    rows.flatMap((row, index) => (index >= AT - 48 && isOutside(row) ? index - AT : [])),
    [0, 1, 2, 20],
  )
})

test('nothing is known to pass before there is something to compare with', async (t) => {
  const { out } = await backtest(t, csvOf(series(1)), '--band')
  assert.ok(out[1]?.endsWith(',ok,,'), out[1])
})

test('a row that is shorter than any window has to make up for what the rows before it lack', async (t) => {
  const [days, step] = [16, 2]
  const count = (days * 1_440) / step
  const rows = Array.from({ length: count }, (_, row) => {
    const at = new Date(Date.UTC(2026, 0, 5) + row * step * MINUTE).toISOString()
    return [at, row >= count - 2 ? 0 : 200 + (row % 9)] as const
  })
  const { rows: judged } = await backtest(t, csvOf(rows), '--band')
  const [before, last] = [judged.at(-3), judged.at(-1)]
  // Of the window of six minutes, two thirds are there without it, and in the end one third.
  assert.ok(Number(before?.low) < 50 && Number(last?.low) > 100, `${before?.low} ${last?.low}`)
})

test('alarms are printed instead of rows: the bad rows of one, and their sums', async (t) => {
  const { code, out } = await backtest(t, csvOf(OUTAGE), '--alarms')
  assert.equal(code, 0)
  assert.equal(out[0], 'series,from,to,status,rows,value,expected,score')
  assert.equal(out.length, 2)
  const [name, from, to, status, rows, value, expected, score] = out[1]?.split(',') ?? []
  assert.deepEqual([name, from, to, status, rows, value], ['value', timeAt(AT), timeAt(AT + 2), 'critical', '3', '0'])
  const usual = series(22)
    .slice(AT, AT + 3)
    .reduce((sum, [, amount]) => sum + amount, 0)
  assert.ok(Math.abs(Number(expected) - usual) < 0.1 * usual, expected)
  assert.ok(Number(score) > 0.4, score)
})

test('alarms less than an hour apart are one, others are not', async (t) => {
  const isDown = (row: number) => [0, 2, 10].includes(row - AT)
  const { out } = await backtest(t, csvOf(series(22, (row, usual) => (isDown(row) ? 0 : usual))), '--alarms')
  assert.deepEqual(
    out.slice(1).map((line) => line.split(',').slice(1, 5)),
    [
      [timeAt(AT), timeAt(AT + 2), 'critical', '2'],
      [timeAt(AT + 10), timeAt(AT + 10), 'critical', '1'],
    ],
  )
})

test('the band goes with rows, not with alarms', async (t) => {
  const { code, err } = await backtestInProcess(t, csvOf(OUTAGE), '--alarms', '--band')
  assert.equal(code, 1)
  assert.match(err.join('\n'), /option '--band' cannot be used with option '--alarms'/)
})
