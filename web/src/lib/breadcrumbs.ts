import { useEffect } from 'react'
import { external } from './external.ts'

export interface Crumb {
  label: string
  /** Path of the page it leads to; none for the page itself. */
  to?: string
}

/** Where the user is: what the top bar and the tab's title say. The last crumb is the page itself. */
export interface Breadcrumbs {
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
