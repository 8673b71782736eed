import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import classes from './WindowList.module.css'

interface WindowListProps<T> {
  /** "Alerts" */
  label: string
  rows: readonly T[]
  /** Estimated height of a line until it is measured, px. */
  height: (row: T) => number
  draw: (row: T) => ReactNode
  /** Shown above the lines. */
  legend?: ReactNode
  /** The key of the line with the keyboard's focus; the line's link has it as `data-key`. */
  active?: string | null
  /** Called when a line gets the focus. */
  onActive?: (row: T) => void
}

/** A list that scrolls with the window. Only visible lines are rendered, so a thousand scroll like ten. */
export function WindowList<T extends { key: string }>(props: WindowListProps<T>) {
  const { label, rows, height, draw, legend, active = null, onActive } = props
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY), [])
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (index) => (rows[index] === undefined ? 0 : height(rows[index])),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 10,
    scrollMargin: top,
  })
  const activeIndex = rows.findIndex(({ key }) => key === active)
  useFocus(list, active, () => {
    if (activeIndex >= 0) virtualizer.scrollToIndex(activeIndex)
  })
  return (
    <section className={classes.list} aria-label={label}>
      {legend}
      <ul ref={list} className={classes.lines} style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index]
          return row === undefined ? null : (
            <li
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              className={classes.line}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start - top}px)` }}
              onFocus={() => onActive?.(row)}
            >
              {draw(row)}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** Focuses the title of the active line, scrolling to it if needed. */
function useFocus(list: RefObject<HTMLElement | null>, active: string | null, reveal: () => void): void {
  const show = useRef(reveal)
  show.current = reveal
  useEffect(() => {
    if (active === null || list.current === null) return undefined
    const find = () => list.current?.querySelector<HTMLElement>(`[data-key="${active}"]`) ?? null
    const row = find()
    // A checkbox or button of that line has the focus already.
    if (row !== null && row.closest('li')?.contains(document.activeElement) === true) return undefined
    show.current()
    const frame = requestAnimationFrame(() => find()?.focus({ preventScroll: row !== null }))
    return () => cancelAnimationFrame(frame)
  }, [list, active])
}
