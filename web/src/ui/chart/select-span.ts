import classes from './chart.module.css'
import type { ECharts } from './echarts.ts'

/** What the user does with a chart's time. Times are epoch ms, and may lie beyond the ends of the axis. */
export interface SpanSelection {
  onSelect: (span: { from: number; to: number }) => void
  onReset: () => void
}

/** Less is a click with an unsteady hand, px. */
const LEAST_DRAG = 6

/**
 * Lets the user drag over a stretch of a chart's time with a mouse or a pen; a finger scrolls the page. Escape drops what is being
 * dragged, a double click resets (on a bar its first click has led elsewhere).
 *
 * @param element that the chart is drawn in
 * @returns ends it
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
        // Not before: what follows would be no click on a point any more.
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
    // Before the page takes Escape for itself.
    { signal, capture: true },
  )
  return () => {
    drop()
    listening.abort()
  }
}
