import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type AlertRecord, alertsQuery } from '../../api/alerts.ts'
import { type MarkersAnswer, markersQuery } from '../../api/analytics.ts'
import type { Anchor } from '../../ui/time-range/TimeRangePicker.tsx'
import { ALERTS } from './site-scope.ts'

/** How far back a deploy is one to look from. */
const LOOK_BACK = { hours: 720 }

/** What people look from at a site: what was published last, and the oldest alert that is still open. */
export function useAnchors(siteId: string): Anchor[] {
  const { data: markers } = useQuery(markersQuery(siteId, LOOK_BACK))
  const { data: alerts } = useQuery(alertsQuery({ site_id: siteId, limit: ALERTS }))
  return useMemo(() => anchorsOf(markers ?? [], alerts ?? []), [markers, alerts])
}

export function anchorsOf(markers: MarkersAnswer, alerts: readonly AlertRecord[]): Anchor[] {
  const deploy = markers.at(-1)
  const begun = alerts
    .filter(({ resolved_at }) => resolved_at === null)
    .map(({ started_at }) => Date.parse(started_at))
    .sort((a, b) => a - b)[0]
  return [
    ...(deploy === undefined
      ? []
      : [
          {
            label: `${deploy.source.replace(/ container$/, '')} ${deploy.to_version}`,
            at: Date.parse(deploy.at),
          },
        ]),
    ...(begun === undefined ? [] : [{ label: 'the first open alert', at: begun }]),
  ]
}
