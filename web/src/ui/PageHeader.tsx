import { type ReactNode, useEffect } from 'react'
import { external } from '../lib/external.ts'
import classes from './PageHeader.module.css'

interface Props {
  /** The name of the page: the heading, the last crumb and the tab's title. */
  title: string
  /** The tab's title, if it is not the page's. */
  tab?: string | undefined
  /** The pages above this one. */
  parents?: readonly Crumb[]
  /** A `StatusMark` before the title. */
  mark?: ReactNode
  /** One line of facts below the title. */
  children?: ReactNode
  /** Buttons on the right. */
  actions?: ReactNode
}

/** The header of a page. */
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

interface Crumb {
  label: string
  /** Path of its page; absent for the current one. */
  to?: string
}

/** Where the user is, for the top bar and the tab's title. The last crumb is the page itself. */
interface Breadcrumbs {
  crumbs: readonly Crumb[]
  /** The tab's title, if it is not the last crumb: with many tabs open, "Shop" alone says little. */
  tab?: string
}

const NOWHERE: Breadcrumbs = { crumbs: [] }
const breadcrumbs = external<Breadcrumbs>(NOWHERE)
export const useBreadcrumbs = breadcrumbs.use

/** Sets the breadcrumbs and the tab's title while the page is shown. `PageHeader` does it for most pages. */
export function useSetBreadcrumbs(title: string, parents: readonly Crumb[] = [], tab?: string): void {
  const key = JSON.stringify(parents)
  useEffect(() => {
    const crumbs = [...(JSON.parse(key) as Crumb[]), { label: title }]
    breadcrumbs.set({ crumbs, ...(tab !== undefined && { tab }) })
  }, [title, key, tab])
}
