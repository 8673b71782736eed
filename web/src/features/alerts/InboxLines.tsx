import type { ReactNode } from 'react'
import type { AlertRecord } from '../../api/alerts.ts'
import { WindowList } from '../../ui/WindowList.tsx'
import classes from './alerts.module.css'

/** A line of the list: the heading of a state, or an alert or incident that the keyboard can reach by its key. */
type Line =
  | { key: string; kind: 'heading'; state: AlertRecord['state']; count: number }
  | { key: string; kind: 'alert' | 'incident' }

interface InboxLinesProps<T extends Line> {
  /** "Alerts" */
  label: string
  rows: readonly T[]
  /** The key of the line with the keyboard's focus. */
  active: string | null
  onActive: (key: string) => void
  /** Draws a line that is not a heading. */
  draw: (row: T) => ReactNode
}

const HEADINGS = { open: 'Open', acknowledged: 'Acknowledged', resolved: 'Resolved' } as const
/** Estimated heights until they are measured, px. */
const ROW = 53
const HEADING = 37

/** A list of alerts or incidents. */
export function InboxLines<T extends Line>({ onActive, draw, ...list }: InboxLinesProps<T>) {
  return (
    <WindowList
      {...list}
      height={({ kind }) => (kind === 'heading' ? HEADING : ROW)}
      onActive={({ kind, key }) => kind !== 'heading' && onActive(key)}
      draw={(row) =>
        row.kind === 'heading' ? (
          <h2 className={classes.heading}>
            {HEADINGS[row.state]} <span>{row.count}</span>
          </h2>
        ) : (
          draw(row)
        )
      }
    />
  )
}
