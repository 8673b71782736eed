import { type ReactNode, useId } from 'react'
import classes from './Panel.module.css'

export interface PanelProps {
  title: string
  /** The unit of the numbers: "per 15 min". */
  unit?: string | undefined
  /** Shown to the right of the title. */
  tools?: ReactNode
  /** The list beside the chart: the names with their numbers. */
  side?: ReactNode
  /** Shown below both. */
  foot?: ReactNode
  /** Whether it is dimmed, because newer data is still loading. */
  isStale?: boolean
  children: ReactNode
}

/** A chart with its title and its numbers beside it. All charts of the page have the same left and right edge. */
export function Panel({ title, unit, tools, side, foot, isStale = false, children }: PanelProps) {
  const id = useId()
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <header className={classes.head}>
        <h2 id={id}>{title}</h2>
        {unit !== undefined && <span className={classes.unit}>{unit}</span>}
        {tools !== undefined && <div className={classes.tools}>{tools}</div>}
      </header>
      <div className={classes.body} data-stale={isStale || undefined} data-side={side !== undefined || undefined}>
        <div className={classes.chart}>{children}</div>
        {side !== undefined && <div className={classes.side}>{side}</div>}
      </div>
      {foot !== undefined && <div className={classes.foot}>{foot}</div>}
    </section>
  )
}

interface NoteProps {
  /** Height of the chart that it replaces, px. */
  height: number
  children: string
}

/** Says why a chart has nothing to draw, in its place. */
export function Note({ height, children }: NoteProps) {
  return (
    <p className={classes.note} style={{ minHeight: height }}>
      {children}
    </p>
  )
}
