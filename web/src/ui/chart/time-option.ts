import type { EChartsCoreOption } from 'echarts/core'
import { compact } from '../../lib/words.ts'
import { seriesTokens } from '../series-color.ts'
import type { ChartColors } from './colors.ts'
import { hatchOf } from './hatch.ts'
import { areas, deployLines } from './marks.ts'
import { instant, isAlone, type PlacedPoint, placed, type ReportPoint, type Stroke, strokes } from './points.ts'
import { tickWriter, timeTicks } from './ticks.ts'
import { tooltip } from './tooltip.ts'

export interface TimeSeries {
  /** The name it has on every chart: its colour comes from it. */
  key: string
  points: readonly ReportPoint[]
  /** A token of `tokens.css` instead of the colour of the name. */
  token?: string
  /** Values of moments instead of buckets. */
  areInstants?: boolean
  /** The period before, or what was expected: drawn as a dashed grey line. */
  isReference?: boolean
}

/** A stretch with an open alert. `to` null: it is still open. Times in epoch ms. */
export interface AlertSpan {
  from: number
  to: number | null
  severity: 'warning' | 'critical'
}

/** A change of a version at a moment, epoch ms. */
export interface DeployMark {
  at: number
  /** Few characters, such as "v42"; without it only the line is drawn. */
  label?: string
}

export interface TimeChartData {
  series: readonly TimeSeries[]
  /** `bars` and `areas` are stacked. */
  kind: 'bars' | 'areas' | 'lines'
  /** The ends of the axis, epoch ms: the same for all charts of a page. */
  from: number
  to: number
  /** IANA zone of the axis and the tooltip. */
  zone?: string
  /** Writes a value; counts without it. */
  format?: (value: number) => string
  alerts?: readonly AlertSpan[]
  deploys?: readonly DeployMark[]
  /** The stretch that somebody clicked on, kept while looking at other charts. Epoch ms. */
  picked?: { from: number; to: number } | null
}

const FONT = 12
/** More labels than this run into each other on a phone. */
const TICKS = 8
/** Of what is not over yet, or little is known of. */
const PALE = 0.45
/** The same left edge for all charts of a page, so that their times stand under each other. */
const GRID = { left: 48, right: 12, top: 20, bottom: 24 }

/** The option of a chart over time. */
export function timeOption(data: TimeChartData & { zone: string }, colors: ChartColors): EChartsCoreOption {
  const { series, from, to, zone, format = compact, alerts = [], deploys = [], picked = null } = data
  const tokens = seriesTokens(series.filter(({ isReference }) => isReference !== true).map(({ key }) => key))
  const axis = { axisLine: { lineStyle: { color: colors.of('--line') } }, axisTick: { show: false } }
  const text = { color: colors.of('--text-muted'), fontSize: FONT, fontFamily: 'Inter Variable' }
  return {
    animation: false,
    grid: GRID,
    xAxis: {
      type: 'time',
      min: from,
      max: to,
      // Room for whole bars at the ends would put this chart's times beside those of the others.
      containShape: false,
      ...axis,
      // ECharts knows the browser's zone and UTC: full hours of the site's own are given to it.
      axisLabel: {
        ...text,
        hideOverlap: true,
        formatter: tickWriter(zone),
        customValues: timeTicks(from, to, zone, TICKS),
      },
      axisPointer: {
        show: true,
        type: 'line',
        // The same time on all charts of a page, whatever buckets each has.
        snap: false,
        lineStyle: { color: colors.of('--text-muted') },
        label: { show: false },
      },
    },
    yAxis: {
      type: 'value',
      ...axis,
      axisLine: { show: false },
      splitNumber: 3,
      axisLabel: { ...text, formatter: format },
      splitLine: { lineStyle: { color: colors.of('--line') } },
    },
    tooltip: {
      trigger: 'axis',
      confine: true,
      padding: 0,
      borderWidth: 0,
      backgroundColor: 'transparent',
      extraCssText: 'box-shadow: none',
      formatter: (points: object | object[]) => tooltip([points].flat(), zone, format),
    },
    series: [
      ...series.flatMap((each) =>
        drawings(data.kind, each, placesOf(each, from, to), colors, each.token ?? tokens.get(each.key)),
      ),
      marksSeries(alerts, deploys, picked, to, colors),
    ],
  }
}

const placesOf = ({ points, areInstants }: TimeSeries, from: number, to: number): PlacedPoint[] =>
  areInstants === true ? points.map(instant) : placed(points, from, to)

/** What a tooltip needs of a point lies beside its value, under `point`. */
const item = (point: PlacedPoint, more: object = {}) => ({ value: [point.at, point.value], point, ...more })

/** A series as ECharts draws it: bars and areas are one, a line has a second stroke where little is known. */
function drawings(
  kind: TimeChartData['kind'],
  series: TimeSeries,
  points: readonly PlacedPoint[],
  colors: ChartColors,
  token = '--series-other',
): object[] {
  const name = series.key
  const line = { name, type: 'line', symbol: 'none', showAllSymbol: true, connectNulls: false }
  if (series.isReference === true) {
    const color = colors.of('--line-strong')
    return [{ ...line, color, lineStyle: { color, width: 1.5, type: 'dashed' }, data: points.map((p) => item(p)) }]
  }
  const color = colors.of(token)
  if (kind === 'bars') {
    const hatched = { itemStyle: { color: hatchOf(colors.of('--surface'), color) } }
    const data = points.map((point) => item(point, point.isPartial ? hatched : {}))
    return [{ name, type: 'bar', stack: 'all', color, barCategoryGap: '12%', barMinHeight: 0, data }]
  }
  if (kind === 'areas') {
    const style = { lineStyle: { width: 1 }, areaStyle: { opacity: 0.7 } }
    return [{ ...line, stack: 'all', color, ...style, data: points.map((point) => item(point)) }]
  }
  const { solid, thin } = strokes(points)
  return [
    { ...line, color, lineStyle: { color, width: 1.5 }, data: lineItems(solid, points) },
    { ...line, color, lineStyle: { color, width: 1.5, type: 'dotted', opacity: PALE }, data: lineItems(thin, points) },
  ]
}

/** A value between two gaps has no line: a dot shows it. */
function lineItems(stroke: readonly (Stroke | null)[], points: readonly PlacedPoint[]): object[] {
  return stroke.map((each, index) => {
    if (each === null) return { value: [points[index]?.at, null] }
    const dot = isAlone(stroke, index) ? { symbol: 'circle', symbolSize: 5 } : {}
    // The point that is joined is told of by the stroke it belongs to.
    return each.joins ? { value: [each.point.at, each.point.value] } : item(each.point, dot)
  })
}

/** A series without points that carries what runs through the whole height. */
function marksSeries(
  alerts: readonly AlertSpan[],
  deploys: readonly DeployMark[],
  picked: TimeChartData['picked'],
  to: number,
  colors: ChartColors,
): object {
  return {
    type: 'line',
    data: [],
    silent: true,
    tooltip: { show: false },
    markArea: areas(alerts, picked ?? null, to, colors),
    markLine: deployLines(deploys, colors),
  }
}
