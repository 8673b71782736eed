import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { CanvasProps } from './ChartCanvas.tsx'

const ChartCanvas = lazy(async () => ({ default: (await import('./ChartCanvas.tsx')).ChartCanvas }))

/**
 * Any ECharts chart: loads the library when the first one is drawn, fits its place, follows the colour scheme. For values
 * over time `TimeChart` builds the option.
 */
export function Chart(props: CanvasProps) {
  return (
    <Suspense fallback={<Skeleton height={props.height} radius="md" />}>
      <ChartCanvas {...props} />
    </Suspense>
  )
}
