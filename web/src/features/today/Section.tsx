import { type ReactNode, useId } from 'react'
import classes from './today.module.css'

interface SectionProps {
  title: string
  /** Beside the title: what the lines are of. */
  about?: ReactNode
  children: ReactNode
}

export function Section({ title, about, children }: SectionProps) {
  const id = useId()
  return (
    <section className={classes.section} aria-labelledby={id}>
      <header className={classes.head}>
        <h2 id={id}>{title}</h2>
        {about !== undefined && <span className={classes.about}>{about}</span>}
      </header>
      {children}
    </section>
  )
}

/** Says that there is nothing, and of what. */
export const Nothing = ({ children }: { children: ReactNode }) => <p className={classes.nothing}>{children}</p>
