import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { alertsQuery } from '../../api/alerts.ts'
import { type MarkersAnswer, markersQuery, type SiteReport } from '../../api/analytics.ts'
import type { Query } from '../../api/client.ts'
import type { SiteRecord } from '../../api/site.ts'
import { alertSpans, deployMarks } from './marks.ts'
import type { SiteScope } from './site-scope.ts'
import type { SiteView } from './use-site-view.ts'

/** As many alerts are looked through for those that lie in the window. */
const ALERTS = 200

const NONE: readonly never[] = []
const NO_MARKERS: MarkersAnswer = []

export function useSiteScope(site: SiteRecord, report: SiteReport, query: Query, view: SiteView): SiteScope {
  const { data: alerts = NONE } = useQuery(alertsQuery({ site_id: site.id, limit: ALERTS }))
  const { data: markers = NO_MARKERS } = useQuery(markersQuery(site.id, query))
  return useMemo(() => {
    const [from, to] = [Date.parse(report.from), Date.parse(report.to)]
    const deploys = deployMarks(markers, to - from)
    const { previous } = report
    return {
      site,
      view,
      report,
      query,
      before:
        previous === undefined
          ? null
          : { query: { from: previous.from, to: previous.to }, shift: from - Date.parse(previous.from) },
      deploys,
      frame: {
        from,
        to,
        zone: site.timezone,
        group: `site ${site.id}`,
        alerts: alertSpans(alerts, from, to),
        deploys: deploys.map(({ at }) => ({ at })),
        picked: view.picked,
      },
    }
  }, [site, report, query, view, alerts, markers])
}
