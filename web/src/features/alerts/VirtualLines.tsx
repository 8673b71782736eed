import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { AlertRecord } from '../../api/alerts.ts'
import classes from './alerts.module.css'

/** A line of the list: a heading over those of one state, or something that has this key and can be gone to. */
type Line =
  | { key: string; kind: 'heading'; state: AlertRecord['state']; count: number }
  | { key: string; kind: 'alert' | 'incident' }

interface VirtualLinesProps<T extends Line> {
  /** "Alerts" */
  label: string
  rows: readonly T[]
  /** The key that the keyboard is at; the line's link has it as `data-key`. */
  active: string | null
  onActive: (key: string) => void
  /** Draws what is no heading. */
  draw: (row: T) => ReactNode
}

const HEADINGS = { open: 'Open', acknowledged: 'Acknowledged', resolved: 'Resolved' } as const
/** Heights before they were measured, px. */
const ROW = 53
const HEADING = 37

/** A list of alerts or incidents. Only the lines that are seen are drawn. */
export function VirtualLines<T extends Line>({ label, rows, active, onActive, draw }: VirtualLinesProps<T>) {
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY), [])
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (index) => (rows[index]?.kind === 'heading' ? HEADING : ROW),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 10,
    scrollMargin: top,
  })
  const activeIndex = rows.findIndex(({ key }) => key === active)
  useFocus(list, active, () => {
    if (activeIndex >= 0) virtualizer.scrollToIndex(activeIndex)
  })
  return (
    <section className={classes.inbox} aria-label={label}>
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
              onFocus={row.kind === 'heading' ? undefined : () => onActive(row.key)}
            >
              {row.kind === 'heading' ? (
                <h2 className={classes.heading}>
                  {HEADINGS[row.state]} <span>{row.count}</span>
                </h2>
              ) : (
                draw(row)
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** Puts the focus on the title of the active line, which may have to be scrolled to first. */
function useFocus(list: RefObject<HTMLElement | null>, active: string | null, reveal: () => void): void {
  const show = useRef(reveal)
  show.current = reveal
  useEffect(() => {
    if (active === null || list.current === null) return undefined
    const find = () => list.current?.querySelector<HTMLElement>(`[data-key="${active}"]`) ?? null
    const row = find()
    // The checkbox or a button of that line has the focus already.
    if (row !== null && row.closest('li')?.contains(document.activeElement) === true) return undefined
    show.current()
    const frame = requestAnimationFrame(() => find()?.focus({ preventScroll: row !== null }))
    return () => cancelAnimationFrame(frame)
  }, [list, active])
}
