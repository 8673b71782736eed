import { type ReactNode, useId } from 'react'
import classes from './detail.module.css'

interface Props {
  title: string
  /** A few words beside the title. */
  note?: string
  /** On a phone it stands after the others. */
  isLater?: boolean
  children: ReactNode
}

/** A part of the page with its heading. */
export function Panel({ title, note, isLater = false, children }: Props) {
  const id = useId()
  return (
    <section className={isLater ? `${classes.panel} ${classes.later}` : classes.panel} aria-labelledby={id}>
      <header className={classes.panelHead}>
        <h2 id={id}>{title}</h2>
        {note !== undefined && <span className={classes.note}>{note}</span>}
      </header>
      {children}
    </section>
  )
}
