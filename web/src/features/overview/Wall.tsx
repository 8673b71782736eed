import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'
import { ClientLine } from './ClientLine.tsx'
import { FoldLine } from './FoldLine.tsx'
import classes from './overview.module.css'
import { SiteLine } from './SiteLine.tsx'
import type { WallRow } from './wall.ts'

interface Props {
  rows: readonly WallRow[]
  isUnfolded: boolean
  onFold: () => void
}

/** A line's height before it was measured, px. */
const LINE = 37

/** The list of clients and sites. Only the lines that are seen are drawn, so a thousand sites scroll as ten do. */
export function Wall({ rows, isUnfolded, onFold }: Props) {
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY), [])
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => LINE,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 10,
    scrollMargin: top,
  })
  return (
    <section className={classes.wall} aria-label="Sites by client">
      <Legend />
      <ul ref={list} className={classes.lines} style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index]
          return row === undefined ? null : (
            <li
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              data-first={index === 0 || undefined}
              className={classes.line}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start - top}px)` }}
            >
              <Line row={row} isUnfolded={isUnfolded} onFold={onFold} />
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function Line({ row, isUnfolded, onFold }: { row: WallRow; isUnfolded: boolean; onFold: () => void }) {
  switch (row.kind) {
    case 'client':
      return <ClientLine client={row.client} siteCount={row.siteCount} />
    case 'site':
      return <SiteLine site={row.site} headline={row.headline} />
    case 'fold':
      return (
        <FoldLine clientCount={row.clientCount} siteCount={row.siteCount} isUnfolded={isUnfolded} onToggle={onFold} />
      )
  }
}

/** What the figures are. Each line's figures say it themselves to a screen reader. */
function Legend() {
  return (
    <div className={classes.legend} aria-hidden="true">
      <span />
      <span>Site</span>
      <span>State</span>
      <span>Last 24 h</span>
      <span>Events</span>
      <span>Score</span>
      <span>Last event</span>
    </div>
  )
}
