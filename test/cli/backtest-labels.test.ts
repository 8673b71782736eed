import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Alarm } from '../../src/cli/backtest/alarms.ts'
import { checkSeries, type Label, readLabels } from '../../src/cli/backtest/labels.ts'
import { scoreLines, scoreOf } from '../../src/cli/backtest/score.ts'
import { localTime } from '../../src/detection/index.ts'
import { DAY, MINUTE } from '../../src/lib/index.ts'
import { backtest, backtestInProcess, csvOf, series, timeAt, writeText } from './backtest-support.ts'

const utc = localTime('UTC')

const BAD: readonly [what: string, text: string, says: RegExp][] = [
  ['an empty file', '', /line 1: there is no header line with the columns from and to$/],
  ['a header without to', 'from,until\n', /line 1: the header has no column to; it needs from and to$/],
  ['a time that is none', 'from,to\n2026-01-01,2026-01-02\n2026-01-03,soon\n', /line 3: to "soon" is neither ISO 8601/],
  [
    'an end before its beginning',
    'from,to\n2026-01-02,2026-01-01\n',
    /line 2: to 2026-01-01 comes before from 2026-01-02$/,
  ],
  ['a row with a field too few', 'series,from,to\n2026-01-01,2026-01-02\n', /line 2/],
]
for (const [what, text, says] of BAD) {
  test(`labels with ${what} are refused with the file and the line`, async (t) => {
    const file = await writeText(t, 'faults.csv', text)
    await assert.rejects(readLabels(file, utc), (error: Error) => {
      assert.match(error.message, says)
      return error.message.startsWith(`${file}: `)
    })
  })
}

test('a file of labels that is none is named', async () => {
  await assert.rejects(readLabels('no-such.csv', utc), /^StartupError: no-such\.csv: there is no such file$/)
})

test('labels follow the time zone, may name a series, and need not', async (t) => {
  const file = await writeText(
    t,
    'faults.csv',
    'to,from,series\n2026-07-01 13:00,2026-07-01 12:00,a\n2026-01-02,2026-01-01,\n',
  )
  assert.deepEqual(await readLabels(file, localTime('Europe/Berlin')), [
    { series: 'a', from: Date.parse('2026-07-01T10:00Z'), to: Date.parse('2026-07-01T11:00Z'), line: 2 },
    { series: null, from: Date.parse('2025-12-31T23:00Z'), to: Date.parse('2026-01-01T23:00Z'), line: 3 },
  ])
})

test('a label of a series that is not in the file is refused with its line', () => {
  const label = { series: 'c', from: 0, to: 1, line: 7 }
  assert.throws(
    () => checkSeries([label], ['a', 'b'], 'f.csv'),
    /f\.csv: line 7: there is no series "c", only "a" and "b"$/,
  )
  assert.doesNotThrow(() =>
    checkSeries(
      [
        { ...label, series: 'b' },
        { ...label, series: null },
      ],
      ['a', 'b'],
      'f.csv',
    ),
  )
})

const alarm = (from: number, to: number, of = 'a'): Alarm => ({
  series: of,
  from: from * MINUTE,
  knownAt: (from + 5) * MINUTE,
  to: to * MINUTE,
  first: '',
  last: '',
  status: 'warning',
  rows: 1,
  value: 0,
  expected: 0,
  score: 0,
})
const label = (from: number, to: number, of: string | null = 'a'): Label => ({
  series: of,
  from: from * MINUTE,
  to: to * MINUTE,
  line: 2,
})

const SCORES: readonly [what: string, alarms: Alarm[], labels: Label[], is: Partial<ReturnType<typeof scoreOf>>][] = [
  [
    'no alarm misses every fault',
    [],
    [label(10, 20), label(30, 40)],
    { found: 0, missed: 2, timeToDetect: null, falseAlarms: 0 },
  ],
  [
    'an alarm within a fault finds it',
    [alarm(15, 25)],
    [label(10, 20)],
    { found: 1, missed: 0, timeToDetect: 10 * MINUTE, falseAlarms: 0 },
  ],
  [
    'an alarm that is over before the fault is false',
    [alarm(0, 10)],
    [label(10, 20)],
    { found: 0, missed: 1, falseAlarms: 1 },
  ],
  [
    'an alarm that begins after the fault is false',
    [alarm(21, 30)],
    [label(10, 20)],
    { found: 0, missed: 1, falseAlarms: 1 },
  ],
  [
    'an alarm that was on before a fault finds it at once',
    [alarm(0, 30)],
    [label(10, 20)],
    { found: 1, timeToDetect: 0, falseAlarms: 0 },
  ],
  [
    'a second alarm of one fault is not false',
    [alarm(12, 14), alarm(16, 18)],
    [label(10, 20)],
    { found: 1, timeToDetect: 7 * MINUTE, falseAlarms: 0 },
  ],
  [
    'an alarm of another series finds nothing and is false',
    [alarm(12, 18, 'b')],
    [label(10, 20)],
    { found: 0, missed: 1, falseAlarms: 1 },
  ],
  [
    'a fault of no series is found by any, the soonest',
    [alarm(14, 18), alarm(12, 18, 'b')],
    [label(10, 20, null)],
    { found: 1, missed: 0, timeToDetect: 7 * MINUTE, falseAlarms: 0 },
  ],
  [
    'the median counts the faults that were found',
    [alarm(11, 12), alarm(32, 33), alarm(56, 57)],
    [label(10, 20), label(30, 40), label(50, 60), label(70, 80)],
    { found: 3, missed: 1, timeToDetect: 7 * MINUTE },
  ],
  [
    'a short fault within a long one hides no alarm',
    [alarm(40, 45)],
    [label(10, 50), label(15, 20)],
    { found: 1, missed: 1, falseAlarms: 0 },
  ],
  [
    'a fault outside the rows is neither found nor missed',
    [],
    [label(-20, -10), label(1e6, 2e6)],
    { found: 0, missed: 0, outside: 2 },
  ],
]
for (const [what, alarms, labels, is] of SCORES) {
  test(what, () => {
    const score = scoreOf(alarms, labels, { from: 0, to: 60 * DAY })
    assert.deepEqual({ ...score, ...is }, score)
    assert.equal(score.falseAlarmsAMonth, score.falseAlarms / 2)
  })
}

test('a score is a few lines for people', () => {
  const alarms = [alarm(15, 25), alarm(100, 110)]
  assert.deepEqual(scoreLines(scoreOf(alarms, [label(10, 20), label(-9, -8)], { from: 0, to: 90 * DAY })), [
    'faults: 1, found 1, missed 0',
    'median time to detect: 10 min',
    'false alarms: 1, 0.33 in 30 days',
    'labels outside the rows, which do not count: 1',
  ])
})

const AT = 20 * 48 + 24
const OUTAGE = csvOf(series(22, (row, usual) => (row >= AT && row < AT + 3 ? 0 : usual)))
const FOUND = ['faults: 1, found 1, missed 0', 'median time to detect: 30 min', 'false alarms: 0, 0 in 30 days']

test('with labels, rows stay as they are and the score goes to standard error; with alarms it follows them', async (t) => {
  const labels = await writeText(t, 'faults.csv', `from,to\n${timeAt(AT)},${timeAt(AT + 3)}\n`)
  const rows = await backtest(t, OUTAGE, '--labels', labels)
  const plain = await backtest(t, OUTAGE)
  assert.deepEqual([rows.out, rows.err], [plain.out, FOUND])
  const alarms = await backtest(t, OUTAGE, '--labels', labels, '--alarms')
  assert.deepEqual([alarms.out.length, alarms.out.slice(2), alarms.err], [6, ['', ...FOUND], []])
})

test('labels of a series that the file does not have end the replay before a row is printed', async (t) => {
  const labels = await writeText(t, 'faults.csv', `series,from,to\nclicks,${timeAt(0)},${timeAt(1)}\n`)
  const { code, out, err } = await backtestInProcess(t, OUTAGE, '--labels', labels)
  assert.deepEqual([code, out, err.length], [1, [], 1])
  assert.match(err[0] ?? '', /faults\.csv: line 2: there is no series "clicks", only "value"$/)
})
