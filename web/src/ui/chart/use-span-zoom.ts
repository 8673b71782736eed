import { useCallback, useEffect, useMemo, useState } from 'react'
import { isForPage } from '../../lib/keys.ts'
import type { SpanSelection } from './select-span.ts'

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
