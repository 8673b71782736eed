import type { ChartColors } from './colors.ts'
import type { AlertSpan, DeployMark, TimeChartData } from './points.ts'
import { isAlone, type PlacedPoint, type Stretch, type Stroke, strokes, type TimeSeries } from './points.ts'

/** Opacity of what is not over, or is based on few events. */
const PALE = 0.45

/** A data item, with the point for the tooltip under `point`. */
const item = (point: PlacedPoint, more: object = {}) => ({ value: [point.at, point.value], point, ...more })

/** The ECharts series of a series: one for bars; a line has a second, dashed one where few events are known or the bucket is not over. */
export function drawings(
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
    const hatched = { itemStyle: { color: colors.hatch(colors.of('--surface'), color) } }
    const data = points.map((point) => item(point, point.isPartial ? hatched : {}))
    return [{ name, type: 'bar', stack: 'all', color, barCategoryGap: '12%', barMinHeight: 0, data }]
  }
  const { solid, thin } = strokes(points)
  return [
    {
      ...line,
      color,
      lineStyle: { color, width: 1.5 },
      data: lineItems(solid, points),
      ...(series.target !== undefined && { markLine: targetLine(series.target, color) }),
    },
    { ...line, color, lineStyle: { color, width: 1.5, type: 'dotted', opacity: PALE }, data: lineItems(thin, points) },
  ]
}

const targetLine = (value: number, color: string): object => ({
  silent: true,
  symbol: 'none',
  animation: false,
  label: { show: false },
  lineStyle: { color, type: 'dashed', width: 1, opacity: 0.7 },
  data: [{ yAxis: value }],
})

/** The items of a line. A value between two gaps has no line, so it gets a dot. */
function lineItems(stroke: readonly (Stroke | null)[], points: readonly PlacedPoint[]): object[] {
  return stroke.map((each, index) => {
    if (each === null) return { value: [points[index]?.at, null] }
    const dot = isAlone(stroke, index) ? { symbol: 'circle', symbolSize: 5 } : {}
    // A joined point is shown by the stroke that it belongs to.
    return each.joins ? { value: [each.point.at, each.point.value] } : item(each.point, dot)
  })
}

/** The shaded areas: alerts, buckets that are not over, and the picked stretch. */
export function areas(
  alerts: readonly AlertSpan[],
  picked: { from: number; to: number } | null,
  open: readonly Stretch[],
  end: number,
  colors: ChartColors,
): object {
  const ofAlerts = alerts.map(({ from, to, severity }) => [
    { xAxis: from, itemStyle: { color: colors.soft(`--${severity}`, 0.12) } },
    { xAxis: to ?? end },
  ])
  const color = colors.hatch('transparent', colors.of('--line'))
  const ofOpen = open.map(({ from, to }) => [{ xAxis: from, itemStyle: { color } }, { xAxis: to }])
  const accent = colors.of('--accent-text')
  const ofPicked = picked !== null && [
    {
      xAxis: picked.from,
      itemStyle: { color: colors.soft('--accent-text', 0.08), borderColor: accent, borderWidth: 1 },
    },
    { xAxis: picked.to },
  ]
  return { silent: true, data: [...ofAlerts, ...ofOpen, ...(ofPicked === false ? [] : [ofPicked])] }
}

export function deployLines(deploys: readonly DeployMark[], colors: ChartColors): object {
  return {
    silent: true,
    symbol: 'none',
    animation: false,
    lineStyle: { color: colors.of('--accent-text'), type: 'dotted', width: 1.5 },
    data: deploys.map(({ at, label }) => ({
      xAxis: at,
      label: {
        show: label !== undefined,
        formatter: label,
        color: colors.of('--accent-text'),
        fontSize: 12,
        fontFamily: 'Inter Variable',
        position: 'end',
        rotate: 0,
      },
    })),
  }
}
