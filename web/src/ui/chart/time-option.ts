import type { EChartsCoreOption } from 'echarts/core'
import { compact } from '../../lib/words.ts'
import { seriesTokens } from '../series-color.ts'
import type { ChartColors } from './colors.ts'
import { areas, deployLines, drawings } from './drawings.ts'
import type { AlertSpan, DeployMark, TimeChartData } from './points.ts'
import { partialStretches, pointsOf, type Stretch } from './points.ts'
import { tickWriter, timeTicks, valueTicks } from './ticks.ts'
import { tooltip } from './tooltip.ts'

const FONT = 12
/** Maximum number of labels; more overlap on a phone. */
const TICKS = 8
/** The same edges for all charts of a page, so that their times are aligned. */
const GRID = { left: 48, right: 12, top: 20, bottom: 24 }

/** The option of a chart over time. */
export function timeOption(data: TimeChartData & { zone: string }, colors: ChartColors): EChartsCoreOption {
  const { series, from, to, zone, format = compact, alerts = [], deploys = [], picked = null } = data
  const drawn = series.map((each) => ({ each, points: pointsOf(each, from, to) }))
  // Bars are hatched themselves.
  const open =
    data.kind === 'bars'
      ? []
      : partialStretches(
          drawn.flatMap(({ points }) => points),
          from,
          to,
        )
  const tokens = seriesTokens(
    series.filter(({ isReference, token }) => isReference !== true && token === undefined).map(({ key }) => key),
  )
  const axis = { axisLine: { lineStyle: { color: colors.of('--line') } }, axisTick: { show: false } }
  const text = { color: colors.of('--text-muted'), fontSize: FONT, fontFamily: 'Inter Variable' }
  return {
    animation: false,
    grid: GRID,
    xAxis: {
      type: 'time',
      min: from,
      max: to,
      // Room for whole bars at the ends would shift this chart's times against the others'.
      containShape: false,
      ...axis,
      // ECharts knows only UTC and the browser's zone, so pass it the ticks of the site's zone.
      axisLabel: {
        ...text,
        hideOverlap: true,
        formatter: tickWriter(zone),
        customValues: timeTicks(from, to, zone, TICKS),
      },
      axisPointer: {
        show: true,
        type: 'line',
        // Do not snap to points, so that charts with different buckets show the same time.
        snap: false,
        lineStyle: { color: colors.of('--text-muted') },
        label: { show: false },
      },
    },
    yAxis: {
      type: 'value',
      ...axis,
      axisLine: { show: false },
      ...valueTicks(data),
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
      ...drawn.flatMap(({ each, points }) =>
        drawings(data.kind, each, points, colors, each.token ?? tokens.get(each.key)),
      ),
      marksSeries(alerts, deploys, picked, open, to, colors),
    ],
  }
}

/** A series without points that carries the marks across the whole height. */
function marksSeries(
  alerts: readonly AlertSpan[],
  deploys: readonly DeployMark[],
  picked: TimeChartData['picked'],
  open: readonly Stretch[],
  to: number,
  colors: ChartColors,
): object {
  return {
    type: 'line',
    data: [],
    silent: true,
    tooltip: { show: false },
    markArea: areas(alerts, picked ?? null, open, to, colors),
    markLine: deployLines(deploys, colors),
  }
}
