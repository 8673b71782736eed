import type { TimeRange } from '../../rollups/index.ts'
import type { SiteRow } from '../../store/index.ts'
import { chooseBuckets } from '../buckets.ts'
import { type ReportContext, readSnapshot } from '../snapshot.ts'
import { identityOf } from '../tag-identity.ts'
import { reportWindow } from '../window.ts'
import { eventSeries, qualitySeries, scoreSeries } from './events.ts'
import type { Series } from './plan.ts'
import { type Metric, needsEventTags, requireAnswerable, type TimeseriesQuery } from './plan.ts'
import type { SeriesContext } from './read.ts'
import { consentSeries, identifierSeries, ownFieldSeries, validitySeries } from './signals.ts'
import { executionSeries, latencySeries, responseSeries } from './tags.ts'

/** A metric over time. Times are epoch ms. */
export interface Timeseries extends TimeRange {
  site_id: string
  metric: Metric
  /** Nominal length: a local day has 23 or 25 hours when clocks change. */
  bucket_seconds: number
  series: Series[]
}

const SERIES_OF: Readonly<Record<Metric, (context: SeriesContext) => Promise<Series[]>>> = {
  events: eventSeries,
  executions: executionSeries,
  failures: executionSeries,
  latency: latencySeries,
  user_data: qualitySeries,
  ecommerce: qualitySeries,
  consent: consentSeries,
  identifiers: identifierSeries,
  validity: validitySeries,
  responses: responseSeries,
  fields: ownFieldSeries,
  score: scoreSeries,
}

/**
 * The points of a metric, one per bucket, empty buckets included. The window may cut the first and the last bucket: only what
 * lies in it is counted.
 *
 * @throws AppError `invalid_request` when the window, the bucket, the grouping or a filter cannot be answered
 */
export async function timeseries(context: ReportContext, site: SiteRow, query: TimeseriesQuery): Promise<Timeseries> {
  requireAnswerable(query)
  const window = reportWindow(context, site, query)
  const hoursOnly = needsEventTags(query)
  const range = hoursOnly ? window.hours : window.range
  const buckets = chooseBuckets(query.bucket ?? 'auto', range, { ...window, hoursOnly })
  const series = await readSnapshot(
    context.store,
    site.site_no,
    range,
    async (snapshot) => {
      const identity = await identityOf(snapshot.db, site.site_no)
      return SERIES_OF[query.metric]({ snapshot, identity, window, buckets, query })
    },
    context.limits,
  )
  return {
    site_id: site.id,
    metric: query.metric,
    ...range,
    bucket_seconds: buckets.step.seconds,
    series: query.keys === undefined ? series : series.filter(({ key }) => query.keys?.includes(key)),
  }
}
