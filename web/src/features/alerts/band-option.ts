import type { EChartsCoreOption } from 'echarts/core'
import type { ChartColors } from '../../ui/chart/colors.ts'

export interface Band {
  low: number | null
  high: number | null
  expected: number | null
  /** Where it begins, epoch ms; null: at the left edge. */
  from: number | null
  format: (value: number) => string
}

/** Adds to a chart over time what would have passed, as a green ground with its bound, and what was usual. */
export function withBand(option: EChartsCoreOption, band: Band, to: number, colors: ChartColors): EChartsCoreOption {
  const series = Array.isArray(option.series) ? (option.series as object[]) : []
  return { ...option, series: [bandSeries(band, to, colors), ...series] }
}

/** A series without points that carries the ground and the lines. */
function bandSeries({ low, high, expected, from, format }: Band, to: number, colors: ChartColors): object {
  const has = low !== null || high !== null
  const left = from ?? Number.NEGATIVE_INFINITY
  const bounds = [
    ...(low === null ? [] : [{ yAxis: low, words: `passes from ${format(low)}` }]),
    ...(high === null ? [] : [{ yAxis: high, words: `passes up to ${format(high)}` }]),
  ].map(({ yAxis, words }) => line(yAxis, words, '--ok', '--ok-text', 'solid', colors))
  const usual =
    expected === null
      ? []
      : [line(expected, `usual ${format(expected)}`, '--line-strong', '--text-muted', 'dashed', colors)]
  return {
    type: 'line',
    data: [],
    silent: true,
    tooltip: { show: false },
    markArea: {
      silent: true,
      data: has
        ? [
            [
              { xAxis: left, yAxis: low ?? Number.NEGATIVE_INFINITY, itemStyle: { color: colors.soft('--ok', 0.1) } },
              { xAxis: to, yAxis: high ?? Number.POSITIVE_INFINITY },
            ],
          ]
        : [],
    },
    markLine: { silent: true, symbol: 'none', animation: false, data: [...bounds, ...usual] },
  }
}

const line = (
  yAxis: number,
  words: string,
  color: string,
  text: string,
  type: string,
  colors: ChartColors,
): object => ({
  yAxis,
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
})
