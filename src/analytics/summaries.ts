import { DAY, floorTo, MINUTE } from '../lib/index.ts'
import type { TimeRange } from '../rollups/index.ts'
import type { Kysely, SiteRow, Store, Tables } from '../store/index.ts'
import { type ScoreCap, type ScoreCounts, score, type TagCount } from './score.ts'
import {
  SCORE_EVENT_COLUMNS,
  SCORE_EVENT_MEASURES,
  SCORE_TAG_COLUMNS,
  SCORE_TAG_MEASURES,
  scoreCounts,
} from './score-counts.ts'
import { type CriticalAlert, criticalAlerts } from './site-facts.ts'
import { sumBy } from './sums.ts'
import { sumsBySite } from './sums-by-site.ts'

/** What an overview of many sites says of each: its last 24 hours. */
export interface SiteSummary {
  events_24h: number
  /** 0–100, null with too little data. */
  score: number | null
  score_cap: ScoreCap | null
}

/** What a site's tags did in that time, beside its summary. */
export interface SiteFigures extends SiteSummary {
  tags: readonly TagFigures[]
}

export type TagFigures = TagCount

/** Sites per snapshot: a reader is busy with one for long enough as it is. */
export const SITES_PER_QUERY = 250

/** The 24 hours up to the end of the minute that holds `now`. */
export function summaryRange(now: number): TimeRange {
  const to = floorTo(now, MINUTE) + MINUTE
  return { from: to - DAY, to }
}

/** The last 24 hours of many sites, with the figures of each tag, by `site_no`: what `overview` says of each. */
export async function siteFigures(
  store: Store,
  sites: readonly Pick<SiteRow, 'site_no' | 'id'>[],
  now: number,
): Promise<Map<number, SiteFigures>> {
  const range = summaryRange(now)
  const figures = new Map<number, SiteFigures>()
  for (let start = 0; start < sites.length; start += SITES_PER_QUERY) {
    const part = sites.slice(start, start + SITES_PER_QUERY)
    const siteNos = part.map((site) => site.site_no)
    const { counts, alerts } = await store.reports.transaction().execute(async (db) => ({
      counts: await summaryCounts(db, siteNos, range),
      alerts: await criticalAlerts(
        db,
        part.map((site) => site.id),
      ),
    }))
    for (const { site_no, id } of part) {
      const ofSite = counts.get(site_no) ?? NO_COUNTS
      figures.set(site_no, { ...summaryOf(ofSite.counts, alerts.get(id)), tags: ofSite.tags })
    }
  }
  return figures
}

/** @param alert a critical one of the site that is open */
export function summaryOf(counts: ScoreCounts, alert: CriticalAlert | undefined): SiteSummary {
  const { overall, cap } = score(counts, alert)
  return { events_24h: counts.events, score: overall, score_cap: cap }
}

interface SummaryCounts {
  counts: ScoreCounts
  tags: readonly TagFigures[]
}

const NO_COUNTS: SummaryCounts = { counts: scoreCounts(new Map(), []), tags: [] }

/** What summaries are computed from, of each of the sites. */
export async function summaryCounts(
  db: Kysely<Tables>,
  siteNos: readonly number[],
  range: TimeRange,
): Promise<Map<number, SummaryCounts>> {
  if (siteNos.length === 0) return new Map()
  const eventRows = await sumsBySite(db, 'event_rollups', siteNos, range, SCORE_EVENT_MEASURES, 'event_name')
  const tagRows = await sumsBySite(db, 'tag_rollups', siteNos, range, SCORE_TAG_MEASURES, 'tag_key')
  const events = Map.groupBy(eventRows, (row) => row.site_no)
  const tags = Map.groupBy(tagRows, (row) => row.site_no)
  return new Map(
    siteNos.map((siteNo) => {
      const ofEvents = sumBy(events.get(siteNo) ?? [], SCORE_EVENT_COLUMNS, (row) => row.key)
      // Joined by name only: what a tag was called before it was named or renamed today counts beside it.
      const ofTags = sumBy(tags.get(siteNo) ?? [], SCORE_TAG_COLUMNS, (row) => row.key)
      return [
        siteNo,
        {
          counts: scoreCounts(ofEvents, ofTags),
          tags: Array.from(ofTags, ([tag_key, { executions, success }]) => ({ tag_key, executions, success })),
        },
      ]
    }),
  )
}
