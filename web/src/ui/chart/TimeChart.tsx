import { Skeleton } from '@mantine/core'
import { Component, lazy, type ReactNode, Suspense, useCallback, useState } from 'react'
import { ownZone } from '../../lib/zone.ts'
import { InlineError } from '../States.tsx'
import type { CanvasProps, ChartClick } from './ChartCanvas.tsx'
import type { ChartColors } from './colors.ts'
import { loadCanvas } from './load-canvas.ts'
import type { SpanSelection } from './select-span.ts'
import type { TimeChartData } from './time-chart-data.ts'
import { timeOption } from './time-option.ts'

interface Props extends TimeChartData {
  /** px */
  height?: number
  label: string
  /** Charts of one group share the crosshair. */
  group?: string
  onClick?: (click: ChartClick) => void
  selection?: SpanSelection
}

/** Values over time, with the alerts and deployments of that time. The axis is that of the site's zone. */
export function TimeChart({ height = 180, label, group, onClick, selection, ...data }: Props) {
  const { series, kind, from, to, zone = ownZone(), scale, format, alerts, deploys, picked } = data
  const option = useCallback(
    (colors: ChartColors) =>
      timeOption(
        {
          series,
          kind,
          from,
          to,
          zone,
          ...(scale && { scale }),
          ...(format && { format }),
          ...(alerts && { alerts }),
          ...(deploys && { deploys }),
          ...(picked && { picked }),
        },
        colors,
      ),
    [series, kind, from, to, zone, scale, format, alerts, deploys, picked],
  )
  return (
    <Chart
      option={option}
      height={height}
      label={label}
      {...(group !== undefined && { group })}
      {...(onClick !== undefined && { onClick })}
      {...(selection !== undefined && { selection })}
    />
  )
}

/** A new one for each try: React keeps the failure of a lazy component permanently. */
const lazyCanvas = () => lazy(async () => ({ default: (await loadCanvas()).ChartCanvas }))

let Canvas = lazyCanvas()

/**
 * Any ECharts chart: loads the library when the first one is drawn, fits its place, follows the colour scheme. For values
 * over time `TimeChart` builds the option.
 */
export function Chart(props: CanvasProps) {
  const [tries, setTries] = useState(0)
  const retry = useCallback(() => {
    Canvas = lazyCanvas()
    setTries((before) => before + 1)
  }, [])
  return (
    <Boundary key={tries} height={props.height} onRetry={retry}>
      <Suspense fallback={<Skeleton height={props.height} radius="md" />}>
        <Canvas {...props} />
      </Suspense>
    </Boundary>
  )
}

interface BoundaryProps {
  height: number
  onRetry: () => void
  children: ReactNode
}

/** Keeps a chart whose code does not load from taking the page with it. */
class Boundary extends Component<BoundaryProps, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { height, onRetry, children } = this.props
    const { error } = this.state
    return error === null ? children : <InlineError error={error} onRetry={onRetry} height={height} />
  }
}
