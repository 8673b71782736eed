import type { EChartsCoreOption } from 'echarts/core'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { type TimeChartData, timeOption } from '../../ui/chart/time-option.ts'

/** Lines of shares, each with its target as a dashed line of its own colour. */
export function qualityOption(
  data: TimeChartData & { zone: string },
  targets: Readonly<Record<string, number>>,
  colors: ChartColors,
): EChartsCoreOption {
  const base = timeOption(data, colors)
  const drawn = new Set<string>()
  const series = (base.series as { name?: string; color?: string }[]).map((each) => {
    const target = each.name === undefined ? undefined : targets[each.name]
    // A line has two strokes of one name.
    if (target === undefined || each.name === undefined || drawn.has(each.name)) return each
    drawn.add(each.name)
    return {
      ...each,
      markLine: {
        silent: true,
        symbol: 'none',
        animation: false,
        label: { show: false },
        lineStyle: { color: each.color, type: 'dashed', width: 1, opacity: 0.7 },
        data: [{ yAxis: target }],
      },
    }
  })
  return { ...base, yAxis: { ...(base.yAxis as object), min: 0, max: 1, interval: 0.25 }, series }
}
