import type { EChartsCoreOption } from 'echarts/core'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { axisUpTo } from '../../ui/chart/ticks.ts'

export interface Band {
  low: number | null
  high: number | null
  expected: number | null
  /** The time for which the band is known, epoch ms; null for the whole chart. */
  during: { from: number; to: number } | null
  format: (value: number) => string
  /** What the figures cannot exceed. */
  most?: number
}

/** Adds the band to a time chart: what would have passed as a green area with its bound, and what was usual. */
export function withBand(option: EChartsCoreOption, band: Band, colors: ChartColors): EChartsCoreOption {
  const series = Array.isArray(option.series) ? (option.series as object[]) : []
  const { most } = band
  const yAxis = {
    ...(option.yAxis as object),
    ...(most !== undefined && axisUpTo(most)),
  }
  return { ...option, yAxis, series: [bandSeries(band, colors), ...series] }
}

/** A series without points that carries the area and the lines. */
function bandSeries(band: Band, colors: ChartColors): object {
  const { low, high, expected, during, format } = band
  const [left, right] = [during?.from ?? Number.NEGATIVE_INFINITY, during?.to ?? Number.POSITIVE_INFINITY]
  const ground = [
    { xAxis: left, yAxis: low ?? Number.NEGATIVE_INFINITY, itemStyle: { color: colors.soft('--ok', 0.1) } },
    { xAxis: right, yAxis: high ?? Number.POSITIVE_INFINITY },
  ]
  const bound = (value: number | null, words: string) =>
    value === null ? [] : [line(value, `${words} ${format(value)}`, '--ok', '--ok-text', 'solid', during, colors)]
  const usual =
    expected === null
      ? []
      : [line(expected, `usual ${format(expected)}`, '--line-strong', '--text-muted', 'dashed', during, colors)]
  return {
    type: 'line',
    data: [],
    silent: true,
    tooltip: { show: false },
    markArea: { silent: true, data: low === null && high === null ? [] : [ground] },
    markLine: {
      silent: true,
      symbol: 'none',
      animation: false,
      data: [...bound(low, 'passes from'), ...bound(high, 'passes up to'), ...usual],
    },
  }
}

function line(
  value: number,
  words: string,
  color: string,
  text: string,
  type: string,
  during: Band['during'],
  colors: ChartColors,
): object {
  const look = {
    lineStyle: { color: colors.of(color), type, width: 1 },
    label: {
      formatter: words,
      color: colors.of(text),
      backgroundColor: colors.of('--surface'),
      padding: [2, 4],
      fontSize: 12,
      fontFamily: 'Inter Variable',
      position: 'insideStartTop',
    },
  }
  return during === null
    ? { yAxis: value, ...look }
    : [{ coord: [during.from, value], ...look }, { coord: [during.to, value] }]
}
