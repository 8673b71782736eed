import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import { Parser } from 'htmlparser2'
import type { Alarm } from '../../src/cli/backtest/alarms.ts'
import { backtestCommand } from '../../src/cli/backtest/index.ts'
import { picture } from '../../src/cli/backtest/picture.ts'
import { bandPath, linePath, stripPath, timeTicks, valueTicks } from '../../src/cli/backtest/plot.ts'
import { MOST_DRAWN, pointsOfEach, type Stretch, Thinned } from '../../src/cli/backtest/thinned.ts'
import { localTime } from '../../src/detection/index.ts'
import { DAY, HOUR, MINUTE } from '../../src/lib/index.ts'
import { tempDir } from '../../testkit/engines.ts'
import { backtest, csvOf, series, timeAt, writeText } from './backtest-support.ts'

const utc = localTime('UTC')
const AT = 20 * 48 + 24
const OUTAGE = series(22, (row, usual) => (row >= AT && row < AT + 3 ? 0 : usual))

/** Tags and texts of a picture, in order. */
function contentOf(svg: string): { tags: Set<string>; texts: string[] } {
  const [tags, texts] = [new Set<string>(), [] as string[]]
  const parser = new Parser(
    { onopentag: (name) => tags.add(name), ontext: (text) => texts.push(text) },
    { xmlMode: true },
  )
  parser.end(svg)
  return {
    tags,
    texts: texts
      .join('')
      .split('\n')
      .filter((text) => text !== ''),
  }
}

test('a picture holds the series, its band, the alarms and the labels, and prints what it would have printed without', async (t) => {
  const svg = join(await tempDir(t), 'out.svg')
  const labels = await writeText(t, 'faults.csv', `from,to\n${timeAt(AT)},${timeAt(AT + 3)}\n`)
  const { code, out } = await backtest(t, csvOf(OUTAGE), '--svg', svg, '--labels', labels, '--alarms')
  assert.deepEqual([code, out.length], [0, 6])
  const text = await readFile(svg, 'utf8')
  const { tags, texts } = contentOf(text)
  assert.deepEqual(tags, new Set(['svg', 'title', 'rect', 'g', 'text', 'path']))
  for (const one of ['value', 'critical', 'warning', 'fault', 'would have passed', 'series.csv']) {
    assert.ok(texts.includes(one), `${one} is not among ${texts.join(' | ')}`)
  }
  assert.ok(texts.some((one) => one.includes('faults: 1, found 1, missed 0') && one.includes('UTC')))
  assert.doesNotMatch(text, /NaN|Infinity|undefined|null/)
})

test('names are text in a picture, whatever they are', async (t) => {
  const svg = join(await tempDir(t), 'out.svg')
  const hostile = ['<script>alert(1)</script>', `"'&]]>`, 'bell\u0007', 'e\u0301'.repeat(9_000)]
  const header = ['timestamp', ...hostile.map((name) => `"${name.replaceAll('"', '""')}"`)].join(',')
  const { code, err } = await backtest(t, csvOf([['2026-01-01', 1, 2, 3, 4]], header), '--svg', svg)
  assert.deepEqual([code, err], [0, []])
  const text = await readFile(svg, 'utf8')
  const { tags, texts } = contentOf(text)
  assert.deepEqual(tags, new Set(['svg', 'title', 'rect', 'g', 'text', 'path']))
  for (const name of hostile.slice(0, 2)) assert.ok(texts.includes(name), texts.join(' | '))
  assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}/u)
  assert.ok(text.length < 20_000, `${text.length} characters`)
})

test('a picture in place of the series or the labels is refused, and so is one of too many series', async (t) => {
  const file = await writeText(t, 'a.csv', 'timestamp,value\n2026-01-01,1\n')
  const same = await backtest(t, 'timestamp,value\n2026-01-01,1\n', '--labels', file, '--svg', file)
  assert.deepEqual([same.code, same.out], [1, []])
  assert.match(same.err[0] ?? '', /--svg is the file of --labels/)
  const names = Array.from({ length: MOST_DRAWN + 1 }, (_, place) => `s${place}`)
  const many = await backtest(t, `timestamp,${names.join(',')}\n`, '--svg', join(await tempDir(t), 'out.svg'))
  assert.match(many.err[0] ?? '', /--svg draws at most 50 series, and the file has 51$/)
})

test('a picture that cannot be written ends with one line that names it', async (t) => {
  const svg = join(await tempDir(t), 'no-folder', 'out.svg')
  const { code, err } = await backtest(t, 'timestamp,value\n2026-01-01,1\n', '--svg', svg)
  assert.deepEqual([code, err.length], [1, 1])
  assert.match(err[0] ?? '', /no-folder\/out\.svg: the picture cannot be written: ENOENT/)
})

test('a picture replaces an earlier one, and no other file', async (t) => {
  const text = 'timestamp,value\n2026-01-01,1\n'
  const svg = join(await tempDir(t), 'out.svg')
  assert.equal((await backtest(t, text, '--svg', svg)).code, 0)
  assert.equal((await backtest(t, text, '--svg', svg)).code, 0)
  const notes = await writeText(t, 'notes.txt', 'keep me')
  const { code, err } = await backtest(t, text, '--svg', notes)
  assert.equal(code, 1)
  assert.match(err[0] ?? '', /notes\.txt exists and is no picture: give --svg a file of its own$/)
  assert.equal(await readFile(notes, 'utf8'), 'keep me')
})

/** As many rows and alarms as a picture can be asked for: every second row far below its band. */
function crowded(columns: number, rows: number): string {
  const series = Array.from({ length: columns }, (_, place) => {
    const course = new Thinned(pointsOfEach(columns))
    const alarms: Alarm[] = []
    for (let row = 0; row < rows; row++) {
      const [from, to] = [row * HOUR, (row + 0.5) * HOUR]
      course.add(from, ((row + place) % 2) * 123_456.789, HOUR, { low: 98_765.43, high: 198_765.43 + row })
      const status = row % 4 === 0 ? 'critical' : 'warning'
      const begun = { series: `${place}`, from, to, knownAt: to, first: '', last: '', status } as const
      alarms.push({ ...begun, rows: 1, value: 0, expected: 0, score: 1 })
    }
    return { name: `series ${place}`, course, alarms }
  })
  const labels = (series[0]?.alarms ?? []).map(({ from, to }, place) => ({ series: null, from, to, line: place + 2 }))
  const replay = { series, labels, rows: { from: 0, to: rows * HOUR }, score: null, alarms: [] }
  return picture({ title: 'crowded', timezone: 'UTC', clock: utc, replay })
}

test('a picture stays under 2 MB and its numbers are numbers, of the longest series and of the most', () => {
  for (const [columns, rows] of [
    [1, 200_000],
    [MOST_DRAWN, 5_000],
    [MOST_DRAWN, 310],
  ] as const) {
    const svg = crowded(columns, rows)
    assert.ok(svg.length > 50_000 && Buffer.byteLength(svg) < 2e6, `${columns} series: ${svg.length} characters`)
    assert.doesNotMatch(svg, /NaN|Infinity/)
  }
})

const numbers = (count: number, valueAt: (index: number) => number, most: number): Thinned => {
  const thinned = new Thinned(most)
  for (let index = 0; index < count; index++) {
    thinned.add(index * MINUTE, valueAt(index), MINUTE, { low: index - 1, high: index + 1 })
  }
  return thinned
}

test('few rows are kept as they are', () => {
  const { stretches } = numbers(50, (index) => index, 50)
  assert.deepEqual(
    stretches.map(({ from, to, min, max }) => [from, to, min, max]),
    Array.from({ length: 50 }, (_, index) => [index * MINUTE, index * MINUTE, index, index]),
  )
})

test('however many rows there are, few stretches remain, with every extreme, its order, and the widest band', () => {
  const { stretches } = numbers(100_000, (index) => (index === 77_777 ? 9 : index === 77_778 ? -9 : 1), 500)
  assert.ok(stretches.length <= 500 && stretches.length > 200, `${stretches.length} stretches`)
  const special = stretches.filter(({ min, max }) => min !== max)
  assert.deepEqual(
    special.map(({ min, max, rises }) => [min, max, rises]),
    [[-9, 9, false]],
  )
  for (const { from, to, band } of stretches) {
    assert.deepEqual(band, { low: from / MINUTE - 1, high: to / MINUTE + 1 })
  }
})

test('missing rows interrupt the line, also of a long series', () => {
  const thinned = new Thinned(100)
  for (let index = 0; index < 5_000; index++) {
    if (index < 2_000 || index >= 3_000) thinned.add(index * MINUTE, index % 5, MINUTE, null)
  }
  assert.equal(thinned.stretches.filter(({ isAfterGap }) => isAfterGap).length, 1)
})

test('many series share the points of one picture', () => {
  assert.ok(pointsOfEach(1) >= 2_000 && pointsOfEach(MOST_DRAWN) >= 300)
  assert.ok(pointsOfEach(MOST_DRAWN) * MOST_DRAWN <= 16_000)
})

const scale = { x: (time: number) => time, y: (value: number) => 100 - value }
const at = (from: number, value: number, more: Partial<Stretch> = {}): Stretch => ({
  from,
  to: from,
  min: value,
  max: value,
  rises: true,
  band: null,
  isAfterGap: false,
  ...more,
})

test('a line goes through both extremes of a stretch in their order, and a row between gaps is a dot', () => {
  assert.equal(linePath([at(0, 1), at(1, 2, { max: 9, to: 2, rises: false })], scale), 'M0 99h0L1 91L2 98')
  assert.equal(linePath([at(0, 1), at(9, 2, { isAfterGap: true }), at(10, 3)], scale), 'M0 99h0M9 98h0L10 97')
})

test('a band is an area between its bounds, and begins again after rows without one', () => {
  const band = { low: 10, high: 20 }
  const path = bandPath([at(0, 1, { band }), at(1, 1, { band }), at(2, 1), at(3, 1, { band })], scale)
  assert.equal(path, 'M0 80L1 80L1 90L0 90ZM3 80L3 90Z')
})

test('marks that lie nearer than the eye can see are one, and the shortest is wide enough to be seen', () => {
  const strip = { left: 0, right: 100, gap: 2, y: 5, height: 8 }
  const ranges = [
    { from: 50, to: 50 },
    { from: 10, to: 20 },
    { from: 21, to: 30 },
    { from: 90, to: 400 },
    { from: 300, to: 400 },
  ]
  assert.equal(stripPath(ranges, scale, strip), 'M10 5h20v8h-20zM50 5h1.5v8h-1.5zM90 5h10v8h-10z')
})

const VALUES: readonly [low: number, high: number, texts: string[]][] = [
  [0, 503, ['0', '200', '400']],
  [-10, 10, ['-10', '-5', '0', '5', '10']],
  [0, 2.5e6, ['0', '500K', '1M', '1.5M', '2M', '2.5M']],
  [0, 0.001, ['0', '0.0002', '0.0004', '0.0006', '0.0008', '0.001']],
  [0, 5e-324, []],
]
for (const [low, high, texts] of VALUES) {
  test(`an axis from ${low} to ${high} shows ${texts.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(
      valueTicks(low, high).map(({ text }) => text),
      texts,
    )
  })
}

test('the largest of all numbers leave the axis finite', () => {
  assert.ok(valueTicks(-Number.MAX_VALUE, Number.MAX_VALUE).every(({ at }) => Number.isFinite(at)))
})

const TIMES: readonly [days: number, texts: string[]][] = [
  [0.25, ['23:00', '21 Mar', '01:00', '02:00', '03:00', '04:00']],
  [3, ['21 Mar', '12:00', '22 Mar', '12:00', '23 Mar', '12:00']],
  [40, ['23 Mar', '30 Mar', '6 Apr', '13 Apr', '20 Apr', '27 Apr']],
  [365, ['Apr 2026', 'Jul 2026', 'Oct 2026', 'Jan 2027']],
  [36_500, ['Jan 2030', 'Jan 2040', 'Jan 2050', 'Jan 2060', 'Jan 2070']],
]
const berlin = localTime('Europe/Berlin')
for (const [days, texts] of TIMES) {
  test(`an axis of ${days} days has ticks at round times of the zone`, () => {
    const from = Date.parse('2026-03-20T21:30Z')
    assert.deepEqual(
      timeTicks({ from, to: from + days * DAY }, berlin)
        .slice(0, texts.length)
        .map(({ text }) => text),
      texts,
    )
  })
}

test('a tick stays at midnight when clocks change', () => {
  const from = Date.parse('2026-03-28T00:00+01:00')
  const ticks = timeTicks({ from, to: from + 4 * DAY }, berlin).filter(({ text }) => text.endsWith('Mar'))
  assert.deepEqual(
    ticks.map(({ at }) => at),
    ['2026-03-28T00:00+01:00', '2026-03-29T00:00+01:00', '2026-03-30T00:00+02:00', '2026-03-31T00:00+02:00'].map(
      Date.parse,
    ),
  )
})

test('a reader that has seen enough of the rows costs neither the picture nor the score', async (t) => {
  const [svg, labels] = [join(await tempDir(t), 'picture.svg'), await writeText(t, 'labels.csv', 'from,to\n')]
  const csv = await writeText(t, 'series.csv', csvOf(series(22)))
  const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
  const out = new Writable({ write: (_chunk, _encoding, done) => done(gone) })
  const err = new PassThrough()
  await backtestCommand({ out, err }).parseAsync(['--csv', csv, '--svg', svg, '--labels', labels], { from: 'user' })
  assert.match(await readFile(svg, 'utf8'), /<\/svg>\n$/)
  assert.match(String(err.read()), /^faults: 0, found 0, missed 0\n/)
})

test('rows that cannot be written are no fault of the file', async (t) => {
  const csv = await writeText(t, 'series.csv', csvOf(series(1)))
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  const out = new Writable({ write: (_chunk, _encoding, done) => done(full) })
  const failed = once(out, 'error')
  await backtestCommand({ out, err: new PassThrough() }).parseAsync(['--csv', csv], { from: 'user' })
  assert.deepEqual(await failed, [full])
})

test('a link to the series is no place for the picture', async (t) => {
  const text = csvOf(series(1))
  const csv = await writeText(t, 'series.csv', text)
  await symlink(csv, `${csv}.svg`)
  const drawing = backtestCommand({ out: new PassThrough(), err: new PassThrough() })
  await assert.rejects(drawing.parseAsync(['--csv', csv, '--svg', `${csv}.svg`], { from: 'user' }), {
    message: /^--svg is the file of --csv/,
  })
  assert.equal(await readFile(csv, 'utf8'), text)
})
