import type { ECElementEvent, EChartsCoreOption } from 'echarts/core'
import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import classes from './chart.module.css'
import { type ChartColors, useChartColors } from './colors.ts'
import { type ECharts, init } from './echarts.ts'
import { type SpanSelection, selectSpan } from './select-span.ts'

const waiting = new Set<() => void>()

/**
 * Does something that takes a while, such as the first drawing of a chart, in a frame of its own, in the order asked for. The eight charts
 * of a site, drawn in one go, kept a click waiting for 150 ms.
 *
 * @returns calls it off
 */
export function inTurn(act: () => void): () => void {
  // After the paint that comes next: the click that asked for it is answered then, and the chart follows.
  if (waiting.size === 0) requestAnimationFrame(() => setTimeout(next))
  waiting.add(act)
  return () => {
    waiting.delete(act)
  }
}

function next(): void {
  const [act] = waiting
  if (act === undefined) return
  waiting.delete(act)
  if (waiting.size > 0) requestAnimationFrame(next)
  // With what React makes of it: a chart that is there can be used.
  flushSync(act)
}

// What is printed is what is drawn when the event ends.
window.addEventListener('beforeprint', () => {
  const acts = [...waiting]
  waiting.clear()
  flushSync(() => {
    for (const act of acts) act()
  })
})

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
  /** What dragging over a stretch of time does; for charts with one axis of time. Keep it stable. */
  selection?: SpanSelection
}

export function ChartCanvas({ option, height, label, group, onClick, selection }: CanvasProps) {
  const canvas = useRef<HTMLDivElement>(null)
  const [chart, setChart] = useState<ECharts | null>(null)
  const colors = useChartColors()

  useEffect(() => {
    const place = canvas.current
    if (place === null) return undefined
    let remove: (() => void) | undefined
    const callOff = inTurn(() => {
      const { chart: made, dispose } = makeChart(place)
      remove = dispose
      setChart(made)
    })
    return () => {
      callOff()
      remove?.()
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

  useEffect(() => {
    if (chart === null || canvas.current === null || selection === undefined) return undefined
    return selectSpan(chart, canvas.current, selection)
  }, [chart, selection])

  return <div ref={canvas} className={classes.canvas} role="img" aria-label={label} style={{ height }} />
}

/** An empty chart that fills its place, on paper as well. */
function makeChart(place: HTMLElement): { chart: ECharts; dispose: () => void } {
  const chart = init(place)
  // It reports the size at first, too: what has just been drawn would be drawn again.
  const resizes = new ResizeObserver(() => {
    if (chart.getWidth() !== place.clientWidth || chart.getHeight() !== place.clientHeight) chart.resize()
  })
  resizes.observe(place)
  // What is printed is what is drawn when the event ends.
  const redraw = () => {
    chart.resize()
    chart.getZr().flush()
  }
  window.addEventListener('beforeprint', redraw)
  window.addEventListener('afterprint', redraw)
  const dispose = () => {
    window.removeEventListener('beforeprint', redraw)
    window.removeEventListener('afterprint', redraw)
    resizes.disconnect()
    chart.dispose()
  }
  return { chart, dispose }
}

/** The charts of a page that share a crosshair, by the name of their group. */
const groups = new Map<string, Set<ECharts>>()

/** What ECharts says when the crosshair moves: the value of each axis. */
interface PointerMove {
  axesInfo?: readonly { axisDim: string; value: number }[]
}

/**
 * Moves the crosshairs of a group together, by time. ECharts' own `connect` passes on the number of the point, and the fifth
 * column of one chart is another hour than the fifth of the next.
 *
 * @param onTime gets where the crosshair of this chart stands: epoch ms, or null when there is none
 * @returns takes the chart out of the group
 */
function shareCrosshair(chart: ECharts, group: string, onTime: (at: number | null) => void): () => void {
  const members = groups.get(group) ?? new Set()
  groups.set(group, members.add(chart))
  // A crosshair that another chart has moved is not passed on again.
  let isFollowing = false
  const { call: afterPaint, cancel } = latestAfterPaint()
  const others = (act: (other: ECharts) => void) => {
    for (const other of members) if (other !== chart) act(other)
  }
  const onMove = (event: unknown) => {
    const at = (event as PointerMove).axesInfo?.find(({ axisDim }) => axisDim === 'x')?.value ?? null
    onTime(at)
    if (!isFollowing) afterPaint(() => others((other) => follow(other, at)))
  }
  const follow = (other: ECharts, at: number | null) => {
    followers.get(other)?.(() => other.dispatchAction(pointerAction(other, at)))
  }
  followers.set(chart, (act) => {
    isFollowing = true
    try {
      act()
    } finally {
      isFollowing = false
    }
  })
  chart.on('updateAxisPointer', onMove)
  return () => {
    cancel()
    members.delete(chart)
    if (members.size === 0) groups.delete(group)
    followers.delete(chart)
    if (!chart.isDisposed()) chart.off('updateAxisPointer', onMove)
  }
}

/**
 * Calls the latest of what it is given once the page has been painted: seven other charts that move their crosshairs kept the one under the
 * pointer waiting for 40 ms.
 */
function latestAfterPaint(): { call: (act: () => void) => void; cancel: () => void } {
  let latest: (() => void) | undefined
  const run = () => {
    const act = latest
    latest = undefined
    act?.()
  }
  return {
    call: (act) => {
      if (latest === undefined) requestAnimationFrame(() => setTimeout(run))
      latest = act
    },
    cancel: () => {
      latest = undefined
    },
  }
}

/** Runs an action on a chart whose outcome it keeps to itself. */
const followers = new Map<ECharts, (act: () => void) => void>()

function pointerAction(chart: ECharts, at: number | null) {
  if (at === null) return { type: 'updateAxisPointer', currTrigger: 'leave' }
  return {
    type: 'updateAxisPointer',
    currTrigger: 'mousemove',
    x: chart.convertToPixel({ xAxisIndex: 0 }, at),
    // Anywhere within the chart: only the time counts.
    y: chart.getHeight() / 2,
    axesInfo: [{ axisDim: 'x', axisIndex: 0, value: at }],
  }
}
