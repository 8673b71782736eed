import type { ReactNode } from 'react'
import { type Crumb, useSetBreadcrumbs } from '../lib/breadcrumbs.ts'
import classes from './PageHeader.module.css'

interface Props {
  /** The name of the page: the heading, the last crumb and the tab's title. */
  title: string
  /** What the tab says instead of the title. */
  tab?: string | undefined
  /** The pages above this one. */
  parents?: readonly Crumb[]
  /** A `StatusMark` before the title. */
  mark?: ReactNode
  /** One line of facts under the title. */
  children?: ReactNode
  /** Buttons, at the right. */
  actions?: ReactNode
}

/** The head of a page. */
export function PageHeader({ title, tab, parents = [], mark, children, actions }: Props) {
  useSetBreadcrumbs(title, parents, tab)
  return (
    <header className={classes.header}>
      <div className={classes.words}>
        <h1 className={classes.title}>
          {mark}
          {title}
        </h1>
        {children !== undefined && <div className={classes.facts}>{children}</div>}
      </div>
      {actions !== undefined && <div className={classes.actions}>{actions}</div>}
    </header>
  )
}
