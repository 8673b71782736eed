import type { TimeRange } from '../rollups/index.ts'
import type { SiteRow } from '../store/index.ts'
import { type ReportContext, readSnapshot } from './snapshot.ts'
import { byCountThenKey } from './sums.ts'
import { identityOf } from './tag-identity.ts'
import { bad, type EventTagReport, eventTags } from './tag-report.ts'
import { type RangeQuery, reportWindow } from './window.ts'

/**
 * Which tag ran on which event, and how often it failed there. Covers whole UTC hours, and whole local days where hours are no
 * longer kept.
 */
export interface Matrix extends TimeRange {
  site_id: string
  /** Event names, those with the most executions first; tag keys likewise. */
  events: string[]
  tags: string[]
  cells: { event_name: string; tag_key: string; executions: number; bad: number }[]
}

/** @throws AppError `invalid_request` for a window that cannot be answered */
export async function matrix(context: ReportContext, site: SiteRow, query: RangeQuery): Promise<Matrix> {
  const window = reportWindow(context, site, query)
  const reports = await readSnapshot(
    context.store,
    site.site_no,
    window.hours,
    async (snapshot) => eventTags(snapshot, window, await identityOf(snapshot.db, site.site_no)),
    context.limits,
  )
  const events = byExecutions(reports, (report) => report.event_name)
  const tags = byExecutions(reports, (report) => report.tag_key)
  const places = new Map(events.map((name, place) => [name, place]))
  const rank = new Map(tags.map((key, place) => [key, place]))
  const place = (cell: Matrix['cells'][number]) =>
    (places.get(cell.event_name) ?? 0) * tags.length + (rank.get(cell.tag_key) ?? 0)
  return {
    site_id: site.id,
    ...window.hours,
    events,
    tags,
    cells: reports
      .map((report) => ({
        event_name: report.event_name,
        tag_key: report.tag_key,
        executions: report.executions,
        bad: bad(report),
      }))
      .sort((a, b) => place(a) - place(b)),
  }
}

function byExecutions(reports: readonly EventTagReport[], keyOf: (report: EventTagReport) => string): string[] {
  const executions = new Map<string, number>()
  for (const report of reports) {
    executions.set(keyOf(report), (executions.get(keyOf(report)) ?? 0) + report.executions)
  }
  return [...executions]
    .sort(
      byCountThenKey(
        ([, count]) => count,
        ([key]) => key,
      ),
    )
    .map(([key]) => key)
}
