import type { QueryClient } from '@tanstack/react-query'
import { type Cut, siteReportQuery, timeseriesQuery } from '../../api/analytics.ts'
import { siteQuery } from '../../api/sites.ts'
import type { UrlSearch } from '../../lib/use-url-state.ts'
import { expectCharts } from '../../ui/chart/load-canvas.ts'
import { queryOf, rangeOf } from '../../ui/time-range/range.ts'

/** What the first chart of the page draws. */
export const FIRST_CUT = { metric: 'events', group_by: 'event_name' } as const satisfies Cut

/** What of the address says that something else than all charts is shown. */
const ELSEWHERE = ['tab', 'tag', 'event'] as const

/**
 * Asks for what the page of a site is going to show while its code comes: one after the other, as its parts are drawn, the first chart came
 * a second later. What fails is asked for again by the part that shows it.
 */
export function expectSite(client: QueryClient, siteId: string, search: UrlSearch): void {
  const window = queryOf(rangeOf({ range: search.range, from: search.from, to: search.to }))
  expectCharts()
  void client.prefetchQuery(siteQuery(siteId))
  void client.prefetchQuery(siteReportQuery(siteId, window, search.compare === 'previous'))
  if (ELSEWHERE.every((name) => search[name] === undefined)) {
    void client.prefetchQuery(timeseriesQuery(siteId, window, FIRST_CUT))
  }
}
