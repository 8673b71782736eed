import type { QueryClient } from '@tanstack/react-query'
import { overviewQuery } from '../api/overview.ts'

/** With more sites no one sees at a glance what changed over night. */
const FEW_SITES = 5
/** Longer no one looks at an empty page, ms. */
const PATIENCE_MS = 2_000

export type Start = '/overview' | '/today'

/** What `/` leads to. A filter or a search in the address is the overview's, and so it was before there were two pages. */
export const startOf = (sites: number | null, hasSearch: boolean): Start =>
  !hasSearch && sites !== null && sites > FEW_SITES ? '/today' : '/overview'

/**
 * Decides before anything is drawn, so that no page is seen that was not meant. Where the service does not say how many sites there are, or not in
 * time, it is the overview: that says what is wrong. Neither page leads back to `/`.
 */
export async function decideStart(queryClient: QueryClient, search: object): Promise<Start> {
  if (Object.keys(search).length > 0) return startOf(null, true)
  const { promise: tooLate, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), PATIENCE_MS)
  const known = queryClient.ensureQueryData(overviewQuery).then(
    ({ totals }) => totals.sites,
    () => null,
  )
  const sites = await Promise.race([known, tooLate])
  clearTimeout(timer)
  return startOf(sites, false)
}
