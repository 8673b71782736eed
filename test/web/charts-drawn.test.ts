import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellStyle, cellWords } from '../../web/src/features/site/heat.ts'
import type { ChartColors } from '../../web/src/ui/chart/colors.ts'
import { areas, drawings } from '../../web/src/ui/chart/drawings.ts'
import { instant, partialStretches, placed } from '../../web/src/ui/chart/points.ts'
import { axisUpTo, valueTicks } from '../../web/src/ui/chart/ticks.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOON = Date.parse('2026-11-20T12:00:00Z')
const iso = (time: number) => new Date(time).toISOString()

const TOKENS: Readonly<Record<string, string>> = {
  '--surface': '#ffffff',
  '--unknown-soft': '#c0c0c0',
  '--critical': '#ff0000',
}
/** The colours of the page without a page: a hatch is named by what it is made of. */
const COLORS: ChartColors = {
  of: (token) => TOKENS[token] ?? '#000000',
  soft: (token, opacity) => `${token} ${opacity}`,
  hatch: (ground, line) => `hatch of ${line} on ${ground}`,
}

interface Drawn {
  type: string
  lineStyle?: { type?: string; opacity?: number }
  data: { value: [number, number | null]; symbol?: string; itemStyle?: { color: string } }[]
}

const TO = NOON + 3.5 * HOUR
const hours = (values: readonly (readonly [value: number | null, base?: number])[], to = TO) =>
  placed(
    values.map(([value, base], n) => ({ t: iso(NOON + n * HOUR), value, ...(base !== undefined && { base }) })),
    NOON,
    to,
  )
const draw = (kind: 'bars' | 'lines', points: ReturnType<typeof hours>): Drawn[] =>
  drawings(kind, { key: 'purchase', points: [] }, points, COLORS, '--series-1') as Drawn[]
const valuesOf = (drawn: Drawn | undefined) => drawn?.data.map(({ value }) => value[1])

test('the bar of an hour that is not over is hatched, and no other', () => {
  const [bars] = draw('bars', hours([[50], [40], [45], [3]]))
  assert.deepEqual(
    bars?.data.map(({ itemStyle }) => itemStyle?.color),
    [undefined, undefined, undefined, 'hatch of #000000 on #ffffff'],
  )
})

test('the line of an hour that is not over is pale and dotted on a hatched ground', () => {
  const points = hours([[50], [40], [45], [3]])
  const [solid, thin] = draw('lines', points)
  assert.deepEqual([solid?.lineStyle?.type, solid?.lineStyle?.opacity], [undefined, undefined])
  assert.deepEqual(valuesOf(solid), [50, 40, 45, null])
  assert.deepEqual([thin?.lineStyle?.type, thin?.lineStyle?.opacity], ['dotted', 0.45])
  // It begins where the solid one ends.
  assert.deepEqual(valuesOf(thin), [null, null, 45, 3])
  const open = partialStretches(points, NOON, TO)
  assert.deepEqual(open, [{ from: NOON + 3 * HOUR, to: TO }])
  assert.deepEqual(areas([], null, open, TO, COLORS), {
    silent: true,
    data: [[{ xAxis: NOON + 3 * HOUR, itemStyle: { color: 'hatch of #000000 on transparent' } }, { xAxis: TO }]],
  })
})

test('an hour that began before the window is hatched, whole hours and moments are not', () => {
  const late = NOON + 20 * MINUTE
  const points = placed(
    [
      { t: iso(NOON), value: 5 },
      { t: iso(NOON + HOUR), value: 6 },
    ],
    late,
    NOON + 2 * HOUR,
  )
  assert.deepEqual(partialStretches(points, late, NOON + 2 * HOUR), [{ from: late, to: NOON + HOUR }])
  assert.deepEqual(partialStretches(hours([[1], [2], [3]]), NOON, TO), [])
  assert.deepEqual(partialStretches([instant({ t: iso(TO), value: 1 })], NOON, TO), [])
})

test('a rate of under 20 runs is pale and dotted, and left out while its hour is not over', () => {
  const [solid, thin] = draw(
    'lines',
    hours([
      [0.9, 100],
      [0.5, 19],
      [0.8, 20],
      [0.3, 19],
    ]),
  )
  assert.deepEqual(valuesOf(solid), [0.9, null, 0.8, null])
  assert.deepEqual(valuesOf(thin), [0.9, 0.5, 0.8, null])
})

test('a value between two gaps is drawn as a dot, a value on a line is not', () => {
  const [solid] = draw(
    'lines',
    hours(
      [
        [0.9, 100],
        [null, 0],
        [0.8, 90],
        [0.7, 90],
      ],
      NOON + 4 * HOUR,
    ),
  )
  assert.deepEqual(
    solid?.data.map(({ symbol }) => symbol),
    ['circle', undefined, undefined, undefined],
  )
})

const WIDTH = 15 * MINUTE
const at = Date.parse('2026-11-20T14:30:00Z')
const frame = { from: NOON, to: at + 20 * MINUTE, zone: 'Europe/Berlin' }
const style = (start: number, executions: number, bad: number) =>
  cellStyle({ at: start, row: 0, executions, bad }, WIDTH, frame, COLORS)

test('a cell of the heat map is hatched while its time is not over, and without a share of few in it', () => {
  const red = 'rgb(255,0,0)'
  assert.deepEqual(style(at, 62, 62), { fill: red, opacity: 1 })
  assert.deepEqual(style(at, 19, 19), { fill: red, opacity: 0.45 })
  assert.deepEqual(style(at + WIDTH, 20, 20), { fill: `hatch of #ffffff on ${red}`, opacity: 1 })
  // One of three is no crash: neutral until it can be judged.
  assert.deepEqual(style(at + WIDTH, 3, 3), { fill: 'hatch of #ffffff on rgb(192,192,192)', opacity: 0.45 })
})

test('a cell of the heat map says what failed of how many, when, and what is usual', () => {
  const words = cellWords(
    { at, row: 0, executions: 62, bad: 42 },
    { name: 'purchase', of: 'Meta CAPI', width: WIDTH, usual: 0.006, frame },
  )
  assert.deepEqual(words, {
    name: 'Meta CAPI · purchase',
    time: '15:30–15:45, 20 Nov 2026, CET',
    failed: '42 of 62 failed (68\u00a0%)',
    usual: '0.6\u00a0%',
  })
  const alone = cellWords(
    { at: at + WIDTH, row: 0, executions: 1_200, bad: 0 },
    { name: 'GA4', of: undefined, width: WIDTH, usual: undefined, frame },
  )
  assert.deepEqual([alone.name, alone.failed, alone.usual], ['GA4', '0 of 1,200 failed (0\u00a0%)', undefined])
  assert.match(alone.time, /^15:45–16:00, 20 Nov 2026, CET · (so far|shown in part)$/)
})

test('an axis of rates ends at 100 % where they come near it, and fits them below', () => {
  const { max } = axisUpTo(1)
  assert.equal(max({ max: 0.94 }), 1)
  assert.equal(max({ max: 0.3 }), null)
})

test('an axis of counts has no ticks between whole numbers, and one of measured values may', () => {
  assert.deepEqual(valueTicks({ kind: 'bars' }), { splitNumber: 3, minInterval: 1 })
  assert.deepEqual(valueTicks({ kind: 'lines' }), { splitNumber: 3 })
})
