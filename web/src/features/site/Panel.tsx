import { type ReactNode, useId } from 'react'
import classes from './Panel.module.css'

export interface PanelProps {
  title: string
  /** What the numbers are: "per 15 min". */
  unit?: string | undefined
  /** At the right of the title. */
  tools?: ReactNode
  /** The list beside the chart: what is what, with the numbers. */
  side?: ReactNode
  /** Under both. */
  foot?: ReactNode
  /** Shown lighter, as what was asked for last is not here yet. */
  isStale?: boolean
  children: ReactNode
}

/** A chart with its title and, beside it, its numbers. All charts of the page begin and end at the same place. */
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
  /** px: the place of the chart that it stands for. */
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
