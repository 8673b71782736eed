import type { ChartColors } from './colors.ts'
import type { Stretch } from './points.ts'
import type { AlertSpan, DeployMark } from './time-option.ts'

/** The stretches with an alert, those that are not over, and the one that the user picked. */
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
