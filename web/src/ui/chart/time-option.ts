import type { EChartsCoreOption } from 'echarts/core'
import { compact } from '../../lib/words.ts'
import { seriesTokens } from '../series-color.ts'
import type { ChartColors } from './colors.ts'
import { alertAreas, deployLines } from './marks.ts'
import { type TooltipPoint, tooltip } from './tooltip.ts'

export interface TimeSeries {
  /** The name it has on every chart: its colour comes from it. */
  key: string
  /** ISO times and values; null is a gap. */
  points: readonly { t: string; value: number | null }[]
  /** A token of `tokens.css` instead of the colour of the name. */
  token?: string
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
}

const DAY = 86_400_000
const FONT = 12
/** The same left edge for all charts of a page, so that their times stand under each other. */
const GRID = { left: 48, right: 12, top: 20, bottom: 24 }

/** The option of a chart over time. */
export function timeOption(data: TimeChartData & { zone: string }, colors: ChartColors): EChartsCoreOption {
  const { series, from, to, zone, format = compact, alerts = [], deploys = [] } = data
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
      splitNumber: 6,
      axisLabel: { ...text, hideOverlap: true, formatter: axisWriter(zone, to - from) },
      axisPointer: {
        show: true,
        type: 'line',
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
      formatter: (points: TooltipPoint | TooltipPoint[]) => tooltip([points].flat(), zone, format),
    },
    series: [
      ...series.map((each) => ({
        name: each.key,
        ...drawing(data.kind, each, colors, each.token ?? tokens.get(each.key) ?? '--series-other'),
        data: placed(each),
      })),
      marksSeries(alerts, deploys, to, colors),
    ],
  }
}

/**
 * Points as ECharts takes them. A value is that of a whole bucket, so it stands in the middle of it, in bars and lines alike;
 * the bucket's start comes third, for the tooltip.
 */
function placed({ points }: TimeSeries): (number | null)[][] {
  const [first, second] = points.map(({ t }) => Date.parse(t))
  const half = first === undefined || second === undefined ? 0 : (second - first) / 2
  return points.map(({ t, value }) => [Date.parse(t) + half, value, Date.parse(t)])
}

function drawing(kind: TimeChartData['kind'], series: TimeSeries, colors: ChartColors, token: string): object {
  const line = { type: 'line', showSymbol: false, connectNulls: false }
  if (series.isReference === true) {
    const color = colors.of('--line-strong')
    return { ...line, color, lineStyle: { color, width: 1.5, type: 'dashed' } }
  }
  const color = colors.of(token)
  if (kind === 'bars') return { type: 'bar', stack: 'all', color, barCategoryGap: '12%', barMinHeight: 0 }
  if (kind === 'areas') return { ...line, stack: 'all', color, lineStyle: { width: 1 }, areaStyle: { opacity: 0.7 } }
  return { ...line, color, lineStyle: { width: 1.5 } }
}

/** A series without points that carries what runs through the whole height. */
function marksSeries(
  alerts: readonly AlertSpan[],
  deploys: readonly DeployMark[],
  to: number,
  colors: ChartColors,
): object {
  return {
    type: 'line',
    data: [],
    silent: true,
    tooltip: { show: false },
    markArea: alertAreas(alerts, to, colors),
    markLine: deployLines(deploys, colors),
  }
}

/** Writes the axis' times: clock times within two days, dates beyond. */
function axisWriter(zone: string, length: number): (at: number) => string {
  const options: Intl.DateTimeFormatOptions =
    length <= 2 * DAY ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' }
  const format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone })
  return (at) => format.format(at)
}
