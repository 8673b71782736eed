import { useCallback } from 'react'
import { ownZone } from '../../lib/zone.ts'
import { Chart } from './Chart.tsx'
import type { ChartClick } from './ChartCanvas.tsx'
import type { ChartColors } from './colors.ts'
import { type TimeChartData, timeOption } from './time-option.ts'

interface Props extends TimeChartData {
  /** px */
  height?: number
  label: string
  /** Charts of one group share the crosshair. */
  group?: string
  onClick?: (click: ChartClick) => void
}

/** Values over time, with the alerts and deployments of that time. The axis is that of the site's zone. */
export function TimeChart({ height = 180, label, group, onClick, ...data }: Props) {
  const { series, kind, from, to, zone = ownZone(), format, alerts, deploys, picked } = data
  const option = useCallback(
    (colors: ChartColors) =>
      timeOption(
        {
          series,
          kind,
          from,
          to,
          zone,
          ...(format && { format }),
          ...(alerts && { alerts }),
          ...(deploys && { deploys }),
          ...(picked && { picked }),
        },
        colors,
      ),
    [series, kind, from, to, zone, format, alerts, deploys, picked],
  )
  return (
    <Chart
      option={option}
      height={height}
      label={label}
      {...(group !== undefined && { group })}
      {...(onClick !== undefined && { onClick })}
    />
  )
}
