import { type ReactNode, useEffect } from 'react'
import { external } from '../lib/external.ts'
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

interface Crumb {
  label: string
  /** Path of the page it leads to; none for the page itself. */
  to?: string
}

/** Where the user is: what the top bar and the tab's title say. The last crumb is the page itself. */
interface Breadcrumbs {
  crumbs: readonly Crumb[]
  /** What the tab says instead of the last crumb: with many tabs open, "Shop" alone says little. */
  tab?: string
}

const NOWHERE: Breadcrumbs = { crumbs: [] }
const breadcrumbs = external<Breadcrumbs>(NOWHERE)
export const useBreadcrumbs = breadcrumbs.use

/** Says where the user is while the page is shown. `PageHeader` does it for most pages. */
export function useSetBreadcrumbs(title: string, parents: readonly Crumb[] = [], tab?: string): void {
  const key = JSON.stringify(parents)
  useEffect(() => {
    const crumbs = [...(JSON.parse(key) as Crumb[]), { label: title }]
    breadcrumbs.set({ crumbs, ...(tab !== undefined && { tab }) })
  }, [title, key, tab])
}
