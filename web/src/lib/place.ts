import { useEffect } from 'react'
import { external } from './external.ts'

export interface Crumb {
  label: string
  /** Path of the page it leads to; none for the page itself. */
  to?: string
}

/** Where the user is: what the top bar and the tab's title say. The last crumb is the page itself. */
export interface Place {
  crumbs: readonly Crumb[]
}

const NOWHERE: Place = { crumbs: [] }
const place = external<Place>(NOWHERE)
export const usePlaceNow = place.use

/** Says where the user is while the page is shown. `PageHeader` does it for most pages. */
export function usePlace(title: string, parents: readonly Crumb[] = []): void {
  const key = JSON.stringify(parents)
  useEffect(() => {
    place.set({ crumbs: [...(JSON.parse(key) as Crumb[]), { label: title }] })
  }, [title, key])
}
