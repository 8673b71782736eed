import type { ChartColors } from './colors.ts'
import type { AlertSpan, DeployMark } from './time-option.ts'

/** The stretches with an alert, and the one that somebody picked. */
export function areas(
  alerts: readonly AlertSpan[],
  picked: { from: number; to: number } | null,
  end: number,
  colors: ChartColors,
): object {
  const ofAlerts = alerts.map(({ from, to, severity }) => [
    { xAxis: from, itemStyle: { color: colors.soft(`--${severity}`, 0.12) } },
    { xAxis: to ?? end },
  ])
  const accent = colors.of('--accent-text')
  const ofPicked = picked !== null && [
    {
      xAxis: picked.from,
      itemStyle: { color: colors.soft('--accent-text', 0.08), borderColor: accent, borderWidth: 1 },
    },
    { xAxis: picked.to },
  ]
  return { silent: true, data: ofPicked === false ? ofAlerts : [...ofAlerts, ofPicked] }
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
