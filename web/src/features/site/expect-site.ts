import type { QueryClient } from '@tanstack/react-query'
import { type Cut, siteReportQuery, timeseriesQuery } from '../../api/analytics.ts'
import { siteQuery } from '../../api/sites.ts'
import type { UrlSearch } from '../../lib/use-url-state.ts'
import { expectCharts } from '../../ui/chart/load-canvas.ts'
import { queryOf, rangeOf } from '../../ui/time-range/range.ts'

/** What the first chart of the page draws. */
export const FIRST_CUT = { metric: 'events', group_by: 'event_name' } as const satisfies Cut

/** Search parameters with which the page shows something else than all charts. */
const ELSEWHERE = ['tab', 'tag', 'event'] as const

/**
 * Prefetches what a site's page is going to show while its code loads. When each part asked as it was drawn, the first chart came a
 * second later. Failed queries are repeated by the part that shows them.
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
