import { notFound } from '../lib/index.ts'
import { GRAIN, TAG_COLUMNS, type TimeRange } from '../rollups/index.ts'
import type { OutcomeCounts, SiteRow } from '../store/index.ts'
import { identityOf } from './site-facts.ts'
import { type ReportContext, readSnapshot } from './snapshot.ts'
import { byCountThenKey, isOneOf, sumBy, sumRollups, totals } from './sums.ts'
import { meantTag, rawKeysMeant } from './tag-identity.ts'
import { type EventTagReport, eventTags, type TagReport, tagReport } from './tag-report.ts'
import { type RangeQuery, reportWindow } from './window.ts'

export interface TagDetail extends TagReport, TimeRange {
  site_id: string
  /** How the tag ended on each event; per-event payloads only. */
  events: ({ event_name: string; executions: number } & OutcomeCounts)[]
  /** The whole UTC hours that `events` is about, as which event a tag ran on is kept per hour. */
  events_window: TimeRange
}

/**
 * One tag over a window.
 *
 * @param key the tag's key, an older name of it, or `tag_<id>`
 * @throws AppError `not_found` when the tag did not run in the window, `invalid_request` for a window that cannot be
 * answered.
 */
export async function tag(context: ReportContext, site: SiteRow, key: string, query: RangeQuery): Promise<TagDetail> {
  const window = reportWindow(context, site, query)
  return readSnapshot(
    context.store,
    site.site_no,
    window.hours,
    async (snapshot) => {
      const identity = await identityOf(snapshot.db, site.site_no)
      const rawKeys = rawKeysMeant(identity, key)
      const rows = await sumRollups(snapshot.db, {
        table: 'tag_rollups',
        siteNo: site.site_no,
        budget: snapshot.budget,
        segments: snapshot.segments(window.range, window.rows(GRAIN.day)),
        by: ['container_id', 'tag_key'],
        measures: totals(TAG_COLUMNS),
        where: isOneOf('tag_key', rawKeys),
      })
      const tags = sumBy(rows, TAG_COLUMNS, (row) => identity.keyOf(row.container_id, row.tag_key))
      const meant = meantTag(identity, key, (candidate) => tags.has(candidate))
      const counts = tags.get(meant)
      if (counts === undefined) throw notFound('tag')
      const events = await eventTags(snapshot, window, identity, rawKeys)
      return {
        site_id: site.id,
        ...window.range,
        ...tagReport(meant, counts, identity),
        events: events
          .filter((event) => event.tag_key === meant)
          .map(onEvent)
          .sort(
            byCountThenKey(
              (event) => event.executions,
              (event) => event.event_name,
            ),
          ),
        events_window: window.hours,
      }
    },
    context.limits,
  )
}

function onEvent(report: EventTagReport): TagDetail['events'][number] {
  const { event_name, executions, success, failure, timeout, exception } = report
  return { event_name, executions, success, failure, timeout, exception }
}
