import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type SiteReport, siteReportQuery } from '../../api/analytics.ts'
import { ApiError, type Query } from '../../api/client.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { type Comparison, weekBefore } from './comparison.ts'

/** A window's report, with that of what it is compared with as `previous`. */
export function useSiteReport(site: SiteRecord, query: Query, comparison: Comparison | null) {
  const { data, error, refetch } = useQuery(siteReportQuery(site.id, query, comparison === 'previous'))
  const isWeek = comparison === 'week' && data !== undefined
  const window = isWeek ? weekBefore(data, site.timezone) : {}
  const week = useQuery({
    ...siteReportQuery(site.id, window, false),
    enabled: isWeek,
    // Another one each minute, as the window moves: meanwhile that of the minute before stays.
    placeholderData: keepPreviousData,
  })
  const report = useMemo((): SiteReport | undefined => {
    if (!isWeek) return data
    if (week.data !== undefined) return { ...data, previous: week.data }
    const fault = week.error instanceof ApiError ? week.error.fault('/from') : undefined
    return fault === undefined ? data : { ...data, compareFault: fault }
  }, [data, isWeek, week.data, week.error])
  return { report, error, refetch }
}
