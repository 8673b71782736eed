import type { ChartColors } from './colors.ts'
import type { AlertSpan, DeployMark } from './time-option.ts'

export function alertAreas(alerts: readonly AlertSpan[], end: number, colors: ChartColors): object {
  return {
    silent: true,
    data: alerts.map(({ from, to, severity }) => [
      { xAxis: from, itemStyle: { color: colors.soft(`--${severity}`, 0.12) } },
      { xAxis: to ?? end },
    ]),
  }
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
