import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import classes from './EmptyState.module.css'

interface Props {
  icon: LucideIcon
  title: string
  /** What would be here, and why nothing is. */
  children: ReactNode
  /** The one button that fills it. */
  action?: ReactNode
}

/** Stands where a list or a chart has nothing to show, and teaches. */
export function EmptyState({ icon: Icon, title, children, action }: Props) {
  return (
    <section className={classes.box}>
      <Icon size={28} strokeWidth={1.5} aria-hidden />
      <h2>{title}</h2>
      <div className={classes.text}>{children}</div>
      {action}
    </section>
  )
}
