import type { ECElementEvent, EChartsCoreOption } from 'echarts/core'
import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import classes from './chart.module.css'
import { type ChartColors, useChartColors } from './colors.ts'
import { type ECharts, init } from './echarts.ts'
import { type SpanSelection, selectSpan } from './select-span.ts'

const waiting = new Set<() => void>()

/**
 * Runs slow actions, such as the first drawing of a chart, one per frame and in order. The eight charts of a site, drawn at once, delayed
 * a click by 150 ms.
 *
 * @returns a function that cancels it
 */
export function inTurn(act: () => void): () => void {
  // Run after the next paint, so that the click that caused it is answered first.
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
  // Flush React's updates, too, so that a visible chart can be used.
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

/** A clicked point: its series and its index. */
export interface ChartClick {
  series: string
  index: number
}

export interface CanvasProps {
  /** Builds the option from the scheme's colours. Keep it stable (`useCallback`), because a new one redraws. */
  option: (colors: ChartColors) => EChartsCoreOption
  /** px, also while the chart loads. */
  height: number
  /** A sentence with its most important number, for screen readers. */
  label: string
  /** Charts of one group share the crosshair. */
  group?: string
  onClick?: (click: ChartClick) => void
  /** Handles dragging over a span, for charts with a time axis. Keep it stable. */
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
      // For programs that read the page, because the canvas has no text.
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

/** Makes an empty chart that fills its element, also when printing. */
function makeChart(place: HTMLElement): { chart: ECharts; dispose: () => void } {
  const chart = init(place)
  // The observer also reports the initial size; ignore it, or the chart would be drawn twice.
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

/** ECharts' event when the crosshair moves, with the value of each axis. */
interface PointerMove {
  axesInfo?: readonly { axisDim: string; value: number }[]
}

/**
 * Moves the crosshairs of a group together, by time. ECharts' own `connect` passes on the index of the point, and the same index can be
 * another hour in another chart.
 *
 * @param onTime receives the position of this chart's crosshair: epoch ms, or null when there is none
 * @returns a function that removes the chart from the group
 */
function shareCrosshair(chart: ECharts, group: string, onTime: (at: number | null) => void): () => void {
  const members = groups.get(group) ?? new Set()
  groups.set(group, members.add(chart))
  // Whether another chart moves this crosshair: do not pass that on again.
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
 * Calls only the latest given action, after the next paint. Moving the crosshairs of seven other charts at once delayed the one under the
 * pointer by 40 ms.
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

/** Runs an action on a chart without passing it on to the group. */
const followers = new Map<ECharts, (act: () => void) => void>()

function pointerAction(chart: ECharts, at: number | null) {
  if (at === null) return { type: 'updateAxisPointer', currTrigger: 'leave' }
  return {
    type: 'updateAxisPointer',
    currTrigger: 'mousemove',
    x: chart.convertToPixel({ xAxisIndex: 0 }, at),
    // Any height within the chart; only the time matters.
    y: chart.getHeight() / 2,
    axesInfo: [{ axisDim: 'x', axisIndex: 0, value: at }],
  }
}
