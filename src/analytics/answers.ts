import { isoTime, isoTimeOrNull } from '../lib/index.ts'
import type { TimeRange } from '../rollups/index.ts'
import type { Marker } from './markers.ts'
import type { Matrix } from './matrix.ts'
import type { Overview, WindowReport } from './overview.ts'
import type { TimeseriesParams } from './query-schemas.ts'
import type { RangeQuery } from './range.ts'
import type { Recent } from './recent.ts'
import type { TagDetail } from './tag.ts'
import type { Timeseries, TimeseriesQuery } from './timeseries/index.ts'

interface RangeParams {
  from?: string | undefined
  to?: string | undefined
  hours?: number | undefined
}

/** A window as callers write it, in epoch ms. */
export function rangeQuery({ from, to, hours }: RangeParams): RangeQuery {
  return {
    ...(from === undefined ? {} : { from: Date.parse(from) }),
    ...(to === undefined ? {} : { to: Date.parse(to) }),
    ...(hours === undefined ? {} : { hours }),
  }
}

export function timeseriesQuery({ from, to, hours, ...rest }: TimeseriesParams): TimeseriesQuery {
  return { ...rest, ...rangeQuery({ from, to, hours }) }
}

const isoRange = ({ from, to }: TimeRange) => ({ from: isoTime(from), to: isoTime(to) })

export function overviewAnswer({ previous, ...report }: Overview) {
  const answer = { site_id: report.site_id, ...reportAnswer(report) }
  return previous === undefined ? answer : { ...answer, previous: reportAnswer(previous) }
}

const reportAnswer = (report: WindowReport) => ({
  ...report,
  ...isoRange(report),
  score: {
    ...report.score,
    recent: report.score.recent === null ? null : { ...report.score.recent, ...isoRange(report.score.recent) },
  },
  containers: report.containers.map((container) => ({ ...container, last_seen: isoTime(container.last_seen) })),
  last_seen: isoTimeOrNull(report.last_seen),
})

export const timeseriesAnswer = (report: Timeseries) => ({
  ...report,
  ...isoRange(report),
  series: report.series.map(({ key, points }) => ({
    key,
    points: points.map((point) => ({ ...point, t: isoTime(point.t) })),
  })),
})

export const tagAnswer = (report: TagDetail) => ({
  ...report,
  ...isoRange(report),
  events_window: isoRange(report.events_window),
})

export const matrixAnswer = (report: Matrix) => ({ ...report, ...isoRange(report) })

export const recentAnswer = ({ accepted, rejections }: Recent) => ({
  accepted: accepted.map(({ accepted_at, payload }) => ({ ...payload, accepted_at: isoTime(accepted_at) })),
  rejections: rejections.map((rejection) => ({ ...rejection, at: isoTime(rejection.at) })),
})

export const markersAnswer = (found: readonly Marker[]) =>
  found.map((marker) => ({ ...marker, at: isoTime(marker.at) }))
