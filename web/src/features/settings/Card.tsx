import { type ReactNode, useId } from 'react'
import classes from './settings.module.css'

interface Props {
  title: string
  /** What it is, in a sentence. */
  about?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** A part of the settings with its heading. */
export function Card({ title, about, actions, children }: Props) {
  const id = useId()
  return (
    <section className={classes.card} aria-labelledby={id}>
      <header className={classes.cardHead}>
        <div>
          <h2 id={id}>{title}</h2>
          {about !== undefined && <p className={classes.muted}>{about}</p>}
        </div>
        {actions}
      </header>
      {children}
    </section>
  )
}
