import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type SiteReport, siteReportQuery, tagQuery } from '../../api/analytics.ts'
import { ApiError, type Query } from '../../api/client.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { type Comparison, isAbout, NO_WINDOW, useSite, weekBefore } from './site-scope.ts'

/** The report of a window, with that of the compared window as `previous`. */
export function useSiteReport(site: SiteRecord, query: Query, comparison: Comparison | null) {
  const { data, error, refetch } = useQuery(siteReportQuery(site.id, query, comparison === 'previous'))
  const isWeek = comparison === 'week' && data !== undefined
  const window = isWeek ? weekBefore(data, site.timezone) : null
  const week = useQuery({
    ...siteReportQuery(site.id, { ...window }, false),
    enabled: isWeek,
    // The window, and with it the key, changes every minute: keep the previous report meanwhile.
    placeholderData: (kept) => (kept !== undefined && window !== null && isAbout(kept, window) ? kept : undefined),
  })
  const report = useMemo((): SiteReport | undefined => {
    if (!isWeek) return data
    if (week.data !== undefined) return { ...data, previous: week.data }
    const fault = week.error instanceof ApiError ? week.error.fault('/from') : undefined
    return fault === undefined ? data : { ...data, compareFault: fault }
  }, [data, isWeek, week.data, week.error])
  return { report, error, refetch }
}

/** A tag's report in the page's window, and as `was` in the compared window: undefined without one, null when the tag did not run. */
export function useTagReport(name: string) {
  const { site, query, before } = useSite()
  const answer = useQuery(tagQuery(site.id, query, name))
  const earlier = useQuery({ ...tagQuery(site.id, before?.query ?? NO_WINDOW, name), enabled: before !== null })
  return { answer, was: before === null ? undefined : earlier.data }
}
