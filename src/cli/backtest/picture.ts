import type { LocalTime, TimeRange } from '../../detection/index.ts'
import { shortened, svgText } from '../../lib/index.ts'
import type { Alarm } from './alarms.ts'
import type { FileReplay } from './file-replay.ts'
import type { JudgedSeries } from './judged-series.ts'
import type { Label } from './labels.ts'
import { bandPath, LEAST_MARK, linePath, type Scale, stripPath, type Tick, timeTicks, valueTicks } from './plot.ts'
import { scoreLines } from './score.ts'

/** px */
const WIDTH = 1_200
const LEFT = 76
const RIGHT = 16
const PLOT = { top: 26, width: WIDTH - LEFT - RIGHT, height: 150 } as const
const HEADER = 64
const STRIP = { top: PLOT.top + PLOT.height + 6, height: 8, every: 13 } as const
const TITLE_MAX = 80
const NAME_MAX = 120
/** Maximum number of marks in all strips together, to keep the file small. */
const ALL_MARKS = 6_000
/** Marks closer than this look like one, px. */
const LEAST_GAP = 0.5

const COLOURS = {
  ground: '#ffffff',
  text: '#1f2733',
  muted: '#53606f',
  grid: '#dfe4ea',
  value: '#332288',
  band: '#88ccee',
  warning: '#8a5600',
  critical: '#b42420',
  label: '#53606f',
} as const

export interface Pictured {
  readonly title: string
  readonly timezone: string
  readonly clock: LocalTime
  readonly replay: Pick<FileReplay, 'rows' | 'labels' | 'score' | 'alarms'> & {
    readonly series: readonly DrawnSeries[]
  }
}

type DrawnSeries = Pick<JudgedSeries, 'name' | 'course' | 'alarms'>

/** An SVG of the series, one below the other on one time axis: band, values, alarms and known faults. It loads nothing. */
export function picture({ title, timezone, clock, replay }: Pictured): string {
  const { series, rows, labels, score } = replay
  const strips = labels === null ? 2 : 3
  const panel = STRIP.top + strips * STRIP.every + 30
  const height = HEADER + series.length * panel
  const name = shownText(title, TITLE_MAX)
  const summary = score === null ? [`alarms: ${replay.alarms.length}`] : scoreLines(score)
  const ticks = timeTicks(rows, clock)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${name}">`,
    `<title>${name}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="${COLOURS.ground}"/>`,
    `<g font-family="system-ui,sans-serif" font-size="12" fill="${COLOURS.muted}">`,
    text(LEFT, 24, name, `font-size="16" font-weight="600" fill="${COLOURS.text}"`),
    text(LEFT, 44, svgText([...summary, `times of ${timezone}`].join(' · '))),
    ...legend(),
    ...series.map((one, place) =>
      group(
        HEADER + place * panel,
        panelOf(one, {
          rows,
          ticks,
          labels: labels?.filter((label) => label.series === null || label.series === one.name) ?? null,
          gap: Math.max(LEAST_GAP, (PLOT.width * series.length) / ALL_MARKS - LEAST_MARK),
        }),
      ),
    ),
    '</g>',
    '</svg>\n',
  ].join('\n')
}

interface Panel {
  readonly rows: TimeRange
  readonly ticks: readonly Tick[]
  /** Labels of this series; null when no labels were given. */
  readonly labels: readonly Label[] | null
  /** Marks closer than this are drawn as one, px. */
  readonly gap: number
}

function panelOf({ name, course, alarms }: DrawnSeries, { rows, ticks, labels, gap }: Panel): string[] {
  const stretches = course?.stretches ?? []
  const range = rangeOf(stretches)
  const scale: Scale = {
    x: (time) => LEFT + (PLOT.width * (time - rows.from)) / (rows.to - rows.from),
    // Divide by 2 first: the difference of two large doubles could overflow to infinity.
    y: (value) => {
      const share = (value / 2 - range.low / 2) / (range.high / 2 - range.low / 2)
      return PLOT.top + PLOT.height * (1 - Math.min(1, Math.max(0, share)))
    },
  }
  const right = LEFT + PLOT.width
  const strip = (ranges: readonly TimeRange[], row: number, colour: string) =>
    path(stripPath(ranges, scale, { left: LEFT, right, gap, y: STRIP.top + row * STRIP.every, height: STRIP.height }), {
      fill: colour,
    })
  const shade = (ranges: readonly TimeRange[], colour: string) =>
    path(stripPath(ranges, scale, { left: LEFT, right, gap, y: PLOT.top, height: PLOT.height }), {
      fill: colour,
      'fill-opacity': '0.12',
    })
  const of = (status: Alarm['status']) => alarms.filter((alarm) => alarm.status === status)
  const bottom = STRIP.top + (labels === null ? 2 : 3) * STRIP.every
  return [
    text(LEFT, 16, shownText(name, NAME_MAX), `font-size="13" font-weight="600" fill="${COLOURS.text}"`),
    ...valueTicks(range.low, range.high).map(({ at, text: label }) => {
      const y = scale.y(at).toFixed(1)
      return `<path d="M${LEFT} ${y}h${PLOT.width}" stroke="${COLOURS.grid}"/>${text(LEFT - 8, Number(y) + 4, label, 'text-anchor="end"')}`
    }),
    ...ticks.map(({ at, text: label }) => {
      const x = scale.x(at).toFixed(1)
      return `<path d="M${x} ${PLOT.top}V${bottom}" stroke="${COLOURS.grid}"/>${text(Number(x), bottom + 12, label, 'text-anchor="middle"')}`
    }),
    shade(of('warning'), COLOURS.warning),
    shade(of('critical'), COLOURS.critical),
    path(bandPath(stretches, scale), { fill: COLOURS.band, 'fill-opacity': '0.45' }),
    path(linePath(stretches, scale), {
      fill: 'none',
      stroke: COLOURS.value,
      'stroke-linejoin': 'round',
      'stroke-linecap': 'round',
    }),
    ...[
      { says: 'critical', ranges: of('critical'), colour: COLOURS.critical },
      { says: 'warning', ranges: of('warning'), colour: COLOURS.warning },
      ...(labels === null ? [] : [{ says: 'fault', ranges: labels, colour: COLOURS.label }]),
    ].flatMap(({ says, ranges, colour }, row) => [
      text(LEFT - 8, STRIP.top + row * STRIP.every + STRIP.height, says, 'text-anchor="end" font-size="11"'),
      strip(ranges, row, colour),
    ]),
  ]
}

/** The axis ends at this multiple of the largest value: a band far above would flatten the line. */
const MOST_BAND = 1.5

function rangeOf(stretches: NonNullable<JudgedSeries['course']>['stretches']): { low: number; high: number } {
  let [low, high, top] = [0, 0, 0]
  for (const { min, max, band } of stretches) {
    low = Math.min(low, min)
    high = Math.max(high, max)
    top = Math.max(top, band?.high ?? 0)
  }
  if (high > 0) high = Math.max(high, Math.min(top, MOST_BAND * high))
  return high > low ? { low, high } : { low: low - 1, high: high + 1 }
}

function legend(): string[] {
  const [y, x] = [24, WIDTH - RIGHT - 250]
  return [
    `<path d="M${x} ${y - 4}h20" stroke="${COLOURS.value}"/>`,
    text(x + 26, y, 'value'),
    `<path d="M${x + 80} ${y - 10}h20v12h-20z" fill="${COLOURS.band}" fill-opacity="0.45"/>`,
    text(x + 106, y, 'would have passed'),
  ]
}

/** UTF-16 units kept before shortening by characters, because one character may have any number of combining accents. */
const MOST_UNITS = 1_000

const shownText = (name: string, most: number): string => svgText(shortened(name.slice(0, MOST_UNITS), most))

/** @param content already escaped */
const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${x}" y="${y}"${more === '' ? '' : ` ${more}`}>${content}</text>`

const group = (y: number, content: readonly string[]): string =>
  `<g transform="translate(0 ${y})">\n${content.filter((line) => line !== '').join('\n')}\n</g>`

const path = (d: string, attributes: Readonly<Record<string, string>>): string =>
  d === ''
    ? ''
    : `<path d="${d}"${Object.entries(attributes)
        .map(([name, value]) => ` ${name}="${value}"`)
        .join('')}/>`
