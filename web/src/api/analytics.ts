import { type QueryKey, queryOptions } from '@tanstack/react-query'
import type {
  DiagnosticsAnswer,
  FieldsAnswer,
  MarkersAnswer,
  MatrixAnswer,
  OverviewAnswer,
  RecentAnswer,
  TagAnswer,
  TimeseriesAnswer,
  TimeseriesQuery,
} from '../../../src/analytics/index.ts'
import { keepSame } from '../lib/keep-same.ts'
import { ApiError, type Query, request, withQuery } from './client.ts'

export type {
  DiagnosticsAnswer,
  FieldsAnswer,
  MarkersAnswer,
  MatrixAnswer,
  RecentAnswer,
  TagAnswer,
  TimeseriesAnswer,
} from '../../../src/analytics/index.ts'

/** What a site sent in a window. `compareFault` says why the previous window cannot be compared. */
export type SiteReport = OverviewAnswer & { compareFault?: string }
export type WindowReport = Omit<OverviewAnswer, 'site_id' | 'previous'>
export type TagReport = OverviewAnswer['tags'][number]
export type Score = OverviewAnswer['score']

/** A metric and how it is grouped, without the window. */
export type Cut = Pick<TimeseriesQuery, 'metric' | 'group_by' | 'event_name' | 'tag_key' | 'bucket' | 'keys'>

/** Interval at which reports of a window without an end are refreshed, ms. */
const REFRESH_MS = 60_000

const pathOf = (siteId: string) => `/api/monitoring/sites/${siteId}`

/** Prefix of the keys of all reports of one site. */
export const reportsKey = (siteId: string) => ['reports', siteId] as const

const report = <T>(siteId: string, name: string, window: Query, ask: (signal: AbortSignal) => Promise<T>) =>
  queryOptions({
    queryKey: [...reportsKey(siteId), name, window] as readonly unknown[],
    queryFn: ({ signal }) => ask(signal),
    // A window with an end no longer changes.
    refetchInterval: 'to' in window ? false : REFRESH_MS,
    placeholderData: keepSame((key) => key[1] === siteId),
  })

/** @param window of the time range; `compare` adds the window of equal length just before */
export function siteReportQuery(siteId: string, window: Query, compare: boolean) {
  const path = `${pathOf(siteId)}/overview`
  return report<SiteReport>(
    siteId,
    'overview',
    { ...window, ...(compare && { compare: 'previous' }) },
    async (signal) => {
      const plain = () => request<OverviewAnswer>(path, { query: window, signal })
      if (!compare) return plain()
      try {
        return await request<OverviewAnswer>(path, { query: { ...window, compare: 'previous' }, signal })
      } catch (thrown) {
        // The counts of the previous window are deleted: show this window alone.
        const fault = thrown instanceof ApiError ? thrown.fault('/compare') : undefined
        if (fault === undefined) throw thrown
        return { ...(await plain()), compareFault: fault }
      }
    },
  )
}

/** Points of a metric. Where minutes are no longer kept, minute buckets are replaced by the finest there are. */
export function timeseriesQuery(siteId: string, window: Query, cut: Cut) {
  const path = `${pathOf(siteId)}/timeseries`
  const asked = report<TimeseriesAnswer>(siteId, 'timeseries', { ...window, ...cut }, async (signal) => {
    try {
      return await request<TimeseriesAnswer>(path, { query: { ...window, ...cut }, signal })
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.fault('/bucket') === undefined) throw thrown
      return request<TimeseriesAnswer>(path, { query: { ...window, ...cut, bucket: 'auto' }, signal })
    }
  })
  // The points of another tag or event would be under the name of this one until its own are loaded.
  const isOfSame = (key: QueryKey) => {
    const { tag_key, event_name } = key[3] as Cut
    return key[1] === siteId && tag_key === cut.tag_key && event_name === cut.event_name
  }
  return { ...asked, placeholderData: keepSame(isOfSame) }
}

/** The report of one tag; null when it did not run in the window. */
export const tagQuery = (siteId: string, window: Query, key: string) =>
  report<TagAnswer | null>(siteId, `tag ${key}`, window, (signal) =>
    request<TagAnswer>(`${pathOf(siteId)}/tags/${encodeURIComponent(key)}`, { query: window, signal }).catch(
      (thrown: unknown) => {
        if (thrown instanceof ApiError && thrown.code === 'not_found') return null
        throw thrown
      },
    ),
  )

export const matrixQuery = (siteId: string, window: Query) =>
  report<MatrixAnswer>(siteId, 'matrix', window, (signal) =>
    request(`${pathOf(siteId)}/matrix`, { query: window, signal }),
  )

/** How often the site's own parameters were present, by event. */
export const ownFieldsQuery = (siteId: string, window: Query) =>
  report<FieldsAnswer>(siteId, 'fields', window, (signal) =>
    request(`${pathOf(siteId)}/fields`, { query: window, signal }),
  )

export const markersQuery = (siteId: string, window: Query) =>
  report<MarkersAnswer>(siteId, 'markers', window, (signal) =>
    request(`${pathOf(siteId)}/markers`, { query: window, signal }),
  )

/** The latest payloads and refusals, independent of the window. */
export const recentQuery = (siteId: string) =>
  report<RecentAnswer>(siteId, 'recent', {}, (signal) => request(`${pathOf(siteId)}/recent`, { signal }))

/** What may keep events from arriving, besides refusals of the site's own requests. */
export const diagnosticsQuery = (siteId: string) =>
  report<DiagnosticsAnswer>(siteId, 'diagnostics', {}, (signal) => request(`${pathOf(siteId)}/diagnostics`, { signal }))

/** The address of a metric's points as CSV. */
export const exportUrl = (siteId: string, window: Query, cut: Cut): string =>
  withQuery(`${pathOf(siteId)}/export.csv`, { ...window, ...cut })
