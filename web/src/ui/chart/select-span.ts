import { useCallback, useEffect, useMemo, useState } from 'react'
import { isForPage } from '../../lib/keys.ts'
import classes from './chart.module.css'
import type { ECharts } from './echarts.ts'

/** Handlers for selecting a span of a chart. Times are epoch ms and may be beyond the ends of the axis. */
export interface SpanSelection {
  onSelect: (span: { from: number; to: number }) => void
  onReset: () => void
}

/** Minimum distance of a drag, px; less is a click with an unsteady hand. */
const LEAST_DRAG = 6

/**
 * Lets the user select a span of a chart by dragging with a mouse or pen; a finger scrolls the page. Escape cancels a drag, a double click
 * resets (not on a bar, whose first click opens something).
 *
 * @param element that the chart is drawn in
 * @returns a function that removes the listeners
 */
export function selectSpan(chart: ECharts, element: HTMLElement, { onSelect, onReset }: SpanSelection): () => void {
  const listening = new AbortController()
  const { signal } = listening
  let start: number | null = null
  let band: HTMLElement | null = null
  const xOf = ({ clientX }: MouseEvent) => clientX - element.getBoundingClientRect().left
  const timeAt = (x: number) => chart.convertFromPixel({ xAxisIndex: 0 }, x)
  const drop = () => {
    band?.remove()
    ;[start, band] = [null, null]
  }

  element.addEventListener(
    'pointerdown',
    (event) => {
      if (event.button !== 0 || event.pointerType === 'touch') return
      const { x, y } = { x: xOf(event), y: event.clientY - element.getBoundingClientRect().top }
      if (chart.containPixel({ gridIndex: 0 }, [x, y])) start = x
    },
    { signal },
  )
  element.addEventListener(
    'pointermove',
    (event) => {
      if (start === null) return
      const x = xOf(event)
      if (band === null) {
        if (Math.abs(x - start) < LEAST_DRAG) return
        // Capture only now: captured earlier, a click would not reach the point under it.
        element.setPointerCapture(event.pointerId)
        band = document.createElement('div')
        band.className = classes.band ?? ''
        element.append(band)
      }
      band.style.left = `${Math.min(start, x)}px`
      band.style.width = `${Math.abs(x - start)}px`
    },
    { signal },
  )
  element.addEventListener(
    'pointerup',
    (event) => {
      const [begin, isDragged] = [start, band !== null]
      drop()
      if (begin === null || !isDragged) return
      const [from = 0, to = 0] = [timeAt(begin), timeAt(xOf(event))].sort((a, b) => a - b)
      onSelect({ from, to })
    },
    { signal },
  )
  element.addEventListener('pointercancel', drop, { signal })
  element.addEventListener('dblclick', onReset, { signal })
  window.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || band === null) return
      event.preventDefault()
      drop()
    },
    // In the capture phase, before the page handles Escape.
    { signal, capture: true },
  )
  return () => {
    drop()
    listening.abort()
  }
}

/** Epoch ms. */
interface Span {
  from: number
  to: number
}

interface SpanZoom {
  /** The selected span; null for the whole chart. */
  span: Span | null
  selection: SpanSelection
  reset: () => void
}

/** Zooms one chart on a page without a time range: drag to zoom, Escape or a double click to reset. */
export function useSpanZoom(): SpanZoom {
  const [span, setSpan] = useState<Span | null>(null)
  const reset = useCallback(() => setSpan(null), [])
  const isZoomed = span !== null
  useEffect(() => {
    if (!isZoomed) return undefined
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && isForPage(event)) reset()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [isZoomed, reset])
  const selection = useMemo(() => ({ onSelect: setSpan, onReset: reset }), [reset])
  return { span, selection, reset }
}
