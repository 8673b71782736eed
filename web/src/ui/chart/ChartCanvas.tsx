import type { ECElementEvent, EChartsCoreOption } from 'echarts/core'
import { useEffect, useRef, useState } from 'react'
import classes from './chart.module.css'
import { type ChartColors, useChartColors } from './colors.ts'
import { shareCrosshair } from './crosshair.ts'
import { type ECharts, init } from './echarts.ts'

/** What was clicked: a series, and the index of its point. */
export interface ChartClick {
  series: string
  index: number
}

export interface CanvasProps {
  /** Built from the colours of the scheme; keep it stable (`useCallback`), a new one draws again. */
  option: (colors: ChartColors) => EChartsCoreOption
  /** px; the place is kept while the chart loads. */
  height: number
  /** What it shows, in a sentence with its most important number, for those who cannot see it. */
  label: string
  /** Charts of one group share the crosshair. */
  group?: string
  onClick?: (click: ChartClick) => void
}

export function ChartCanvas({ option, height, label, group, onClick }: CanvasProps) {
  const canvas = useRef<HTMLDivElement>(null)
  const [chart, setChart] = useState<ECharts | null>(null)
  const colors = useChartColors()

  useEffect(() => {
    if (canvas.current === null) return undefined
    const made = init(canvas.current)
    const resizes = new ResizeObserver(() => made.resize())
    resizes.observe(canvas.current)
    // What is printed is what is drawn when the event ends.
    const redraw = () => {
      made.resize()
      made.getZr().flush()
    }
    window.addEventListener('beforeprint', redraw)
    window.addEventListener('afterprint', redraw)
    setChart(made)
    return () => {
      window.removeEventListener('beforeprint', redraw)
      window.removeEventListener('afterprint', redraw)
      resizes.disconnect()
      made.dispose()
    }
  }, [])

  useEffect(() => {
    if (chart === null || group === undefined) return undefined
    return shareCrosshair(chart, group, (at) => {
      if (canvas.current === null) return
      // For programs that read the page: the canvas has no text.
      if (at === null) delete canvas.current.dataset.crosshair
      else canvas.current.dataset.crosshair = new Date(at).toISOString()
    })
  }, [chart, group])

  useEffect(() => chart?.setOption(option(colors), { notMerge: true }), [chart, option, colors])

  useEffect(() => {
    if (chart === null || onClick === undefined) return undefined
    const listener = ({ seriesName = '', dataIndex }: ECElementEvent) =>
      onClick({ series: seriesName, index: dataIndex })
    chart.on('click', listener)
    return () => {
      chart.off('click', listener)
    }
  }, [chart, onClick])

  return <div ref={canvas} className={classes.canvas} role="img" aria-label={label} style={{ height }} />
}
