import type { QueryClient } from '@tanstack/react-query'
import { overviewQuery } from '../api/overview.ts'

/** With more sites, the overview does not show at a glance what changed overnight. */
const FEW_SITES = 5
/** Maximum time for the decision, during which the page is empty, ms. */
const PATIENCE_MS = 2_000

export type Start = '/overview' | '/today'

/** Where `/` redirects. Search parameters belong to the overview, which was the only start page before. */
export const startOf = (sites: number | null, hasSearch: boolean): Start =>
  !hasSearch && sites !== null && sites > FEW_SITES ? '/today' : '/overview'

/**
 * Decides before anything is drawn, so that the wrong page never flashes up. When the number of sites is not known in time, it is the
 * overview, which says what is wrong. Neither page links back to `/`.
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
