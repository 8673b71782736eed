import { Button, Skeleton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { CircleCheck, SearchX } from 'lucide-react'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Directory } from '../../lib/use-directory.ts'
import { type Mute, muteOf, type Scope } from '../../ui/mute/mutes.ts'
import { EmptyState } from '../../ui/States.tsx'
import { AlertRow, type RowActions } from './AlertRow.tsx'
import classes from './alerts.module.css'
import type { Filter, InboxRow } from './inbox.ts'

interface Props extends RowActions {
  rows: readonly InboxRow[]
  directory: Directory
  mutes: readonly (Mute & Scope)[]
  selected: ReadonlySet<string>
  /** The alert that the keyboard is at. */
  active: string | null
  onActive: (id: string) => void
}

const HEADINGS = { open: 'Open', acknowledged: 'Acknowledged', resolved: 'Resolved' } as const
/** Heights before they were measured, px. */
const ROW = 53
const HEADING = 37

/** The list of alerts. Only the lines that are seen are drawn. */
export function InboxList({ rows, directory, mutes, selected, active, onActive, ...actions }: Props) {
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
    <section className={classes.inbox} aria-label="Alerts">
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
              onFocus={row.kind === 'alert' ? () => onActive(row.key) : undefined}
            >
              {row.kind === 'heading' ? (
                <h2 className={classes.heading}>
                  {HEADINGS[row.state]} <span>{row.count}</span>
                </h2>
              ) : (
                <AlertRow
                  alert={row.alert}
                  site={directory.sites[row.alert.site_id]}
                  mute={muteOf(mutes, row.alert)}
                  isSelected={selected.has(row.key)}
                  {...actions}
                />
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** Puts the focus on the title of the active alert, which may have to be scrolled to first. */
function useFocus(list: RefObject<HTMLElement | null>, active: string | null, reveal: () => void): void {
  const show = useRef(reveal)
  show.current = reveal
  useEffect(() => {
    if (active === null || list.current === null) return undefined
    const find = () => list.current?.querySelector<HTMLElement>(`[data-alert="${active}"]`) ?? null
    const row = find()
    // The checkbox or a button of that line has the focus already.
    if (row !== null && row.closest('li')?.contains(document.activeElement) === true) return undefined
    show.current()
    const frame = requestAnimationFrame(() => find()?.focus({ preventScroll: row !== null }))
    return () => cancelAnimationFrame(frame)
  }, [list, active])
}

const TITLES: Readonly<Record<Filter, string>> = {
  all: 'Nothing has gone wrong yet',
  open: 'No alert is open',
  acknowledged: 'No alert is acknowledged',
  resolved: 'No alert is resolved yet',
}

const TEXTS: Readonly<Record<Filter, string>> = {
  all: 'A probe whose result is a warning or critical opens an alert here; it resolves automatically when the probe is ok again. Without probes there are no alerts.',
  open: 'Nothing needs attention. New alerts appear here automatically.',
  acknowledged: 'Acknowledging an alert says that someone is working on it and stops reminders.',
  resolved: 'Resolved alerts stay here with their full history.',
}

export function NoAlerts({ filter, onShowAll }: { filter: Filter; onShowAll: () => void }) {
  return (
    <EmptyState
      icon={CircleCheck}
      title={TITLES[filter]}
      action={
        filter === 'all' ? (
          <Button component={Link} to="/" variant="default">
            Go to the overview
          </Button>
        ) : (
          <Button variant="default" onClick={onShowAll}>
            Show all alerts
          </Button>
        )
      }
    >
      {TEXTS[filter]}
    </EmptyState>
  )
}

export function NothingMatches({ onShowAll }: { onShowAll: () => void }) {
  return (
    <EmptyState
      icon={SearchX}
      title="No alert matches"
      action={
        <Button variant="default" onClick={onShowAll}>
          Show all alerts
        </Button>
      }
    >
      Search alerts by text, severity, client or site.
    </EmptyState>
  )
}

const LINES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Has the size of what follows, so that nothing jumps. */
export function InboxSkeleton() {
  return (
    <section className={classes.inbox} aria-busy="true" aria-label="Alerts">
      <span className="sr-only" role="status">
        Loading the alerts
      </span>
      {LINES.map((line) => (
        <div key={line} className={classes.skeletonRow}>
          <Skeleton height={12} width={12} circle />
          <Skeleton height={14} width="55%" />
          <Skeleton height={14} width="15%" />
        </div>
      ))}
    </section>
  )
}
