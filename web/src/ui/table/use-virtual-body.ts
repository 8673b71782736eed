import { useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useRef } from 'react'

/** Which rows are drawn, and the height of those before and after that are not, px. */
export interface Window {
  first: number
  last: number
  before: number
  after: number
}

/** A row's height before it was measured, px. */
const ROW = 36
const HEAD = 36

export function useVirtualBody(
  count: number,
  isVirtual: boolean,
): {
  scrollRef: RefObject<HTMLElement | null>
  window: Window
  measure: (element: HTMLTableRowElement | null) => void
} {
  const scrollRef = useRef<HTMLElement>(null)
  const virtualizer = useVirtualizer<HTMLElement, HTMLTableRowElement>({
    count,
    enabled: isVirtual,
    getScrollElement: () => scrollRef.current,
    estimateSize: () => ROW,
    overscan: 12,
    // The head stays over the first rows.
    scrollPaddingStart: HEAD,
  })
  const items = virtualizer.getVirtualItems()
  const [top, bottom] = [items[0], items.at(-1)]
  const whole = { first: 0, last: count, before: 0, after: 0 }
  const seen =
    top === undefined || bottom === undefined
      ? { first: 0, last: 0, before: 0, after: virtualizer.getTotalSize() }
      : {
          first: top.index,
          last: bottom.index + 1,
          before: top.start,
          after: virtualizer.getTotalSize() - bottom.end,
        }
  return { scrollRef, window: isVirtual ? seen : whole, measure: virtualizer.measureElement }
}
