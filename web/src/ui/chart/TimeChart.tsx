import { Skeleton } from '@mantine/core'
import { Component, lazy, type ReactNode, Suspense, useCallback } from 'react'
import { ownZone } from '../../lib/zone.ts'
import { InlineError } from '../States.tsx'
import type { CanvasProps, ChartClick } from './ChartCanvas.tsx'
import type { ChartColors } from './colors.ts'
import { loadCanvas } from './load-canvas.ts'
import type { TimeChartData } from './points.ts'
import type { SpanSelection } from './select-span.ts'
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

/** Values over time, with alerts and deploys. The axis shows times of the site's zone. */
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

const Canvas = lazy(async () => ({ default: (await loadCanvas()).ChartCanvas }))

/**
 * Any ECharts chart: loads the library with the first one, fills its element and follows the colour scheme. For values over time,
 * `TimeChart` builds the option.
 */
export function Chart(props: CanvasProps) {
  return (
    <Boundary height={props.height}>
      <Suspense fallback={<Skeleton height={props.height} radius="md" />}>
        <Canvas {...props} />
      </Suspense>
    </Boundary>
  )
}

interface BoundaryProps {
  height: number
  children: ReactNode
}

/** Keeps a chart whose code cannot be loaded from failing the page. */
class Boundary extends Component<BoundaryProps, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { height, children } = this.props
    const { error } = this.state
    if (error === null) return children
    // Browsers do not request a failed module again, so reload the page.
    return <InlineError error={error} onRetry={() => window.location.reload()} height={height} />
  }
}
